#include "hyperatom/scene/normalizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/random.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom::test {
namespace {

MatrixF random_pixels(Index bands, Index n, std::uint64_t seed = 1) {
  RandomStream random(seed, Purpose::scene);
  MatrixF pixels(bands, n);
  for (Index j = 0; j < n; ++j)
    for (Index b = 0; b < bands; ++b)
      pixels(b, j) = static_cast<float>(1000 * random.uniform() + 10 * static_cast<double>(b));
  return pixels;
}

TEST(Normalizer, NoneKeepsThePixels) {
  const MatrixF pixels = random_pixels(7, 5);
  EXPECT_EQ(Normalizer::fit("none", pixels).apply(pixels), pixels.cast<double>());
}

TEST(Normalizer, UnitGivesLengthOne) {
  MatrixF pixels = random_pixels(7, 5);
  pixels.col(2).setZero();
  const Matrix result = Normalizer::fit("unit", pixels).apply(pixels);
  for (Index j = 0; j < 5; ++j) {
    if (j == 2) continue;
    EXPECT_NEAR(result.col(j).norm(), 1, 1e-15);
    const Vector x = pixels.col(j).cast<double>();
    EXPECT_LT((result.col(j) - x / x.norm()).norm(), 1e-15);
  }
  EXPECT_EQ(result.col(2), Vector::Zero(7));
}

TEST(Normalizer, StandardGivesMeanZeroAndDeviationOne) {
  const MatrixF pixels = random_pixels(5, 200);
  const Normalizer normalizer = Normalizer::fit("standard", pixels);
  const Matrix result = normalizer.apply(pixels);
  for (Index b = 0; b < 5; ++b) {
    EXPECT_NEAR(result.row(b).mean(), 0, 1e-13);
    EXPECT_NEAR(result.row(b).squaredNorm() / 200, 1, 1e-13);
    EXPECT_NEAR(normalizer.offset[b], pixels.row(b).cast<double>().mean(), 1e-10);
  }
}

TEST(Normalizer, MinmaxGivesTheRangeFromZeroToOne) {
  const MatrixF pixels = random_pixels(5, 200);
  const Matrix result = Normalizer::fit("minmax", pixels).apply(pixels);
  for (Index b = 0; b < 5; ++b) {
    EXPECT_EQ(result.row(b).minCoeff(), 0);
    EXPECT_NEAR(result.row(b).maxCoeff(), 1, 1e-15);
  }
}

TEST(Normalizer, StandardUnitIsTheOneAfterTheOther) {
  const MatrixF pixels = random_pixels(5, 20);
  const Matrix standard = Normalizer::fit("standard", pixels).apply(pixels);
  const Matrix both = Normalizer::fit("standard+unit", pixels).apply(pixels);
  for (Index j = 0; j < 20; ++j)
    EXPECT_LT((both.col(j) - standard.col(j) / standard.col(j).norm()).norm(), 1e-15);
}

// 0.1f summed a thousand times does not give a thousand times its value.
TEST(Normalizer, ConstantBandContributesNothing) {
  MatrixF pixels = random_pixels(3, 1000);
  pixels.row(1).setConstant(0.1f);
  MatrixF other = pixels;
  other.row(1).setConstant(17);
  for (const char* kind : {"standard", "standard+unit", "minmax"}) {
    const Normalizer normalizer = Normalizer::fit(kind, pixels);
    EXPECT_EQ(normalizer.scale[1], 0);
    EXPECT_EQ(normalizer.apply(other).row(1).cwiseAbs().maxCoeff(), 0) << kind;
    EXPECT_TRUE(normalizer.apply(pixels).allFinite());
  }
  EXPECT_EQ(Normalizer::fit("standard", pixels.leftCols(1)).apply(pixels), Matrix::Zero(3, 1000));
}

TEST(Normalizer, SmallDifferencesOfLargeValuesSurvive) {
  MatrixF pixels(1, 3);
  pixels << 1e6f, 1e6f + 0.125f, 1e6f + 0.25f;
  const Normalizer normalizer = Normalizer::fit("standard", pixels);
  EXPECT_EQ(normalizer.offset[0], 1e6 + 0.125);
  EXPECT_NEAR(normalizer.scale[0], 1 / (0.125 * std::sqrt(2.0 / 3)), 1e-13);
}

TEST(Normalizer, ExtremeValuesStayFinite) {
  for (const float size : {1e-30f, 1e30f, std::numeric_limits<float>::denorm_min(), 3e38f}) {
    MatrixF pixels(2, 3);
    pixels << 0, size, -size, size, 0, 0;
    for (const std::string& kind : normalizer_kinds()) {
      const Matrix result = Normalizer::fit(kind, pixels).apply(pixels);
      EXPECT_TRUE(result.allFinite()) << kind << ' ' << size;
      if (kind == "unit") {
        EXPECT_NEAR(result.col(1).norm(), 1, 1e-15);
      }
    }
  }
}

// Bit-identical maps for every tile size rest on this.
TEST(Normalizer, ColumnDependsOnThatColumnAlone) {
  for (const Index bands : {1, 2, 3, 4, 5, 7, 8, 31, 103, 204}) {
    const MatrixF pixels = random_pixels(bands, 23);
    for (const std::string& kind : normalizer_kinds()) {
      const Normalizer normalizer = Normalizer::fit(kind, pixels);
      const Matrix whole = normalizer.apply(pixels);
      for (Index j = 0; j < 23; ++j)
        for (const Index n : {Index{1}, Index{2}, 23 - j}) {
          if (j + n > 23) continue;
          ASSERT_EQ(normalizer.apply(pixels.middleCols(j, n)), whole.middleCols(j, n))
              << kind << ' ' << bands << " bands, columns " << j << " + " << n;
        }
    }
  }
}

TEST(Normalizer, RefusesAnUnknownKind) {
  EXPECT_EQ(thrown<OptionError>([] { Normalizer::fit("zscore", random_pixels(2, 2)); }),
            "unknown normalization 'zscore'; known: none, unit, standard, standard+unit, minmax");
}

TEST(Normalizer, RefusesNoPixels) {
  EXPECT_EQ(thrown<DataError>([] { Normalizer::fit("unit", MatrixF(3, 0)); }),
            "0 pixels of 3 bands to normalize by, expected at least one");
  EXPECT_EQ(thrown<DataError>([] { Normalizer::fit("unit", MatrixF(0, 3)); }),
            "3 pixels of 0 bands to normalize by, expected at least one");
}

TEST(Normalizer, RefusesPixelsThatAreNotFinite) {
  MatrixF pixels = random_pixels(3, 4);
  pixels(1, 2) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(thrown<DataError>([&] { Normalizer::fit("standard", pixels); }),
            "pixel 2 to normalize by is nan in band 1 (from 0), expected a number");
}

TEST(Normalizer, RefusesAnotherNumberOfBands) {
  for (const std::string& kind : normalizer_kinds()) {
    const Normalizer normalizer = Normalizer::fit(kind, random_pixels(3, 4));
    EXPECT_EQ(thrown<DataError>([&] { normalizer.apply(random_pixels(4, 1)); }),
              "the pixels have 4 bands, expected the 3 that the normalization was fitted on");
  }
}

TEST(Normalizer, NoPixelsGiveNone) {
  const Normalizer normalizer = Normalizer::fit("unit", random_pixels(3, 4));
  EXPECT_EQ(normalizer.apply(MatrixF(3, 0)).cols(), 0);
}

}  // namespace
}  // namespace hyperatom::test
