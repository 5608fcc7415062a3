// How well a map agrees with labels.
#pragma once

#include <vector>

#include "hyperatom/base/types.hpp"
#include "hyperatom/scene/labels.hpp"

namespace hyperatom {

struct Interval {
  double low = 0;
  double high = 0;
};

/// Of one class. NaN where it is not defined: nothing to divide by.
struct ClassScore {
  Index truth = 0;       ///< labelled pixels
  Index predicted = 0;   ///< pixels that the map calls so, among the labelled ones
  double producers = 0;  ///< share of the labelled pixels that the map has right (recall)
  double users = 0;      ///< share of the pixels so called that are right (precision)
  double f1 = 0;
};

class Confusion {
 public:
  explicit Confusion(Index classes) : counts_(Eigen::MatrixX<Index>::Zero(classes, classes + 1)) {}

  /// Classes 1, 2, ...; predicted 0: the map has none there, which counts as wrong.
  void add(std::int32_t truth, std::int32_t predicted) {
    ++counts_(truth - 1, predicted == 0 ? counts_.cols() - 1 : predicted - 1);
  }
  /// Forgets the pixels whose true class is this one.
  void leave_out(std::int32_t truth) { counts_.row(truth - 1).setZero(); }

  Index classes() const { return counts_.rows(); }
  /// truth x predicted; the last column: not classified.
  const Eigen::MatrixX<Index>& counts() const { return counts_; }
  Index total() const { return counts_.sum(); }
  Index right() const { return counts_.leftCols(classes()).diagonal().sum(); }

  double overall() const;
  /// Mean of the producer's accuracies of the classes that have labelled pixels.
  double average() const;
  double kappa() const;
  /// Wilson's 95 % interval of the overall accuracy, as if the pixels were independent.
  Interval overall_interval() const;
  /// Those of the others, by their variance for large samples (delta method), likewise.
  Interval average_interval() const;
  Interval kappa_interval() const;
  std::vector<ClassScore> per_class() const;

 private:
  Eigen::MatrixX<Index> counts_;
};

/// Over the given pixels; those without a label are left out. Throws DataError when the sizes
/// differ.
Confusion compare(const Labels& map, const Labels& truth, const std::vector<Index>& pixels);

}  // namespace hyperatom
