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
  Pack sums[rows][packs];
  simd::clear(sums);
  const Index depth = A.cols(), left = A.stride(), down = B.stride(), across = C.stride();
  const double *a = A.row(i), *b = B.row(0) + j;
  for (Index k = 0; k < depth; ++k, b += down) {
    Pack right[packs];
#pragma GCC unroll 3
    for (int p = 0; p < packs; ++p) right[p] = simd::load(b + p * simd::width);
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      const Pack factor = simd::broadcast(a[r * left + k]);
#pragma GCC unroll 3
      for (int p = 0; p < packs; ++p) sums[r][p] = simd::multiply_add(factor, right[p], sums[r][p]);
    }
  }
  double* c = C.row(i) + j;
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 3
    for (int p = 0; p < packs; ++p) simd::store(c + r * across + p * simd::width, sums[r][p]);
}

/// `rows` rows of A B, from column j on.
template <int rows>
void strip(const SmallMatrix& A, const SmallMatrix& B, SmallMatrix& C, Index i, Index j = 0) {
  const auto packs = [&] { return (C.stride() - j) / simd::width; };
  for (; packs() == 3 || packs() > 4; j += 3 * simd::width) tile<rows, 3>(A, B, C, i, j);
  for (; packs() >= 2; j += 2 * simd::width) tile<rows, 2>(A, B, C, i, j);
  if (packs() == 1) tile<rows, 1>(A, B, C, i, j);
}

/// L D L' of four rows and columns.
struct Pivot4 {
  double lower[4][4];  // L below its diagonal of ones
  double inverse[4];   // of D

  /// Of the block of M that begins at `first`. False when it is not positive definite.
  bool factor(const SmallMatrix& M, Index first) {
    double d[4][4];
    for (int q = 0; q < 4; ++q)
      for (int r = q; r < 4; ++r) d[q][r] = M(first + q, first + r);
    for (int q = 0; q < 4; ++q) {
      if (!(d[q][q] > 0) || !std::isfinite(d[q][q])) return false;
      inverse[q] = 1 / d[q][q];
      for (int r = q + 1; r < 4; ++r) {
        lower[r][q] = d[q][r] * inverse[q];
        for (int c = r; c < 4; ++c) d[r][c] -= lower[r][q] * d[q][c];
      }
    }
    return true;
  }

  /// L^-1 times four rows.
  void eliminate(Pack (&rows)[4]) const {
    for (int q = 0; q < 3; ++q)
      for (int r = q + 1; r < 4; ++r)
        rows[r] = simd::subtract_product(rows[r], simd::broadcast(lower[r][q]), rows[q]);
  }

  /// D^-1 times four rows.
  void scale(Pack (&rows)[4]) const {
    for (int q = 0; q < 4; ++q) rows[q] *= simd::broadcast(inverse[q]);
  }

  /// L^-T times four rows.
  void substitute(Pack (&rows)[4]) const {
    for (int r = 3; r > 0; --r)
      for (int q = 0; q < r; ++q)
        rows[q] = simd::subtract_product(rows[q], simd::broadcast(lower[r][q]), rows[r]);
  }
};

constexpr Index most_swept = 96;  // rows; from there on the blocked routines of Eigen win

/// Four rows of M, whole.
using Panel = double[4][most_swept];

void load_block(const SmallMatrix& M, Index row, Index column, Pack (&block)[4]) {
  for (int q = 0; q < 4; ++q) block[q] = simd::load(M.row(row + q) + column);
}

void store_block(SmallMatrix& M, Index row, Index column, const Pack (&block)[4]) {
  for (int q = 0; q < 4; ++q) simd::store(M.row(row + q) + column, block[q]);
}

/// M(i, j) -= sum_q scaled(q, i) panel(q, j) for a pair of rows i and the columns from `begin` to
/// `end`.
void subtract_panels(SmallMatrix& M, const Panel& scaled, const Panel& panel, Index i, Index begin,
                     Index end) {
  Pack f[4], g[4];
  for (int q = 0; q < 4; ++q) {
    f[q] = simd::broadcast(scaled[q][i]);
    g[q] = simd::broadcast(scaled[q][i + 1]);
  }
  double *upper = M.row(i), *lower = M.row(i + 1);
  for (Index column = begin; column < end; column += simd::width) {
    Pack u = simd::load(upper + column), v = simd::load(lower + column);
    for (int q = 0; q < 4; ++q) {
      const Pack pivot = simd::load(panel[q] + column);
      u = simd::subtract_product(u, f[q], pivot);
      v = simd::subtract_product(v, g[q], pivot);
    }
    simd::store(upper + column, u);
    simd::store(lower + column, v);
  }
}

