#include "hyperatom/coding/small_matrix.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyperatom {
namespace {

using simd::Pack;

using StridedMap = Eigen::Map<RowMatrix, 0, Eigen::OuterStride<>>;

/// `rows` x (4 * packs) entries of A B.
template <int rows, int packs>
void tile(const SmallMatrix& A, const SmallMatrix& B, SmallMatrix& C, Index i, Index j) {
  Pack sums[rows][packs] = {};
  const Index depth = A.cols();
  for (Index k = 0; k < depth; ++k) {
    Pack b[packs];
    for (int p = 0; p < packs; ++p) b[p] = simd::load(B.row(k) + j + p * simd::width);
    for (int r = 0; r < rows; ++r) {
      const Pack a = simd::broadcast(A(i + r, k));
      for (int p = 0; p < packs; ++p) sums[r][p] = simd::multiply_add(a, b[p], sums[r][p]);
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int p = 0; p < packs; ++p) simd::store(C.row(i + r) + j + p * simd::width, sums[r][p]);
}

template <int rows>
void strip(const SmallMatrix& A, const SmallMatrix& B, SmallMatrix& C, Index i) {
  Index j = 0;
  for (; j + 2 * simd::width <= C.stride(); j += 2 * simd::width) tile<rows, 2>(A, B, C, i, j);
  if (j < C.stride()) tile<rows, 1>(A, B, C, i, j);
}

/// Gauss-Jordan without pivoting, which is safe for a positive definite matrix. The pivot row stays
/// in `packs` registers.
template <int packs>
bool invert_in_place(SmallMatrix& M) {
  const Index m = M.rows();
  for (Index k = 0; k < m; ++k) {
    double* pivot_row = M.row(k);
    const double pivot = pivot_row[k];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    const Pack inverse = simd::broadcast(1 / pivot);
    pivot_row[k] = 1;
    Pack scaled[packs];
    for (int p = 0; p < packs; ++p) {
      scaled[p] = simd::load(pivot_row + p * simd::width) * inverse;
      simd::store(pivot_row + p * simd::width, scaled[p]);
    }
    for (Index i = 0; i < m; ++i) {
      if (i == k) continue;
      double* row = M.row(i);
      const Pack factor = simd::broadcast(row[k]);
      row[k] = 0;
      for (int p = 0; p < packs; ++p)
        simd::store(row + p * simd::width,
                    simd::subtract_product(simd::load(row + p * simd::width), factor, scaled[p]));
    }
  }
  return true;
}

bool invert_large(SmallMatrix& M) {
  const Index m = M.rows();
  StridedMap map(M.row(0), m, m, Eigen::OuterStride<>(M.stride()));
  if (!map.allFinite()) return false;
  const Eigen::LLT<Matrix> factor(map);
  if (factor.info() != Eigen::Success) return false;
  map = factor.solve(Matrix::Identity(m, m));
  return map.allFinite();
}

}  // namespace

void SmallMatrix::select_rows(const std::vector<Index>& keep) {
  for (size_t i = 0; i < keep.size(); ++i)
    if (keep[i] != static_cast<Index>(i))
      std::copy_n(row(keep[i]), stride_, row(static_cast<Index>(i)));
  rows_ = static_cast<Index>(keep.size());
}

void SmallMatrix::append_row() {
  set_rows(rows_ + 1);
  std::fill_n(row(rows_ - 1), stride_, 0.0);
}

double dot(const double* x, const double* y, Index length) {
  Pack sum = {};
  for (Index i = 0; i < length; i += simd::width)
    sum = simd::multiply_add(simd::load(x + i), simd::load(y + i), sum);
  return simd::sum(sum);
}

void multiply(const SmallMatrix& A, const SmallMatrix& B, SmallMatrix& C) {
  C.reshape(A.rows(), B.cols());
  Index i = 0;
  for (; i + 4 <= A.rows(); i += 4) strip<4>(A, B, C, i);
  for (; i + 2 <= A.rows(); i += 2) strip<2>(A, B, C, i);
  if (i < A.rows()) strip<1>(A, B, C, i);
}

void multiply_by_transpose(const SmallMatrix& A, SmallMatrix& scratch, SmallMatrix& C) {
  scratch.reshape(A.cols(), A.rows());
  for (Index i = 0; i < A.rows(); ++i)
    for (Index j = 0; j < A.cols(); ++j) scratch(j, i) = A(i, j);
  multiply(A, scratch, C);
}

bool invert_spd(SmallMatrix& M) {
  switch (M.stride() / simd::width) {
    case 0:
      return true;
    case 1:
      return invert_in_place<1>(M);
    case 2:
      return invert_in_place<2>(M);
    case 3:
      return invert_in_place<3>(M);
    case 4:
      return invert_in_place<4>(M);
    case 5:
      return invert_in_place<5>(M);
    case 6:
      return invert_in_place<6>(M);
    case 7:
      return invert_in_place<7>(M);
    case 8:
      return invert_in_place<8>(M);
    case 9:
      return invert_in_place<9>(M);
    case 10:
      return invert_in_place<10>(M);
    case 11:
      return invert_in_place<11>(M);
    case 12:
      return invert_in_place<12>(M);
    default:
      return invert_large(M);  // the blocked routines of Eigen win
  }
}

Pivots factor_psd(SmallMatrix& T, double vanishing, double floor) {
  const Index m = T.rows();
  Pivots result;
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  // Row k becomes D_kk L'_k; the lower triangle is left as it was, and its diagonal entries are
  // kept in `own`.
  std::vector<double> own(static_cast<size_t>(m));
  for (Index k = 0; k < m; ++k) own[static_cast<size_t>(k)] = T(k, k);
  for (Index k = 0; k < m; ++k) {
    const double* pivot_row = T.row(k);
    double pivot = pivot_row[k];
    if (!(pivot > vanishing * own[static_cast<size_t>(k)])) {
      ++result.dependent;
      T(k, k) = pivot = floor * own[static_cast<size_t>(k)];
      if (!(pivot > 0)) {
        T(k, k) = 0;
        continue;
      }
    }
    smallest = std::min(smallest, pivot);
    largest = std::max(largest, pivot);
    const double inverse = 1 / pivot;
    for (Index i = k + 1; i < m; ++i) {
      const Index from = i / simd::width * simd::width;
      subtract(T.row(i) + from, pivot_row[i] * inverse, pivot_row + from, T.stride() - from);
    }
  }
  if (largest > 0) result.condition = largest / smallest;
  return result;
}

void solve_factored(const SmallMatrix& T, double* z) {
  const Index m = T.rows();
  for (Index k = 0; k < m; ++k) {
    if (T(k, k) == 0) continue;
    const double factor = z[k] / T(k, k);
    const double* row = T.row(k);
    for (Index i = k + 1; i < m; ++i) z[i] -= factor * row[i];
  }
  for (Index k = m - 1; k >= 0; --k) {
    if (T(k, k) == 0) {
      z[k] = 0;
      continue;
    }
    const double* row = T.row(k);
    double sum = z[k];
    for (Index j = k + 1; j < m; ++j) sum -= row[j] * z[j];
    z[k] = sum / row[k];
  }
}

}  // namespace hyperatom
