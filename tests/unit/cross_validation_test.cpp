// Folds, and the counting of what was right in them.
#include "hyperatom/eval/cross_validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "hyperatom/base/error.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom {
namespace {

using test::Random;
using test::thrown;

constexpr Index cols = 40;

/// Single pixels with these labels, at these places of a scene.
SceneSamples samples_at(std::vector<Index> pixels, std::vector<Index> labels) {
  SceneSamples result;
  const auto n = static_cast<Index>(pixels.size());
  result.samples.pixels = Matrix::Ones(2, n);
  result.samples.windows.resize(1, n);
  for (Index i = 0; i < n; ++i) result.samples.windows(0, i) = i;
  result.samples.classes = *std::max_element(labels.begin(), labels.end()) + 1;
  result.samples.labels = std::move(labels);
  result.pixels = std::move(pixels);
  return result;
}

/// Every place of a 40 x 40 scene with some probability; classes in stripes of 5 columns.
SceneSamples scattered(std::uint64_t seed) {
  Random random(seed);
  std::vector<Index> pixels, labels;
  for (Index i = 0; i < cols * cols; ++i) {
    if (random.uniform() > 0.2) continue;
    pixels.push_back(i);
    labels.push_back(i % cols / 5);
  }
  return samples_at(std::move(pixels), std::move(labels));
}

bool has(const std::vector<Index>& sorted, Index value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

/// How many folds hold sample i out.
Index times_held_out(const std::vector<Fold>& folds, Index i) {
  return std::ranges::count_if(folds, [&](const Fold& fold) { return has(fold.held_out, i); });
}

void expect_every_class_in_training(const SceneSamples& samples, const std::vector<Fold>& folds) {
  for (const Fold& fold : folds)
    for (Index c = 0; c < samples.samples.classes; ++c)
      EXPECT_TRUE(std::ranges::any_of(fold.training,
                                      [&](Index i) { return samples.samples.label(i) == c; }))
          << "class " << c;
}

TEST(Folds, RandomFoldsHoldEverySampleOutOnceAndAreStratified) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SceneSamples samples = scattered(seed);
    const auto folds = make_folds(samples, cols, {.folds = 4, .seed = seed});
    ASSERT_EQ(folds.size(), 4u);
    for (Index i = 0; i < samples.samples.size(); ++i) {
      EXPECT_EQ(times_held_out(folds, i), 1);
      for (const Fold& fold : folds) EXPECT_NE(has(fold.training, i), has(fold.held_out, i));
    }
    for (Index c = 0; c < samples.samples.classes; ++c) {
      Index least = samples.samples.size(), most = 0;
      for (const Fold& fold : folds) {
        const Index count = std::ranges::count_if(
            fold.held_out, [&](Index i) { return samples.samples.label(i) == c; });
        least = std::min(least, count);
        most = std::max(most, count);
      }
      EXPECT_LE(most - least, 1) << "class " << c;
    }
  }
}

TEST(Folds, DependOnTheSeedAlone) {
  const SceneSamples samples = scattered(1);
  const auto held_out = [&](std::uint64_t seed, Index block) {
    std::vector<std::vector<Index>> all;
    for (const Fold& fold : make_folds(samples, cols, {.folds = 3, .block = block, .seed = seed}))
      all.push_back(fold.held_out);
    return all;
  };
  for (const Index block : {0, 8}) {
    EXPECT_EQ(held_out(5, block), held_out(5, block));
    EXPECT_NE(held_out(5, block), held_out(6, block));
  }
}

