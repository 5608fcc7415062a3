#include "hyperatom/base/simd.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "hyperatom/base/simd_float.hpp"

namespace hyperatom {
namespace {

/// Numbers between two doubles of one sign.
std::int64_t ulps(double a, double b) {
  std::int64_t x, y;
  std::memcpy(&x, &a, sizeof x);
  std::memcpy(&y, &b, sizeof y);
  return x < y ? y - x : x - y;
}

double exp_of(double x) { return simd::exp_of_nonpositive(simd::broadcast(x))[0]; }

TEST(SimdExp, WithinTwoUlpOfTheStandardLibrary) {
  constexpr int n = 1 << 20;
  std::int64_t worst = 0;
  // From -708 to 0 evenly, and towards 0 by powers of two, where exp(x) is next to 1.
  for (int i = 0; i < n; i += 4) {
    simd::Pack x = {};
    for (int k = 0; k < 4; ++k) x[k] = -708.0 * (n - i - k) / n;
    const simd::Pack values = simd::exp_of_nonpositive(x);
    for (int k = 0; k < 4; ++k) worst = std::max(worst, ulps(values[k], std::exp(x[k])));
  }
  EXPECT_LE(worst, 2);
  for (int e = 0; e < 60; ++e)
    for (const double m : {1.0, 1.3, 1.7}) {
      const double x = -m * std::ldexp(1.0, -e);
      EXPECT_LE(ulps(exp_of(x), std::exp(x)), 2) << x;
    }
}

TEST(SimdExp, EndsOfTheRange) {
  EXPECT_EQ(exp_of(0), 1);
  EXPECT_EQ(exp_of(-0.0), 1);
  EXPECT_EQ(exp_of(-1000), 0);
  EXPECT_EQ(exp_of(std::nextafter(-708, -1000)), 0);
  EXPECT_EQ(exp_of(-std::numeric_limits<double>::infinity()), 0);
  EXPECT_EQ(exp_of(-std::numeric_limits<double>::max()), 0);
  EXPECT_LE(ulps(exp_of(-708), std::exp(-708)), 2);
}

TEST(SimdExp, IsMonotoneEnoughToStayInRange) {
  for (int i = 0; i < 100000; ++i) {
    const double y = exp_of(-i * 0.007);
    EXPECT_LE(y, 1);
    EXPECT_GT(y, 0);
  }
}

TEST(SimdExp, NotANumberStaysOne) {
  EXPECT_TRUE(std::isnan(exp_of(std::numeric_limits<double>::quiet_NaN())));
}

/// A value does not depend on its place, nor on its neighbours.
TEST(SimdExp, LanesAreIndependent) {
  for (int place = 0; place < simd::width; ++place) {
    simd::Pack x = {0, -3.5, -1000, std::numeric_limits<double>::quiet_NaN()};
    x[place] = -0.73;
    EXPECT_EQ(simd::exp_of_nonpositive(x)[place], exp_of(-0.73));
  }
}

/// The largest of 96 floats, of either sign, is found in its place, with all but 1e-5 of its size.
TEST(Simd, TheLargestSaysWhereItIs) {
  for (Index place = 0; place < 96; ++place) {
    std::vector<float> values(96, -0.7F);
    for (size_t i = 0; i < 96; i += 2) values[i] = 0.6F;
    values[static_cast<size_t>(place)] = place % 3 == 0 ? 0.71F : -0.71F;
    simd::FloatPack largest = {};
    for (int p = 0; p < 12; ++p)
      largest = simd::larger(
          simd::with_places(simd::load(&values[static_cast<size_t>(8 * p)]), 8 * p), largest);
    const float most = simd::largest(largest)[0];
    EXPECT_EQ(simd::place_of(most), place);
    EXPECT_NEAR(most, 0.71F, 1.6e-5F * 0.71F);
  }
}

/// Likewise of 128 doubles, with all but 3e-14.
TEST(Simd, TheLargestDoubleSaysWhereItIs) {
  for (Index place = 0; place < simd::places; ++place) {
    std::vector<double> values(simd::places, -0.7);
    for (size_t i = 0; i < values.size(); i += 2) values[i] = 0.7 - 1e-12;
    values[static_cast<size_t>(place)] = place % 3 == 0 ? 0.7 + 1e-12 : -0.7 - 1e-12;
    simd::Pack largest = {};
    for (Index i = 0; i < simd::places; i += simd::width)
      largest =
          simd::larger(simd::with_places(simd::load(&values[static_cast<size_t>(i)]), i), largest);
    const double most = simd::largest(largest);
    EXPECT_EQ(simd::place_of(most), place);
    EXPECT_NEAR(most, 0.7 + 1e-12, 3e-14 * 0.7);
  }
}

TEST(Simd, PartsReadAndWriteNothingBeyond) {
  for (Index n = 0; n < simd::width; ++n) {
    std::vector<double> exactly(static_cast<size_t>(n), 7.0);  // AddressSanitizer watches its ends
    const simd::Pack part = simd::load_part(exactly.data(), n);
    for (Index i = 0; i < simd::width; ++i) EXPECT_EQ(part[i], i < n ? 7 : 0);
    double target[4] = {1, 2, 3, 4};
    simd::store_part(target, part, n);
    for (Index i = 0; i < 4; ++i) EXPECT_EQ(target[i], i < n ? 7 : static_cast<double>(i + 1));
  }
}

TEST(Simd, BitsTellLanesApart) {
  for (unsigned set = 0; set < 16; ++set) {
    simd::IntPack lanes = {};
    for (unsigned i = 0; i < 4; ++i) lanes[i] = (set >> i & 1) != 0 ? -1 : 0;
    EXPECT_EQ(simd::bits(lanes), set);
    EXPECT_EQ(simd::any(lanes), set != 0);
  }
}

TEST(Simd, SumAndRounding) {
  EXPECT_EQ(simd::sum(simd::Pack{1, 2, 4, 8}), 15);
  EXPECT_EQ(simd::round_up(0), 0);
  EXPECT_EQ(simd::round_up(1), 4);
  EXPECT_EQ(simd::round_up(4), 4);
  EXPECT_EQ(simd::round_up(5), 8);
}

}  // namespace
}  // namespace hyperatom
