#include "hyperatom/coding/small_matrix.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyperatom {
namespace {

using simd::Pack;

/// Above this size the blocked routines of Eigen win.
constexpr Index large = 64;

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
      for (int p = 0; p < packs; ++p) sums[r][p] += a * b[p];
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

/// target -= factor * source, from the pack that holds column `begin` to the end of the row.
inline void subtract(double* target, double factor, const double* source, Index begin,
                     Index stride) {
  const Pack f = simd::broadcast(factor);
  for (Index j = begin / simd::width * simd::width; j < stride; j += simd::width)
    simd::store(target + j, simd::load(target + j) - f * simd::load(source + j));
}

}  // namespace

void SmallMatrix::select_rows(const std::vector<Index>& keep) {
  for (size_t i = 0; i < keep.size(); ++i)
    if (keep[i] != static_cast<Index>(i))
      std::copy_n(row(keep[i]), stride_, row(static_cast<Index>(i)));
  rows_ = static_cast<Index>(keep.size());
  values_.resize(static_cast<size_t>(rows_ * stride_));
}

void SmallMatrix::append_row() {
  ++rows_;
  values_.resize(static_cast<size_t>(rows_ * stride_), 0.0);
}

double dot(const double* x, const double* y, Index length) {
  Pack sum = {};
  for (Index i = 0; i < length; i += simd::width) sum += simd::load(x + i) * simd::load(y + i);
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
  const Index m = M.rows();
  if (m > large) {
    StridedMap map(M.row(0), m, m, Eigen::OuterStride<>(M.stride()));
    const Eigen::LLT<Matrix> factor(map);
    if (factor.info() != Eigen::Success) return false;
    map = factor.solve(Matrix::Identity(m, m));
    return map.allFinite();
  }
  // Gauss-Jordan without pivoting, which is safe for a positive definite matrix.
  for (Index k = 0; k < m; ++k) {
    double* pivot_row = M.row(k);
    const double pivot = pivot_row[k];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    const Pack inverse = simd::broadcast(1 / pivot);
    pivot_row[k] = 1;
    for (Index j = 0; j < M.stride(); j += simd::width)
      simd::store(pivot_row + j, simd::load(pivot_row + j) * inverse);
    for (Index i = 0; i < m; ++i) {
      if (i == k) continue;
      const double factor = M(i, k);
      M(i, k) = 0;
      subtract(M.row(i), factor, pivot_row, 0, M.stride());
    }
  }
  return true;
}

Pivots factor_psd(SmallMatrix& T) {
  constexpr double vanishing = 1e-13;  // relative to the diagonal before elimination
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
    const double pivot = pivot_row[k];
    if (!(pivot > vanishing * own[static_cast<size_t>(k)])) {
      T(k, k) = 0;
      ++result.dependent;
      continue;
    }
    smallest = std::min(smallest, pivot);
    largest = std::max(largest, pivot);
    const double inverse = 1 / pivot;
    for (Index i = k + 1; i < m; ++i)
      subtract(T.row(i), pivot_row[i] * inverse, pivot_row, i, T.stride());
  }
  if (largest > 0) result.condition = largest / smallest;
  return result;
}

void solve_factored(const SmallMatrix& T, double* z) {
  const Index m = T.rows();
  for (Index k = 0; k < m; ++k) {
    if (T(k, k) == 0) continue;
    const double factor = z[k] / T(k, k);
    for (Index i = k + 1; i < m; ++i) z[i] -= factor * T(k, i);
  }
  for (Index k = m - 1; k >= 0; --k) {
    if (T(k, k) == 0) {
      z[k] = 0;
      continue;
    }
    double sum = z[k];
    for (Index j = k + 1; j < m; ++j) sum -= T(k, j) * z[j];
    z[k] = sum / T(k, k);
  }
}

}  // namespace hyperatom
