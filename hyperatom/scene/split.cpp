#include "hyperatom/scene/split.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <span>

#include "hyperatom/base/atomic_file.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/base/random.hpp"
#include "hyperatom/base/sha256.hpp"

namespace hyperatom {
namespace {

constexpr int schema = 1;

/// The pixels of every class, in random order.
std::vector<std::vector<Index>> shuffled_classes(const Labels& labels, std::uint64_t seed) {
  std::vector<std::vector<Index>> ordered(at(labels.classes())), shuffled(at(labels.classes()));
  for (Index i = 0; i < labels.pixels(); ++i)
    if (labels.id(i) > 0) ordered[at(labels.id(i)) - 1].push_back(i);
  for (size_t c = 0; c < ordered.size(); ++c)
    for (const Index k :
         RandomStream(seed, Purpose::split, c).permutation(static_cast<Index>(ordered[c].size())))
      shuffled[c].push_back(ordered[c][at(k)]);
  return shuffled;
}

/// How many of `count` pixels may be for training: at least one, and at least one left for testing.
Index within(Index wanted, Index count) {
  return count < 2 ? count : std::clamp<Index>(wanted, 1, count - 1);
}

/// `total` divided in proportion to the counts, to the last pixel where the limits of within()
/// allow it.
std::vector<Index> allocate(Index total, const std::vector<Index>& counts) {
  const Index all = std::accumulate(counts.begin(), counts.end(), Index{0});
  std::vector<Index> shares(counts.size(), 0);
  std::vector<std::pair<double, size_t>> remainders;
  Index given = 0;
  for (size_t c = 0; c < counts.size(); ++c) {
    const double exact =
        static_cast<double>(total) * static_cast<double>(counts[c]) / static_cast<double>(all);
    shares[c] = counts[c] == 0 ? 0 : within(static_cast<Index>(std::floor(exact)), counts[c]);
    given += shares[c];
    remainders.emplace_back(exact - static_cast<double>(shares[c]), c);
  }
  std::stable_sort(remainders.begin(), remainders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  // Hand out what is left to the classes that got least of their share; take back from those that
  // got most.
  for (bool moved = true; given != total && moved;) {
    moved = false;
    for (size_t k = 0; k < remainders.size() && given != total; ++k) {
      const size_t c =
          given < total ? remainders[k].second : remainders[remainders.size() - 1 - k].second;
      const Index changed = shares[c] + (given < total ? 1 : -1);
      if (counts[c] == 0 || within(changed, counts[c]) != changed) continue;
      given += changed - shares[c];
      shares[c] = changed;
      moved = true;
    }
  }
  return shares;
}

/// Training pixels of every class that the rule asks for.
std::vector<Index> wanted_counts(const SplitRule& rule, const std::vector<Index>& counts) {
  if (rule.train) return allocate(*rule.train, counts);
  std::vector<Index> wanted;
  for (const Index count : counts) {
    const Index target =
        rule.per_class
            ? *rule.per_class
            : static_cast<Index>(std::lround(*rule.fraction * static_cast<double>(count)));
    wanted.push_back(count == 0 ? 0 : within(target, count));
  }
  return wanted;
}

/// Whole groups (blocks or polygons) for training, in random order, until every class has its
/// share.
std::vector<char> training_groups(const Labels& labels, const std::vector<Index>& group_of,
                                  Index groups, double share, std::uint64_t seed) {
  std::vector<std::map<Index, Index>> members(at(groups));  // pixels per class
  for (Index i = 0; i < labels.pixels(); ++i)
    if (labels.id(i) > 0) ++members[at(group_of[at(i)])][labels.id(i) - 1];
  const std::vector<Index> counts = labels.counts();
  std::vector<Index> groups_left(counts.size(), 0), taken(counts.size(), 0);
  for (const auto& group : members)
    for (const auto& [c, n] : group) ++groups_left[at(c)];
  std::vector<char> train(at(groups), 0);
  for (const Index g : RandomStream(seed, Purpose::split, counts.size()).permutation(groups)) {
    bool needed = false, last = false;
    for (const auto& [c, n] : members[at(g)]) {
      const double target = share * static_cast<double>(counts[at(c)]);
      needed = needed ||
               static_cast<double>(taken[at(c)]) + 0.5 * static_cast<double>(n) <= target ||
               taken[at(c)] == 0;
      // The last group of a class that is all in training must be for testing.
      last = last ||
             (groups_left[at(c)] == 1 && taken[at(c)] > 0 && taken[at(c)] + n == counts[at(c)]);
      --groups_left[at(c)];
    }
    if (!needed || last) continue;
    train[at(g)] = 1;
    for (const auto& [c, n] : members[at(g)]) taken[at(c)] += n;
  }
  return train;
}

/// Test pixels whose square of side 2 buffer + 1 holds a training pixel are left out.
void apply_buffer(Split& split, Index buffer) {
  if (buffer == 0) return;
  std::vector<char> near(at(split.rows * split.cols), 0);
  for (const Index i : split.train)
    for (Index r = std::max<Index>(0, i / split.cols - buffer);
         r <= std::min(split.rows - 1, i / split.cols + buffer); ++r)
      for (Index c = std::max<Index>(0, i % split.cols - buffer);
           c <= std::min(split.cols - 1, i % split.cols + buffer); ++c)
        near[at(r * split.cols + c)] = 1;
  const size_t before = split.test.size();
  std::erase_if(split.test, [&](Index i) { return near[at(i)] != 0; });
  split.notes.push_back(
      fmt::format("{} test pixels within {} pixels of a training pixel are left out",
                  before - split.test.size(), buffer));
}

void validate_rule(const Labels& labels, const SplitRule& rule) {
  const int sizes = rule.train.has_value() + rule.fraction.has_value() + rule.per_class.has_value();
  if (sizes != 1)
    throw OptionError(
        fmt::format("exactly one of train, fraction and per-class is needed, not {}", sizes));
  if (rule.fraction && !(*rule.fraction > 0 && *rule.fraction < 1))
    throw OptionError(
        fmt::format("fraction must be greater than 0 and less than 1, not {}", *rule.fraction));
  if (rule.per_class && *rule.per_class < 1)
    throw OptionError(fmt::format("per-class must be at least 1, not {}", *rule.per_class));
  if (rule.kind == SplitRule::Kind::blocks && rule.block < 1)
    throw OptionError(fmt::format("blocks must be at least 1 pixel wide, not {}", rule.block));
  if (rule.buffer < 0)
    throw OptionError(fmt::format("buffer must be at least 0, not {}", rule.buffer));
  const std::vector<Index> counts = labels.counts();
  const Index labelled = std::accumulate(counts.begin(), counts.end(), Index{0});
  if (labelled == 0) throw DataError("the labels hold no labelled pixel");
  if (rule.train && (*rule.train < 1 || *rule.train >= labelled))
    throw OptionError(
        fmt::format("train must be at least 1 and less than the {} labelled pixels, not {}",
                    labelled, *rule.train));
  if (rule.kind == SplitRule::Kind::polygons && labels.parts.empty())
    throw DataError("a split by polygons needs labels that come from polygons, not a raster");
}

/// The labels that may be used for training, 0 elsewhere, and the pixels that are only for testing.
Labels training_pool(const Labels& labels, const SplitRule& rule, std::vector<Index>& test) {
  if (rule.kind == SplitRule::Kind::random) return labels;
  std::vector<Index> group_of(at(labels.pixels()));
  const Index across = rule.block > 0 ? (labels.cols + rule.block - 1) / rule.block : 0;
  Index groups = 0;
  for (Index i = 0; i < labels.pixels(); ++i) {
    group_of[at(i)] = rule.kind == SplitRule::Kind::polygons
                          ? labels.parts[at(i)]
                          : i / labels.cols / rule.block * across + i % labels.cols / rule.block;
    groups = std::max(groups, group_of[at(i)] + 1);
  }
  const std::vector<Index> counts = labels.counts();
  const double labelled =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), Index{0}));
  // Half of the scene is enough to draw a count from; a fraction is that of the groups themselves.
  const double share =
      rule.fraction ? *rule.fraction
                    : std::max(0.5, rule.train ? static_cast<double>(*rule.train) / labelled : 0.5);
  const std::vector<char> train = training_groups(labels, group_of, groups, share, rule.seed);
  Labels pool = labels;
  for (Index i = 0; i < labels.pixels(); ++i) {
    if (labels.id(i) == 0 || train[at(group_of[at(i)])]) continue;
    test.push_back(i);
    pool.ids[at(i)] = 0;
  }
  return pool;
}