/// The sweep operator, four pivots b at a time, on the blocks of the upper triangle:
///
///   M_bb = -M_bb^-1      M_bj = M_bb^-1 M_bj      M_ij -= M_ib M_bb^-1 M_bj,
///
/// with M_bb = L D L', so that rounding does what it does in elimination by one pivot after
/// another; without a choice among them, which is safe for a positive definite matrix. M stays
/// symmetric; when all have been pivots it is minus the inverse. Nothing but whole packs is
/// written: one that is read after a single number of it was written has to wait for it.
bool invert_in_place(SmallMatrix& M) {
  static_assert(simd::width == 4);
  M.pad_with_identity();
  const Index n = M.stride();
  alignas(32) Panel panel, scaled, swept;  // L^-1 M_b, D^-1 of it, M_bb^-1 M_b
  Pivot4 pivot;
  for (Index first = 0; first < n; first += 4) {
    if (!pivot.factor(M, first)) return false;
    for (Index column = 0; column < n; column += 4) {
      Pack block[4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
      if (column < first) {
        load_block(M, column, first, block);
        simd::transpose(block);
      } else if (column > first) {
        load_block(M, first, column, block);
      }
      pivot.eliminate(block);
      for (int q = 0; q < 4; ++q) simd::store(panel[q] + column, block[q]);
      pivot.scale(block);
      for (int q = 0; q < 4; ++q) simd::store(scaled[q] + column, block[q]);
      pivot.substitute(block);
      for (int q = 0; q < 4; ++q) simd::store(swept[q] + column, block[q]);
    }
    for (Index i = 0; i < n; i += 2) {
      const Index block = i / 4 * 4;
      if (block < first) subtract_panels(M, scaled, panel, i, block, first);
      if (block != first) subtract_panels(M, scaled, panel, i, std::max(block, first + 4), n);
    }
    for (Index column = 0; column < n; column += 4) {
      Pack block[4];
      for (int q = 0; q < 4; ++q) block[q] = simd::load(swept[q] + column);
      if (column < first) {
        simd::transpose(block);
        store_block(M, column, first, block);
      } else {
        if (column == first)
          for (Pack& row : block) row = -row;
        store_block(M, first, column, block);
      }
    }
  }
  for (Index row = 0; row < n; row += 4)
    for (Index column = row; column < n; column += 4) {
      Pack block[4];
      load_block(M, row, column, block);
      for (Pack& each : block) each = -each;
      store_block(M, row, column, block);
      if (column == row) continue;
      simd::transpose(block);
      store_block(M, column, row, block);
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

void SmallMatrix::pad_with_identity() {
  const Index rows = rows_;
  set_rows(stride_);
  for (Index i = rows; i < stride_; ++i) {
    std::fill_n(row(i), stride_, 0.0);
    row(i)[i] = 1;
  }
  rows_ = rows;
}

void multiply(const SmallMatrix& A, const SmallMatrix& B, SmallMatrix& C) {
  C.reshape(A.rows(), B.cols());
  Index i = 0;
  for (; i + 4 <= A.rows(); i += 4) strip<4>(A, B, C, i);
  for (; i + 2 <= A.rows(); i += 2) strip<2>(A, B, C, i);
  if (i < A.rows()) strip<1>(A, B, C, i);
}

void multiply_symmetric(const SmallMatrix& A, const SmallMatrix& B, SmallMatrix& C) {
  const Index m = A.rows();
  C.reshape(m, m);
  Index i = 0;
  for (; i + 4 <= m; i += 4) strip<4>(A, B, C, i, i);
  const Index whole = i;
  for (; i + 2 <= m; i += 2) strip<2>(A, B, C, i, whole);
  if (i < m) strip<1>(A, B, C, i, whole);
  for (i = 0; i < whole; i += 4) {
    for (Index j = i + 4; j < m; j += 4) {
      Pack block[4];
      load_block(C, i, j, block);
      simd::transpose(block);
      for (Index q = 0; q < std::min<Index>(4, m - j); ++q) simd::store(C.row(j + q) + i, block[q]);
    }
  }
}

void transpose(const SmallMatrix& A, SmallMatrix& B) {
  B.reshape(simd::round_up(A.cols()), A.rows());
  for (Index i = 0; i < A.rows(); i += simd::width)
    for (Index j = 0; j < A.cols(); j += simd::width) {
      Pack block[simd::width];
      for (int q = 0; q < simd::width; ++q)
        block[q] = i + q < A.rows() ? simd::load(A.row(i + q) + j) : Pack{};
      simd::transpose(block);
      store_block(B, j, i, block);
    }
}

void multiply_by_transpose(const SmallMatrix& A, SmallMatrix& scratch, SmallMatrix& C) {
  transpose(A, scratch);
  multiply_symmetric(A, scratch, C);
}

bool invert_spd(SmallMatrix& M) {
  return M.rows() <= most_swept ? invert_in_place(M) : invert_large(M);
}

Pivots factor_psd(SmallMatrix& T, double vanishing, double floor) {
  const Index m = T.rows();
  Pivots result;
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  // Row k becomes D_kk L'_k, but for its first entry; own entries of the diagonal are kept aside.
  double few[64];
  std::vector<double> many(static_cast<size_t>(m > 64 ? m : 0));
  double* own = m > 64 ? many.data() : few;
  for (Index k = 0; k < m; ++k) own[k] = T(k, k);
  for (Index first = 0; first < m; first += 4) {
    const Index end = std::min(first + 4, m);
    double inverse[4] = {};
    for (Index k = first; k < end; ++k) {
      const double* pivot_row = T.row(k);
      double pivot = pivot_row[k];
      if (!(pivot > vanishing * own[k])) {
        ++result.dependent;
        pivot = floor * own[k];
        if (!(pivot > 0)) continue;
      }
      smallest = std::min(smallest, pivot);
      largest = std::max(largest, pivot);
      inverse[k - first] = 1 / pivot;
      for (Index i = k + 1; i < end; ++i)
        subtract(T.row(i) + first, pivot_row[i] * inverse[k - first], pivot_row + first,
                 T.stride() - first);
    }
    for (Index k = first; k < end; ++k) T(k, k) = inverse[k - first];
    for (Index i = end; i < m; ++i) {
      const Index from = i / simd::width * simd::width;
      Pack factor[4];
      for (int q = 0; q < 4; ++q) factor[q] = simd::broadcast(T(first + q, i) * inverse[q]);
      double* row = T.row(i);
      for (Index column = from; column < T.stride(); column += simd::width) {
        Pack sum = simd::load(row + column);
        for (int q = 0; q < 4; ++q)
          sum = simd::subtract_product(sum, factor[q], simd::load(T.row(first + q) + column));
        simd::store(row + column, sum);
      }
    }
  }
  if (largest > 0) result.condition = largest / smallest;
  return result;
}

void substitute_back(const SmallMatrix& T, double* z) {
  const Index m = T.rows();
  for (Index i = m; i < T.stride(); ++i) z[i] = 0;
  for (Index first = (m - 1) / 4 * 4; first >= 0; first -= 4) {
    const Index end = std::min(first + 4, m);
    Pack sums[4];
    simd::clear(sums);
    for (Index column = first + 4; column < T.stride(); column += simd::width) {
      const Pack known = simd::load(z + column);
      for (Index k = first; k < end; ++k)
        sums[k - first] = simd::multiply_add(simd::load(T.row(k) + column), known, sums[k - first]);
    }
    simd::transpose(sums);
    const Pack sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (Index k = end - 1; k >= first; --k) {
      double rest = sum[k - first];
      for (Index j = k + 1; j < first + 4; ++j) rest += T(k, j) * z[j];
      z[k] = (T(k, m) - rest) * T(k, k);
    }
  }
}

void solve_factored(const SmallMatrix& T, double* z) {
  const Index m = T.rows();
  const Index whole = m / simd::width * simd::width;  // entries of z in whole packs
  for (Index k = 0; k < m; ++k) {
    if (T(k, k) == 0) continue;
    const double factor = z[k] * T(k, k);
    const double* row = T.row(k);
    Index i = k + 1;
    for (; i < m && i % simd::width != 0; ++i) z[i] -= factor * row[i];
    if (i < whole) subtract(z + i, factor, row + i, whole - i);
    for (i = std::max(i, whole); i < m; ++i) z[i] -= factor * row[i];
  }
  for (Index k = m - 1; k >= 0; --k) {
    if (T(k, k) == 0) {
      z[k] = 0;
      continue;
    }
    const double* row = T.row(k);
    double sum = 0;
    Index j = k + 1;
    for (; j < m && j % simd::width != 0; ++j) sum += row[j] * z[j];
    if (j < whole) sum += dot(row + j, z + j, whole - j);
    for (j = std::max(j, whole); j < m; ++j) sum += row[j] * z[j];
    z[k] = (z[k] - sum) * row[k];
  }
}

}  // namespace hyperatom
