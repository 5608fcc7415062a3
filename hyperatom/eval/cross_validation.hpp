// Folds of training samples: each is held out once, and judged by a model of the others.
//
// Random folds are stratified by class. Blocks of the scene keep windows of the two sides further
// apart, as far as a buffer asks for; they tell how well a method does on fields it has not seen.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hyperatom/learn/scene_samples.hpp"

namespace hyperatom {

struct FoldRule {
  Index folds = 3;
  Index block = 0;   ///< side of a block in pixels; 0: random folds
  Index buffer = 0;  ///< training samples this close to a held-out one (rows or columns) are left
                     ///< out
  std::uint64_t seed = 0;

  /// e.g. "3 random folds", "3 folds of blocks of 20 pixels, buffer 2".
  std::string to_string() const;
};

/// Throws OptionError for a rule that contradicts itself.
void validate(const FoldRule& rule);

struct Fold {
  std::vector<Index> training, held_out;  ///< numbers of samples, ascending
};

/// No fold leaves training without a class: what would is not held out there. Throws OptionError,
/// and DataError when nothing can be held out.
std::vector<Fold> make_folds(const SceneSamples& samples, Index cols, const FoldRule& rule);

/// Rights and wrongs, by class.
struct Tally {
  std::vector<Index> total, right;

  void add(const Tally& other);
  double overall() const { return mean(1); }
  /// Mean over the classes that were held out.
  double average() const { return mean(0); }
  /// Between the two: classes weigh by the square roots of their sizes, so that neither a large
  /// class nor one of two pixels decides alone.
  double balanced() const { return mean(0.5); }

 private:
  double mean(double power) const;
};

Tally tally(const Samples& samples, std::span<const Index> which, std::span<const Index> predicted);

}  // namespace hyperatom
