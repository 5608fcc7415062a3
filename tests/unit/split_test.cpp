#include "hyperatom/scene/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "hyperatom/base/error.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hyperatom {
namespace {

/// Patches of `classes` classes, a quarter of the pixels unlabelled; the last class has one pixel
/// if `tiny`.
Labels patchwork(Index rows, Index cols, Index classes, bool tiny = false) {
  test::Random random(7);
  Labels labels;
  labels.rows = rows;
  labels.cols = cols;
  labels.ids.assign(static_cast<size_t>(rows * cols), 0);
  labels.parts = labels.ids;
  for (Index c = 0; c < classes; ++c) labels.names.push_back("class " + std::to_string(c + 1));
  labels.colours = default_colours(classes);
  const Index usual = tiny ? classes - 1 : classes;
  for (Index i = 0; i < rows * cols; ++i) {
    const Index patch = i / cols / 5 * 100 + i % cols / 5;
    if (random.uniform() < 0.25) continue;
    labels.ids[static_cast<size_t>(i)] = static_cast<std::int32_t>(patch * 7 % usual + 1);
    labels.parts[static_cast<size_t>(i)] = static_cast<std::int32_t>(patch + 1);
  }
  if (tiny) labels.ids[0] = static_cast<std::int32_t>(classes);
  return labels;
}

std::vector<Index> per_class(const Labels& labels, const std::vector<Index>& pixels) {
  std::vector<Index> counts(labels.names.size(), 0);
  for (const Index i : pixels) ++counts[static_cast<size_t>(labels.id(i)) - 1];
  return counts;
}

void expect_sound(const Labels& labels, const Split& split) {
  std::set<Index> seen;
  for (const auto* side : {&split.train, &split.test}) {
    EXPECT_TRUE(std::is_sorted(side->begin(), side->end()));
    for (const Index i : *side) {
      EXPECT_GT(labels.id(i), 0);
      EXPECT_TRUE(seen.insert(i).second) << "a pixel on both sides";
    }
  }
}

TEST(Split, RandomCountIsExactAndStratified) {
  const Labels labels = patchwork(40, 50, 6);
  const Split split = make_split(labels, {.train = 151, .seed = 3});
  expect_sound(labels, split);
  EXPECT_EQ(split.train.size(), 151u);
  const auto all = labels.counts();
  const auto train = per_class(labels, split.train);
  Index labelled = 0;
  for (const Index n : all) labelled += n;
  EXPECT_EQ(static_cast<Index>(split.train.size() + split.test.size()), labelled);
  for (size_t c = 0; c < all.size(); ++c)
    EXPECT_NEAR(static_cast<double>(train[c]),
                151.0 * static_cast<double>(all[c]) / static_cast<double>(labelled), 1.0);
  EXPECT_EQ(split.rule, "random train=151 seed=3");
}

TEST(Split, PerClassAndFraction) {
  const Labels labels = patchwork(40, 50, 6);
  for (const Index n : per_class(labels, make_split(labels, {.per_class = 15}).train))
    EXPECT_EQ(n, 15);
  const auto counts = labels.counts();
  const auto tenth = per_class(labels, make_split(labels, {.fraction = 0.1}).train);
  for (size_t c = 0; c < counts.size(); ++c)
    EXPECT_NEAR(static_cast<double>(tenth[c]), 0.1 * static_cast<double>(counts[c]), 0.51);
}

TEST(Split, TinyClassesKeepAPixelOnEachSideOrAreReported) {
  Labels labels = patchwork(20, 20, 4, true);
  const Split split = make_split(labels, {.per_class = 1000});
  const auto train = per_class(labels, split.train), test = per_class(labels, split.test);
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_GE(train[c], 1);
    EXPECT_EQ(test[c], 1);
  }
  EXPECT_EQ(train[3], 1);
  ASSERT_EQ(split.notes.size(), 1u);
  EXPECT_EQ(split.notes[0],
            "class 4 (class 4) has 1 labelled pixels: 1 for training, 0 for testing");
}

TEST(Split, SeedDecides) {
  const Labels labels = patchwork(40, 50, 6);
  const auto train = [&](std::uint64_t seed) {
    return make_split(labels, {.train = 100, .seed = seed}).train;
  };
  EXPECT_EQ(train(1), train(1));
  EXPECT_NE(train(1), train(2));
}

