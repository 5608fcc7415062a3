// Dense kernels for the active rows of one window: matrices of a few to a few hundred rows,
// row-major, each row padded to a multiple of four so that no loop has a tail. Libraries are slow
// at this size (allocation, dispatch, packing); these are plain loops over registers.
#pragma once

#include <vector>

#include "hyperatom/base/simd.hpp"
#include "hyperatom/base/types.hpp"

namespace hyperatom {

/// A scratch matrix that keeps its memory when it is reshaped. After reshape() its entries are
/// arbitrary, but the padding is zero.
class SmallMatrix {
 public:
  void reshape(Index rows, Index cols) {
    cols_ = cols;
    stride_ = simd::round_up(cols);
    set_rows(rows);
    if (stride_ > cols_)  // whole packs: the entries among them are arbitrary
      for (Index i = 1; i <= rows; ++i) simd::store(row(i) - simd::width, simd::Pack{});
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
  /// Of a square matrix: the rows that its padded columns would belong to, beyond rows(), become
  /// those of the identity.
  void pad_with_identity();

 private:
  void set_rows(Index rows) {
    rows_ = rows;
    if (values_.size() < static_cast<size_t>(rows_ * stride_))
      values_.resize(static_cast<size_t>(rows_ * stride_));
  }

  Index rows_ = 0;
  Index cols_ = 0;
  Index stride_ = 0;
  std::vector<double> values_;  // at least rows_ * stride_
};

/// <x, y> over `length` (a multiple of 4) values.
inline double dot(const double* x, const double* y, Index length) {
  simd::Pack sums[2];
  simd::clear(sums);
  Index i = 0;
  for (; i + 2 * simd::width <= length; i += 2 * simd::width)
    for (int p = 0; p < 2; ++p)
      sums[p] = simd::multiply_add(simd::load(x + i + p * simd::width),
                                   simd::load(y + i + p * simd::width), sums[p]);
  if (i < length) sums[0] = simd::multiply_add(simd::load(x + i), simd::load(y + i), sums[0]);
  return simd::sum(sums[0] + sums[1]);
}

/// target -= factor * source over `length` (a multiple of 4) values.
inline void subtract(double* target, double factor, const double* source, Index length) {
  const simd::Pack f = simd::broadcast(factor);
  for (Index i = 0; i < length; i += simd::width)
    simd::store(target + i,
                simd::subtract_product(simd::load(target + i), f, simd::load(source + i)));
}

enum class Start { zero, target };

/// `packs` packs of target (+)= sum_k factors_k row_k, of rows that are `stride` apart.
template <Start start, int packs>
void combine_block(const double* rows, Index stride, const double* factors, Index count,
                   double* target) {
  simd::Pack sums[packs];
#pragma GCC unroll 4
  for (int p = 0; p < packs; ++p)
    sums[p] = start == Start::zero ? simd::Pack{} : simd::load(target + p * simd::width);
  for (Index k = 0; k < count; ++k) {
    const simd::Pack factor = simd::broadcast(factors[k]);
#pragma GCC unroll 4
    for (int p = 0; p < packs; ++p)
      sums[p] =
          simd::multiply_add(factor, simd::load(rows + k * stride + p * simd::width), sums[p]);
  }
#pragma GCC unroll 4
  for (int p = 0; p < packs; ++p) simd::store(target + p * simd::width, sums[p]);
}

/// The same over `length` values, up to whole packs.
template <Start start>
void combine_rows(const double* rows, Index stride, const double* factors, Index count,
                  double* target, Index length) {
  Index column = 0;
  for (; column + 4 * simd::width <= simd::round_up(length); column += 4 * simd::width)
    combine_block<start, 4>(rows + column, stride, factors, count, target + column);
  for (; column < length; column += simd::width)
    combine_block<start, 1>(rows + column, stride, factors, count, target + column);
}

/// C = A B.
void multiply(const SmallMatrix& A, const SmallMatrix& B, SmallMatrix& C);

/// C = A B where that is symmetric: half of it is computed.
void multiply_symmetric(const SmallMatrix& A, const SmallMatrix& B, SmallMatrix& C);

/// B = A', with zeros in the rows up to a whole pack.
void transpose(const SmallMatrix& A, SmallMatrix& B);

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
/// D L'), with 1 / D on the diagonal. A pivot that has shrunk below `vanishing` times its diagonal
/// entry belongs to a dependent variable: it becomes `floor` times that entry, or, with floor = 0,
/// the variable is left out (solve_factored gives it 0). Further columns of T are multiplied by
/// L^-1.
Pivots factor_psd(SmallMatrix& T, double vanishing, double floor = 0);

/// Solves T z = w for a factored T of one further column, which was w. z has room for stride()
/// values.
void substitute_back(const SmallMatrix& T, double* z);

/// Solves T z = w in place for a factored T.
void solve_factored(const SmallMatrix& T, double* z);

}  // namespace hyperatom
