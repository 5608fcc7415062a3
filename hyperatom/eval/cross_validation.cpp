#include "hyperatom/eval/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/random.hpp"

namespace hyperatom {
namespace {

/// The fold of every sample: each class is dealt out in random order, the next going on where the
/// last ended, so that small classes don't all begin with the first fold.
std::vector<Index> random_folds(const Samples& samples, const FoldRule& rule) {
  std::vector<Index> fold(at(samples.size()));
  Index next = 0;
  for (Index c = 0; c < samples.classes; ++c) {
    std::vector<Index> members;
    for (Index i = 0; i < samples.size(); ++i)
      if (samples.label(i) == c) members.push_back(i);
    const auto order = RandomStream(rule.seed, Purpose::folds, static_cast<std::uint64_t>(c))
                           .permutation(static_cast<Index>(members.size()));
    for (const Index k : order) fold[at(members[at(k)])] = next++ % rule.folds;
  }
  return fold;
}

/// Whole blocks, the fullest first, each to the fold that has least of its classes so far.
std::vector<Index> block_folds(const SceneSamples& samples, Index cols, const FoldRule& rule) {
  const Samples& s = samples.samples;
  std::map<std::pair<Index, Index>, std::vector<Index>> members;
  for (Index i = 0; i < s.size(); ++i) {
    const Index pixel = samples.pixels[at(i)];
    members[{pixel / cols / rule.block, pixel % cols / rule.block}].push_back(i);
  }
  std::vector<const std::vector<Index>*> blocks;
  for (const auto& [place, block] : members) blocks.push_back(&block);
  const auto order =
      RandomStream(rule.seed, Purpose::folds).permutation(static_cast<Index>(blocks.size()));
  std::vector<const std::vector<Index>*> queue;
  for (const Index k : order) queue.push_back(blocks[at(k)]);
  std::stable_sort(queue.begin(), queue.end(),
                   [](const auto* a, const auto* b) { return a->size() > b->size(); });
  Eigen::MatrixXd have = Eigen::MatrixXd::Zero(s.classes, rule.folds);
  Vector classes = Vector::Zero(s.classes);
  for (const Index label : s.labels) classes[label] += 1;
  std::vector<Index> fold(at(s.size()));
  for (const auto* block : queue) {
    Vector counts = Vector::Zero(s.classes);
    for (const Index i : *block) counts[s.label(i)] += 1;
    const Vector share = counts.cwiseQuotient(classes);  // of each class
    Index best = 0;
    (share.transpose() * have).minCoeff(&best);
    have.col(best) += share;
    for (const Index i : *block) fold[at(i)] = best;
  }
  return fold;
}

/// Whether any of `others` lies within the buffer of the pixel.
class Closeness {
 public:
  Closeness(std::span<const Index> pixels, Index cols, Index buffer)
      : cols_(cols), buffer_(buffer) {
    for (const Index pixel : pixels) rows_[pixel / cols].push_back(pixel % cols);
    for (auto& [row, columns] : rows_) std::sort(columns.begin(), columns.end());
  }

  bool operator()(Index pixel) const {
    const Index row = pixel / cols_, col = pixel % cols_;
    for (auto it = rows_.lower_bound(row - buffer_);
         it != rows_.end() && it->first <= row + buffer_; ++it) {
      const auto found = std::lower_bound(it->second.begin(), it->second.end(), col - buffer_);
      if (found != it->second.end() && *found <= col + buffer_) return true;
    }
    return false;
  }