TEST(Split, BlocksKeepTrainingAndTestingApart) {
  const Labels labels = patchwork(60, 60, 5);
  const Split split = make_split(
      labels,
      {.kind = SplitRule::Kind::blocks, .fraction = 0.4, .block = 10, .buffer = 3, .seed = 1});
  expect_sound(labels, split);
  std::set<Index> blocks;
  const auto block_of = [](Index i) { return i / 60 / 10 * 6 + i % 60 / 10; };
  for (const Index i : split.train) blocks.insert(block_of(i));
  ASSERT_FALSE(split.test.empty());
  for (const Index i : split.test) {
    EXPECT_EQ(blocks.count(block_of(i)), 0u);
    for (const Index t : split.train)
      EXPECT_GT(std::max(std::abs(i / 60 - t / 60), std::abs(i % 60 - t % 60)), 3);
  }
  for (const Index n : per_class(labels, split.train)) EXPECT_GT(n, 0);
  for (const Index n : per_class(labels, split.test)) EXPECT_GT(n, 0);
}

TEST(Split, PolygonsStayWhole) {
  const Labels labels = patchwork(60, 60, 5);
  const Split split =
      make_split(labels, {.kind = SplitRule::Kind::polygons, .fraction = 0.5, .seed = 4});
  expect_sound(labels, split);
  std::set<std::int32_t> train;
  for (const Index i : split.train) train.insert(labels.parts[static_cast<size_t>(i)]);
  for (const Index i : split.test) EXPECT_EQ(train.count(labels.parts[static_cast<size_t>(i)]), 0u);
  EXPECT_GT(split.train.size(), 300u);
  EXPECT_GT(split.test.size(), 300u);
}

TEST(Split, CountWithinBlocks) {
  const Labels labels = patchwork(60, 60, 5);
  const Split split = make_split(
      labels, {.kind = SplitRule::Kind::blocks, .per_class = 12, .block = 10, .seed = 2});
  for (const Index n : per_class(labels, split.train)) EXPECT_EQ(n, 12);
}

TEST(Split, FileRoundTripAndTampering) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "split.json";
  const Labels labels = patchwork(20, 20, 3);
  const Split split = make_split(labels, {.train = 30, .seed = 9});
  save_split(split, path);
  const Split read = load_split(path);
  EXPECT_EQ(read.train, split.train);
  EXPECT_EQ(read.test, split.test);
  EXPECT_EQ(read.rule, split.rule);
  EXPECT_EQ(read.hash(), split.hash());
  std::string text;
  {
    std::ifstream stream(path);
    std::getline(stream, text);
  }
  const auto refused = [&](const std::string& content) {
    std::ofstream(path) << content;
    try {
      load_split(path);
    } catch (const DataError& error) {
      return std::string(error.what()).substr(path.string().size() + 2);
    }
    return std::string("nothing was thrown");
  };
  std::string changed = text;
  changed.replace(changed.find("\"train\":["), 9, "\"train\":[0,");
  EXPECT_EQ(refused(changed), "its pixels don't match its sha256");
  EXPECT_EQ(refused("{"), "not a split file of hyperatom");
  EXPECT_EQ(refused("[1, 2]"), "not a split file of hyperatom");
  changed = text;
  changed.replace(changed.find("\"schema\":1"), 10, "\"schema\":9");
  EXPECT_EQ(refused(changed), "schema 9, this version reads 1");
  EXPECT_THROW(load_split(folder.path() / "absent.json"), DataError);
}

TEST(Split, GivenMaps) {
  Labels train = patchwork(20, 20, 3), test = train;
  for (size_t i = 0; i < train.ids.size(); ++i) (i % 3 == 0 ? test : train).ids[i] = 0;
  const Split split = split_of(train, test);
  expect_sound(patchwork(20, 20, 3), split);
  test.ids[0] = train.ids[0] = 1;
  EXPECT_THROW(split_of(train, test), DataError);
  test.cols = 10;
  EXPECT_THROW(split_of(train, test), DataError);
}

TEST(Split, RulesThatContradictThemselvesAreRefused) {
  const Labels labels = patchwork(20, 20, 3);
  EXPECT_THROW(make_split(labels, {}), OptionError);
  EXPECT_THROW(make_split(labels, {.train = 10, .fraction = 0.5}), OptionError);
  EXPECT_THROW(make_split(labels, {.train = 100000}), OptionError);
  EXPECT_THROW(make_split(labels, {.fraction = 1.5}), OptionError);
  EXPECT_THROW(make_split(labels, {.per_class = 0}), OptionError);
  EXPECT_THROW(make_split(labels, {.kind = SplitRule::Kind::blocks, .fraction = 0.5}), OptionError);
  Labels none = labels;
  std::fill(none.ids.begin(), none.ids.end(), 0);
  EXPECT_THROW(make_split(none, {.train = 10}), DataError);
  Labels raster = labels;
  raster.parts.clear();
  EXPECT_THROW(make_split(raster, {.kind = SplitRule::Kind::polygons, .fraction = 0.5}), DataError);
}

}  // namespace
}  // namespace hyperatom