void note_small_classes(const Labels& labels, Split& split) {
  std::vector<Index> train(at(labels.classes()), 0), test = train;
  for (const Index i : split.train) ++train[at(labels.id(i)) - 1];
  for (const Index i : split.test) ++test[at(labels.id(i)) - 1];
  const std::vector<Index> counts = labels.counts();
  for (size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) continue;
    if (train[c] == 0 || test[c] == 0)
      split.notes.push_back(
          fmt::format("class {} ({}) has {} labelled pixels: {} for training, {} for testing",
                      c + 1, labels.names[c], counts[c], train[c], test[c]));
  }
}

std::string hash_of(const std::vector<Index>& train, const std::vector<Index>& test, Index rows,
                    Index cols) {
  Sha256 hash;
  hash.update(fmt::format("{} x {}; train {}; test {}", rows, cols, fmt::join(train, " "),
                          fmt::join(test, " ")));
  return hash.hex_digest();
}

/// Both sides ascending, within the scene, without a pixel in common.
void expect_pixels(const Split& split, const std::function<void(const std::string&)>& fail) {
  constexpr Index largest = Index{1} << 31;  // a side that no scene has
  if (split.rows < 0 || split.cols < 0 || split.rows > largest || split.cols > largest)
    fail(fmt::format("its size is {} x {}, expected that of a scene", split.rows, split.cols));
  for (const auto* side : {&split.train, &split.test}) {
    for (const Index i : *side)
      if (i < 0 || i >= split.rows * split.cols)
        fail(fmt::format("pixel {} is not one of its {} x {} pixels", i, split.rows, split.cols));
    if (std::adjacent_find(side->begin(), side->end(), std::greater_equal<>()) != side->end())
      fail("its pixels are not in ascending order");
  }
  std::vector<Index> both;
  std::set_intersection(split.train.begin(), split.train.end(), split.test.begin(),
                        split.test.end(), std::back_inserter(both));
  if (!both.empty()) fail(fmt::format("{} pixels are for training and for testing", both.size()));
}

}  // namespace