 private:
  std::map<Index, std::vector<Index>> rows_;
  Index cols_, buffer_;
};

/// Which classes have a sample among `which`.
std::vector<char> present(const Samples& samples, std::span<const Index> which) {
  std::vector<char> there(at(samples.classes), 0);
  for (const Index i : which) there[at(samples.label(i))] = 1;
  return there;
}

Fold fold_of(const SceneSamples& samples, const std::vector<Index>& folds, Index f, Index cols,
             Index buffer) {
  std::vector<Index> held_out, rest;
  for (Index i = 0; i < samples.samples.size(); ++i)
    (folds[at(i)] == f ? held_out : rest).push_back(i);
  if (buffer > 0) {
    std::vector<Index> pixels;
    for (const Index i : held_out) pixels.push_back(samples.pixels[at(i)]);
    const Closeness close(pixels, cols, buffer);
    std::erase_if(rest, [&](Index i) { return close(samples.pixels[at(i)]); });
  }
  const std::vector<char> there = present(samples.samples, rest);
  Fold fold;
  fold.training = rest;
  for (const Index i : held_out)
    (there[at(samples.samples.label(i))] ? fold.held_out : fold.training).push_back(i);
  std::sort(fold.training.begin(), fold.training.end());
  // A class whose samples lie all in the buffer, or in it and this fold, has none left to learn.
  const std::vector<char> now = present(samples.samples, fold.training);
  for (Index c = 0; c < samples.samples.classes; ++c)
    if (!now[at(c)])
      for (Index i = 0; i < samples.samples.size(); ++i)
        if (samples.samples.label(i) == c && folds[at(i)] != f) fold.training.push_back(i);
  std::sort(fold.training.begin(), fold.training.end());
  return fold;
}

}  // namespace

std::string FoldRule::to_string() const {
  if (block == 0) return fmt::format("{} random folds", folds);
  return fmt::format("{} folds of blocks of {} pixels, buffer {}", folds, block, buffer);
}

void validate(const FoldRule& rule) {
  if (rule.folds < 2)
    throw OptionError(fmt::format("folds must be at least 2, not {}", rule.folds));
  if (rule.block < 0 || rule.buffer < 0)
    throw OptionError("the side of fold blocks and their buffer must not be negative");
  if (rule.buffer > 0 && rule.block == 0)
    throw OptionError("a buffer between folds needs blocks: random folds have none");
}

std::vector<Fold> make_folds(const SceneSamples& samples, Index cols, const FoldRule& rule) {
  validate(rule);
  validate(samples.samples);
  const std::vector<Index> folds =
      rule.block > 0 ? block_folds(samples, cols, rule) : random_folds(samples.samples, rule);
  std::vector<Fold> result;
  for (Index f = 0; f < rule.folds; ++f) {
    Fold fold = fold_of(samples, folds, f, cols, rule.buffer);
    if (!fold.held_out.empty()) result.push_back(std::move(fold));
  }
  if (result.empty())
    throw DataError(fmt::format(
        "{} training pixels of {} classes can't be held out in {}: every class needs a pixel to "
        "learn from and another to judge by",
        samples.samples.size(), samples.samples.classes, rule.to_string()));
  return result;
}

void Tally::add(const Tally& other) {
  total.resize(std::max(total.size(), other.total.size()), 0);
  right.resize(total.size(), 0);
  for (size_t c = 0; c < other.total.size(); ++c) {
    total[c] += other.total[c];
    right[c] += other.right[c];
  }
}

/// Mean of the classes' accuracies, weighed by a power of their sizes.
double Tally::mean(double power) const {
  double sum = 0, weights = 0;
  for (size_t c = 0; c < total.size(); ++c) {
    if (total[c] == 0) continue;
    const auto size = static_cast<double>(total[c]);
    const double weight = std::pow(size, power);
    sum += weight * static_cast<double>(right[c]) / size;
    weights += weight;
  }
  return sum / weights;
}

Tally tally(const Samples& samples, std::span<const Index> which,
            std::span<const Index> predicted) {
  Tally result{std::vector<Index>(at(samples.classes), 0), {}};
  result.right = result.total;
  for (size_t i = 0; i < which.size(); ++i) {
    const Index truth = samples.label(which[i]);
    ++result.total[at(truth)];
    result.right[at(truth)] += predicted[i] == truth;
  }
  return result;
}

}  // namespace hyperatom
