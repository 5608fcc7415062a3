// S columns of one length that need not lie side by side: the kernel columns k(D, x_s) of a window,
// read in place from wherever each pixel's column was computed.
#pragma once

#include <span>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

class Columns {
 public:
  Columns(std::span<const double* const> columns, Index rows) : columns_(columns), rows_(rows) {}

  Index rows() const { return rows_; }
  Index cols() const { return static_cast<Index>(columns_.size()); }
  const double* col(Index s) const { return columns_[static_cast<size_t>(s)]; }
  double operator()(Index row, Index s) const { return col(s)[row]; }

 private:
  std::span<const double* const> columns_;
  Index rows_;
};

/// The column pointers of a matrix, for a caller that has B as one.
class MatrixColumns {
 public:
  explicit MatrixColumns(const MatrixView& B) : rows_(B.rows()) {
    pointers_.reserve(static_cast<size_t>(B.cols()));
    for (Index s = 0; s < B.cols(); ++s) pointers_.push_back(B.data() + s * B.outerStride());
  }
  Columns view() const { return {pointers_, rows_}; }

 private:
  std::vector<const double*> pointers_;
  Index rows_;
};

}  // namespace hyperatom
