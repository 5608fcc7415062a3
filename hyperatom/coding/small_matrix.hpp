// Dense kernels for the active rows of one window: matrices of a few to a few hundred rows,
// row-major, each row padded to a multiple of four so that no loop has a tail. Libraries are slow
// at this size (allocation, dispatch, packing); these are plain loops over registers.
#pragma once

#include <vector>

#include "hyperatom/base/simd.hpp"
#include "hyperatom/base/types.hpp"

namespace hyperatom {

/// A scratch matrix that keeps its memory when it is reshaped. The padding is zero after reshape().
class SmallMatrix {
 public:
  void reshape(Index rows, Index cols) {
    rows_ = rows;
    cols_ = cols;
    stride_ = simd::round_up(cols);
    values_.assign(static_cast<size_t>(rows * stride_), 0.0);
  }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index stride() const { return stride_; }
  double* row(Index i) { return values_.data() + i * stride_; }
  const double* row(Index i) const { return values_.data() + i * stride_; }
  double& operator()(Index i, Index j) { return row(i)[j]; }
  double operator()(Index i, Index j) const { return row(i)[j]; }

  /// Keeps the rows that `keep` lists, in that order (each not before its place).
  void select_rows(const std::vector<Index>& keep);
  /// Appends a row of zeros.
  void append_row();

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  Index stride_ = 0;
  std::vector<double> values_;
};

/// <x, y> over `length` (a multiple of 4) values.
double dot(const double* x, const double* y, Index length);

/// C = A B.
void multiply(const SmallMatrix& A, const SmallMatrix& B, SmallMatrix& C);

/// C = A A'. `scratch` holds A'.
void multiply_by_transpose(const SmallMatrix& A, SmallMatrix& scratch, SmallMatrix& C);

/// Replaces the symmetric positive definite M by its inverse. False (M destroyed) when a pivot is
/// not positive and finite.
bool invert_spd(SmallMatrix& M);

/// What a factorisation met.
struct Pivots {
  Index dependent = 0;   ///< variables that depend, to rounding, on those before them
  double condition = 1;  ///< largest pivot over smallest, of the others
};

/// Replaces the upper triangle of the symmetric positive semidefinite T by its factors D L' (T = L
/// D L').
Pivots factor_psd(SmallMatrix& T);

/// Solves T z = w in place for a factored T. Dependent variables get z = 0.
void solve_factored(const SmallMatrix& T, double* z);

}  // namespace hyperatom
