// Accuracies against a published example and the definitions; leakage against brute force.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hyperatom/base/error.hpp"
#include "hyperatom/eval/confusion.hpp"
#include "hyperatom/eval/leakage.hpp"
#include "tests/support/problems.hpp"

namespace hyperatom {
namespace {

Confusion from_counts(const std::vector<std::vector<Index>>& counts) {
  Confusion confusion(static_cast<Index>(counts.size()));
  for (size_t t = 0; t < counts.size(); ++t)
    for (size_t p = 0; p < counts[t].size(); ++p)
      for (Index n = 0; n < counts[t][p]; ++n)
        confusion.add(static_cast<std::int32_t>(t + 1),
                      static_cast<std::int32_t>(p == counts.size() ? 0 : p + 1));
  return confusion;
}

TEST(Confusion, TwoByTwoByHand) {
  // Cohen's kappa of [[20, 5], [10, 15]] is 0.4: observed 0.7, expected 0.5.
  const Confusion c = from_counts({{20, 5}, {10, 15}});
  EXPECT_DOUBLE_EQ(c.overall(), 0.7);
  EXPECT_DOUBLE_EQ(c.average(), 0.5 * (0.8 + 0.6));
  EXPECT_NEAR(c.kappa(), 0.4, 1e-15);
  EXPECT_DOUBLE_EQ(c.per_class()[0].producers, 0.8);
  EXPECT_DOUBLE_EQ(c.per_class()[0].users, 20.0 / 30);
  EXPECT_DOUBLE_EQ(c.per_class()[1].f1, 2 * 15.0 / (25 + 20));
  // Wilson's interval for 35 of 50.
  EXPECT_NEAR(c.overall_interval().low, 0.5625, 5e-4);
  EXPECT_NEAR(c.overall_interval().high, 0.8090, 5e-4);
}

TEST(Confusion, UnclassifiedPixelsCountAsWrong) {
  const Confusion c = from_counts({{8, 0, 2}, {0, 5, 5}});
  EXPECT_DOUBLE_EQ(c.overall(), 13.0 / 20);
  EXPECT_DOUBLE_EQ(c.average(), 0.5 * (0.8 + 0.5));
  EXPECT_DOUBLE_EQ(c.per_class()[0].users, 1);
}

TEST(Confusion, AbsentClassesAreLeftOutOfTheAverage) {
  const Confusion c = from_counts({{9, 1, 0}, {0, 0, 0}, {2, 0, 8}});
  EXPECT_DOUBLE_EQ(c.average(), 0.5 * (0.9 + 0.8));
  EXPECT_TRUE(std::isnan(c.per_class()[1].producers));
}

TEST(Confusion, LeavesOutClasses) {
  Confusion c = from_counts({{8, 2, 0}, {0, 5, 0}, {3, 1, 0}});
  c.leave_out(3);
  EXPECT_EQ(c.total(), 15);
  EXPECT_DOUBLE_EQ(c.overall(), 13.0 / 15);
  EXPECT_DOUBLE_EQ(c.average(), 0.9);
}

/// Against samples drawn from the table: 95 of 100 kappas and averages lie within the interval.
TEST(Confusion, IntervalsHoldWhatSamplesDo) {
  const std::vector<std::vector<double>> shares = {
      {0.30, 0.05, 0.01}, {0.04, 0.25, 0.05}, {0.02, 0.03, 0.20}};
  constexpr double not_classified = 0.05;  // of the third class
  constexpr Index n = 800, samples = 4000;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform;
  const auto draw = [&] {
    Confusion confusion(3);
    for (Index i = 0; i < n; ++i) {
      double left = uniform(random) - not_classified;
      if (left < 0) {
        confusion.add(3, 0);
        continue;
      }
      for (std::int32_t cell = 0; cell < 9; ++cell) {
        left -= shares[static_cast<size_t>(cell / 3)][static_cast<size_t>(cell % 3)];
        if (left < 0 || cell == 8) {
          confusion.add(cell / 3 + 1, cell % 3 + 1);
          break;
        }
      }
    }
    return confusion;
  };
  std::vector<double> kappas, averages;
  for (Index i = 0; i < samples; ++i) {
    const Confusion confusion = draw();
    kappas.push_back(confusion.kappa());
    averages.push_back(confusion.average());
  }
  const auto deviation = [](const std::vector<double>& values) {
    const Eigen::Map<const Eigen::ArrayXd> x(values.data(), static_cast<Index>(values.size()));
    return std::sqrt((x - x.mean()).square().mean());
  };
  const Confusion one = draw();
  const Interval kappa = one.kappa_interval(), average = one.average_interval();
  EXPECT_NEAR((kappa.high - kappa.low) / 2, 1.96 * deviation(kappas),
              0.08 * 1.96 * deviation(kappas));
  EXPECT_NEAR((average.high - average.low) / 2, 1.96 * deviation(averages),
              0.08 * 1.96 * deviation(averages));
  EXPECT_NEAR((kappa.high + kappa.low) / 2, one.kappa(), 1e-12);
  EXPECT_NEAR((average.high + average.low) / 2, one.average(), 1e-12);
}

TEST(Leakage, PixelsThatAreNotValidHaveNoWindow) {
  const Split split{1, 4, {0}, {1, 2, 3}, "", {}};
  const std::vector<char> all(4, 1), some = {1, 0, 1, 1};
  EXPECT_DOUBLE_EQ(leakage(split, 2, all), 1.0 / 3);  // each window: the pixel and its left one
  EXPECT_DOUBLE_EQ(leakage(split, 1, some), 0);
}

TEST(Confusion, ComparesOnlyTheGivenLabelledPixels) {
  Labels truth{2, 2, {1, 2, 0, 1}, {"a", "b"}, default_colours(2), {}}, map = truth;
  map.ids = {1, 1, 2, 2};
  const Confusion c = compare(map, truth, {0, 1, 2});
  EXPECT_EQ(c.total(), 2);
  EXPECT_EQ(c.right(), 1);
  EXPECT_THROW(compare(map, truth, {2}), DataError);
  map.rows = 1;
  EXPECT_THROW(compare(map, truth, {0}), DataError);
}

TEST(Leakage, AgainstBruteForce) {
  test::Random random(3);
  Split split{20, 25, {}, {}, "", {}};
  for (Index i = 0; i < 500; ++i) {
    const double u = random.uniform();
    if (u < 0.05)
      split.train.push_back(i);
    else if (u < 0.6)
      split.test.push_back(i);
  }
  const std::vector<char> valid(500, 1);
  Index leaking = 0, inner = 0;
  Split middle = split;  // away from the edges a window of 25 is a 5 x 5 square
  middle.test.clear();
  for (const Index i : split.test) {
    if (i / 25 < 2 || i / 25 > 17 || i % 25 < 2 || i % 25 > 22) continue;
    middle.test.push_back(i);
    ++inner;
    bool leaks = false;
    for (const Index t : split.train)
      leaks = leaks || std::max(std::abs(i / 25 - t / 25), std::abs(i % 25 - t % 25)) <= 2;
    leaking += leaks;
  }
  EXPECT_DOUBLE_EQ(leakage(middle, 25, valid),
                   static_cast<double>(leaking) / static_cast<double>(inner));
  EXPECT_EQ(leakage(split, 1, valid), 0);
}

}  // namespace
}  // namespace hyperatom
