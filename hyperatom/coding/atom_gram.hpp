// K + lambda2 I in the layout that the solvers read: columns padded with zeros to whole cache-line
// blocks.
//
// lambda2 is folded into the diagonal here, once: with it there the elastic net needs no code of
// its own.
#pragma once

#include <algorithm>
#include <vector>

#include "hyperatom/base/simd.hpp"
#include "hyperatom/base/types.hpp"

namespace hyperatom {

class AtomGram {
 public:
  /// Rows are processed in blocks of this many.
  static constexpr Index block = 8;

  /// Up to so many atoms there is a copy in float, for looks that need not be exact.
  static constexpr Index few = 96;

  AtomGram(const MatrixView& K, double lambda2)
      : size_(K.rows()), stride_((K.rows() + block - 1) / block * block) {
    eigen_assert(K.rows() == K.cols());
    values_.assign(static_cast<size_t>(stride_ * size_), 0.0);
    for (Index j = 0; j < size_; ++j) {
      std::copy_n(K.data() + j * K.outerStride(), size_, values_.data() + j * stride_);
      values_[static_cast<size_t>(j * stride_ + j)] += lambda2;
      diagonal_.push_back(col(j)[j]);
    }
    if (size_ <= few) rough_.assign(values_.begin(), values_.end());
  }

  Index size() const { return size_; }
  const double* col(Index j) const { return values_.data() + j * stride_; }
  /// Of the copy in float; null where there is none.
  const float* rough_col(Index j) const {
    return rough_.empty() ? nullptr : rough_.data() + j * stride_;
  }
  double operator()(Index i, Index j) const { return col(j)[i]; }
  double diagonal(Index j) const { return diagonal_[static_cast<size_t>(j)]; }

 private:
  Index size_;
  Index stride_;
  simd::Aligned values_;
  std::vector<float, Eigen::aligned_allocator<float>> rough_;
  std::vector<double> diagonal_;  // side by side
};

}  // namespace hyperatom
