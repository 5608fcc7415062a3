#include "hyperatom/base/inner_products.hpp"

#include <algorithm>

#include "hyperatom/base/simd.hpp"

namespace hyperatom {
namespace {

using simd::Pack;

/// Adds the products of one pack of bands to `rows` x `cols` running sums.
template <int rows, int cols, class Load>
inline void accumulate(Pack (&sums)[cols][rows], const double* x, Index x_stride, const double* y,
                       Index y_stride, const Load& load) {
  Pack xs[rows];
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i) xs[i] = load(x + i * x_stride);
#pragma GCC unroll 4
  for (int j = 0; j < cols; ++j) {
    const Pack yj = load(y + j * y_stride);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) sums[j][i] = simd::multiply_add(xs[i], yj, sums[j][i]);
  }
}

/// `rows` x `cols` entries at a time: twelve running sums fill the registers of AVX2. Not inlined:
/// where several kinds share one function the compiler keeps some of the sums in memory.
template <int rows, int cols>
[[gnu::noinline]] void tile(const double* x, Index x_stride, const double* y, Index y_stride,
                            Index bands, double* k, Index k_stride) {
  Pack sums[cols][rows];
  simd::clear(sums);
  Index b = 0;
  for (; b + simd::width <= bands; b += simd::width)
    accumulate<rows, cols>(sums, x + b, x_stride, y + b, y_stride, simd::load);
  if (b < bands)
    accumulate<rows, cols>(sums, x + b, x_stride, y + b, y_stride,
                           [&](const double* p) { return simd::load_part(p, bands - b); });
#pragma GCC unroll 4
  for (int j = 0; j < cols; ++j) {
    if constexpr (rows == 4) {  // simd::sum() of four at a time
      simd::transpose(sums[j]);
      simd::store(k + j * k_stride, (sums[j][0] + sums[j][2]) + (sums[j][1] + sums[j][3]));
    } else {
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) k[j * k_stride + i] = simd::sum(sums[j][i]);
    }
  }
}

template <int cols>
void panel(const MatrixView& X, const double* y, Index y_stride, double* k, Index k_stride) {
  const Index m = X.cols();
  const Index stride = X.outerStride();
  Index i = 0;
  for (; i + 4 <= m; i += 4)
    tile<4, cols>(X.data() + i * stride, stride, y, y_stride, X.rows(), k + i, k_stride);
  const double* rest = X.data() + i * stride;
  if (m - i == 3) tile<3, cols>(rest, stride, y, y_stride, X.rows(), k + i, k_stride);
  if (m - i == 2) tile<2, cols>(rest, stride, y, y_stride, X.rows(), k + i, k_stride);
  if (m - i == 1) tile<1, cols>(rest, stride, y, y_stride, X.rows(), k + i, k_stride);
}

/// Several at a time: one sum alone waits for itself.
template <int count>
void norms(const double* x, Index stride, Index bands, double* squares) {
  Pack sums[count];
  simd::clear(sums);
  Index b = 0;
  const auto add = [&](const auto& load) {
#pragma GCC unroll 4
    for (int i = 0; i < count; ++i) {
      const Pack xi = load(x + i * stride + b);
      sums[i] = simd::multiply_add(xi, xi, sums[i]);
    }
  };
  for (; b + simd::width <= bands; b += simd::width)
    add([](const double* p) { return simd::load(p); });
  if (b < bands) add([&](const double* p) { return simd::load_part(p, bands - b); });
#pragma GCC unroll 4
  for (int i = 0; i < count; ++i) squares[i] = simd::sum(sums[i]);
}

}  // namespace

void inner_products(const MatrixView& X, const MatrixView& Y, Eigen::Ref<Matrix> K) {
  eigen_assert(X.rows() == Y.rows() && K.rows() == X.cols() && K.cols() == Y.cols());
  // Atoms are taken in groups that stay in the first-level cache while all pixels pass by.
  constexpr Index cache = 20 * 1024 / sizeof(double);
  const Index group = std::max<Index>(4, cache / std::max<Index>(X.rows(), 1) / 4 * 4);
  for (Index i = 0; i < X.cols(); i += group) {
    const Index rows = std::min(group, X.cols() - i);
    const MatrixView part = X.middleCols(i, rows);
    Index j = 0;
    for (; j + 3 <= Y.cols(); j += 3)
      panel<3>(part, Y.data() + j * Y.outerStride(), Y.outerStride(), &K(i, j), K.outerStride());
    for (; j < Y.cols(); ++j)
      panel<1>(part, Y.data() + j * Y.outerStride(), Y.outerStride(), &K(i, j), K.outerStride());
  }
}

Vector squared_norms(const MatrixView& X) {
  Vector squares(X.cols());
  const Index stride = X.outerStride();
  Index i = 0;
  for (; i + 4 <= X.cols(); i += 4) norms<4>(X.data() + i * stride, stride, X.rows(), &squares[i]);
  for (; i < X.cols(); ++i) norms<1>(X.data() + i * stride, stride, X.rows(), &squares[i]);
  return squares;
}

}  // namespace hyperatom