std::string SplitRule::to_string() const {
  std::string text = kind == Kind::random     ? "random"
                     : kind == Kind::polygons ? "polygons"
                                              : fmt::format("blocks={}", block);
  if (train) text += fmt::format(" train={}", *train);
  if (fraction) text += fmt::format(" fraction={}", *fraction);
  if (per_class) text += fmt::format(" per-class={}", *per_class);
  if (buffer > 0) text += fmt::format(" buffer={}", buffer);
  return text + fmt::format(" seed={}", seed);
}

std::string Split::hash() const { return hash_of(train, test, rows, cols); }

Split make_split(const Labels& labels, const SplitRule& rule) {
  validate_rule(labels, rule);
  Split split{labels.rows, labels.cols, {}, {}, rule.to_string(), {}};
  const bool grouped = rule.kind != SplitRule::Kind::random;
  const Labels pool = training_pool(labels, rule, split.test);
  const auto classes = shuffled_classes(pool, rule.seed);
  const std::vector<Index> counts = pool.counts();
  // With groups the test pixels are elsewhere, so a class may give all of its pool; a fraction
  // takes the whole pool.
  std::vector<Index> wanted = grouped && rule.fraction ? counts : wanted_counts(rule, counts);
  for (size_t c = 0; c < classes.size(); ++c)
    for (size_t k = 0; k < classes[c].size(); ++k) {
      if (static_cast<Index>(k) < wanted[c])
        split.train.push_back(classes[c][k]);
      else if (!grouped)
        split.test.push_back(classes[c][k]);
    }
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.test.begin(), split.test.end());
  if (grouped) apply_buffer(split, rule.buffer);
  note_small_classes(labels, split);
  return split;
}

Split split_of(const Labels& train, const Labels& test) {
  if (train.rows != test.rows || train.cols != test.cols)
    throw DataError(fmt::format("the training labels are {} x {} pixels, the test labels {} x {}",
                                train.rows, train.cols, test.rows, test.cols));
  Split split{train.rows, train.cols, {}, {}, "given label maps", {}};
  for (Index i = 0; i < train.pixels(); ++i) {
    if (train.id(i) > 0) split.train.push_back(i);
    if (test.id(i) > 0) split.test.push_back(i);
    if (train.id(i) > 0 && test.id(i) > 0)
      throw DataError(fmt::format("pixel {},{} is in the training labels and in the test labels",
                                  i / train.cols, i % train.cols));
  }
  return split;
}

void save_split(const Split& split, const std::filesystem::path& path) {
  const nlohmann::json json = {
      {"format", "hyperatom-split"}, {"schema", schema},   {"rows", split.rows},
      {"cols", split.cols},          {"rule", split.rule}, {"notes", split.notes},
      {"train", split.train},        {"test", split.test}, {"sha256", split.hash()}};
  AtomicFile file(path);
  file.write(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  file.write("\n");
  file.commit();
}

Split load_split(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& what) -> void {
    throw DataError(fmt::format("{}: {}", path.string(), what));
  };
  std::ifstream stream(path);
  std::error_code error;
  if (!stream) fail(std::filesystem::exists(path, error) ? "can't be read" : "no such file");
  const nlohmann::json json = nlohmann::json::parse(stream, nullptr, false);
  Split split;
  try {
    if (!json.is_object() || json.at("format") != "hyperatom-split")
      fail("not a split file of hyperatom");
    if (json.at("schema") != schema)
      fail(fmt::format("schema {}, this version reads {}", json.at("schema").dump(), schema));
    split = {json.at("rows").get<Index>(),
             json.at("cols").get<Index>(),
             json.at("train").get<std::vector<Index>>(),
             json.at("test").get<std::vector<Index>>(),
             json.at("rule").get<std::string>(),
             json.at("notes").get<std::vector<std::string>>()};
    if (json.at("sha256").get<std::string>() != split.hash())
      fail("its pixels don't match its sha256");
  } catch (const nlohmann::json::exception&) {
    fail("not a split file of hyperatom, or not a whole one");
  }
  expect_pixels(split, fail);
  return split;
}

}  // namespace hyperatom