TEST(Folds, BlocksStayWholeAndTheBufferKeepsThemApart) {
  constexpr Index side = 8, buffer = 2;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SceneSamples samples = scattered(seed);
    const auto folds =
        make_folds(samples, cols, {.folds = 3, .block = side, .buffer = buffer, .seed = seed});
    ASSERT_EQ(folds.size(), 3u);
    expect_every_class_in_training(samples, folds);
    const auto block_of = [&](Index i) {
      const Index pixel = samples.pixels[at(i)];
      return std::pair(pixel / cols / side, pixel % cols / side);
    };
    for (const Fold& fold : folds) {
      std::map<std::pair<Index, Index>, std::set<bool>> sides;  // of every block
      for (Index i = 0; i < samples.samples.size(); ++i)
        sides[block_of(i)].insert(has(fold.held_out, i));
      for (const auto& [block, side_of] : sides) EXPECT_EQ(side_of.size(), 1u);
    }
    for (const Fold& fold : folds)
      for (const Index i : fold.held_out)
        for (const Index j : fold.training) {
          const Index a = samples.pixels[at(i)], b = samples.pixels[at(j)];
          EXPECT_GT(std::max(std::abs(a / cols - b / cols), std::abs(a % cols - b % cols)), buffer);
        }
  }
}

TEST(Folds, NoClassIsLostEvenWhereItHasOnePixelOrOneBlock) {
  // Class 0 everywhere, class 1 in one pixel, class 2 in one block, class 3 all in class 0's
  // buffer.
  std::vector<Index> pixels, labels;
  for (Index i = 0; i < 400; i += 3) {
    pixels.push_back(i);
    labels.push_back(i == 9 ? 1 : (i % cols < 5 && i / cols < 5) ? 2 : i % 2 == 0 ? 0 : 3);
  }
  const SceneSamples samples = samples_at(pixels, labels);
  for (const FoldRule& rule :
       {FoldRule{.folds = 3}, FoldRule{.folds = 3, .block = 5},
        FoldRule{.folds = 2, .block = 5, .buffer = 4}, FoldRule{.folds = 50}}) {
    const auto folds = make_folds(samples, cols, rule);
    EXPECT_FALSE(folds.empty());
    expect_every_class_in_training(samples, folds);
    for (const Fold& fold : folds) EXPECT_FALSE(fold.held_out.empty());
  }
}

TEST(Folds, RefuseRulesThatContradictThemselves) {
  const SceneSamples samples = scattered(2);
  EXPECT_EQ(thrown<OptionError>([&] { make_folds(samples, cols, {.folds = 1}); }),
            "folds must be at least 2, not 1");
  EXPECT_EQ(thrown<OptionError>([&] { make_folds(samples, cols, {.folds = 2, .buffer = 3}); }),
            "a buffer between folds needs blocks: random folds have none");
  const SceneSamples alone = samples_at({0, 1, 2}, {0, 1, 2});
  EXPECT_EQ(thrown<DataError>([&] { make_folds(alone, cols, {.folds = 2}); }),
            "3 training pixels of 3 classes can't be held out in 2 random folds: every class needs "
            "a pixel to learn from and another to judge by");
}

TEST(Tally, IsTheAccuracyCountedByHand) {
  const SceneSamples samples = samples_at({0, 1, 2, 3, 4, 5, 6}, {0, 0, 0, 0, 1, 1, 2});
  const std::vector<Index> which = {0, 1, 2, 3, 4}, predicted = {0, 0, 0, 1, 1};
  Tally sum = tally(samples.samples, which, predicted);
  EXPECT_DOUBLE_EQ(sum.overall(), 4.0 / 5);
  EXPECT_DOUBLE_EQ(sum.average(), (3.0 / 4 + 1) / 2);
  EXPECT_DOUBLE_EQ(sum.balanced(), (2 * 0.75 + 1 * 1) / 3);
  sum.add(tally(samples.samples, std::vector<Index>{5, 6}, std::vector<Index>{0, 2}));
  EXPECT_DOUBLE_EQ(sum.overall(), 5.0 / 7);
  EXPECT_DOUBLE_EQ(sum.average(), (3.0 / 4 + 1.0 / 2 + 1) / 3);
}

}  // namespace
}  // namespace hyperatom
