#include "hyperatom/base/inner_products.hpp"

#include <algorithm>
#include <cstdint>

#include "hyperatom/base/simd_wide.hpp"

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

/// simd::sum() of four at a time.
inline void store_sums(Pack (&sums)[4], double* to) {
  simd::transpose(sums);
  simd::store(to, (sums[0] + sums[2]) + (sums[1] + sums[3]));
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
    if constexpr (rows == 4) {
      store_sums(sums[j], k + j * k_stride);
    } else {
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) k[j * k_stride + i] = simd::sum(sums[j][i]);
    }
  }
}

#ifdef HYPERATOM_WIDE
using simd::Wide;

/// Four doubles at p, or the `left` that there are, twice.
template <bool part>
HYPERATOM_WIDE inline Wide twice(const double* p, Index left) {
  if constexpr (part) {
    const Pack v = simd::load_part(p, left);
    return simd::both(v, v);
  } else {
    Wide result;
    asm("vbroadcastf64x4 %1, %0"
        : "=v"(result)
        : "m"(*reinterpret_cast<const simd::LoosePack*>(p)));
    return result;
  }
}

/// As accumulate() with columns in pairs.
template <bool part>
HYPERATOM_WIDE inline void wide_accumulate(Wide (&sums)[3][4], const double* x, Index x_stride,
                                           const double* y, Index y_stride, Index left) {
  const auto load = [left](const double* p) {
    if constexpr (part)
      return simd::load_part(p, left);
    else
      return simd::load(p);
  };
  Wide xs[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) xs[i] = twice<part>(x + i * x_stride, left);
#pragma GCC unroll 3
  for (int j = 0; j < 3; ++j) {
    const double* const pair = y + 2 * j * y_stride;
    const Wide ys = simd::both(load(pair), load(pair + y_stride));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) sums[j][i] = simd::multiply_add(xs[i], ys, sums[j][i]);
  }
}

/// 4 x 6 entries, where the processor has registers for two packs: each holds those of two columns
/// of Y, so that every lane adds up the same products in the same order as in tile().
HYPERATOM_WIDE [[gnu::noinline]] void wide_tile(const double* x, Index x_stride, const double* y,
                                                Index y_stride, Index bands, double* k,
                                                Index k_stride) {
  Wide sums[3][4];
  simd::clear(sums);
  Index b = 0;
  for (; b + simd::width <= bands; b += simd::width)
    wide_accumulate<false>(sums, x + b, x_stride, y + b, y_stride, simd::width);
  if (b < bands) wide_accumulate<true>(sums, x + b, x_stride, y + b, y_stride, bands - b);
#pragma GCC unroll 3
  for (int j = 0; j < 3; ++j) {
    Pack low[4], high[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      low[i] = __builtin_shufflevector(sums[j][i], sums[j][i], 0, 1, 2, 3);
      high[i] = __builtin_shufflevector(sums[j][i], sums[j][i], 4, 5, 6, 7);
    }
    store_sums(low, k + 2 * j * k_stride);
    store_sums(high, k + (2 * j + 1) * k_stride);
  }
}

#endif

template <int cols>
void panel(const double* x, Index x_stride, Index m, const double* y, Index y_stride, Index bands,
           double* k, Index k_stride) {
  Index i = 0;
  for (; i + 4 <= m; i += 4, x += 4 * x_stride)
    tile<4, cols>(x, x_stride, y, y_stride, bands, k + i, k_stride);
  if (m - i == 3) tile<3, cols>(x, x_stride, y, y_stride, bands, k + i, k_stride);
  if (m - i == 2) tile<2, cols>(x, x_stride, y, y_stride, bands, k + i, k_stride);
  if (m - i == 1) tile<1, cols>(x, x_stride, y, y_stride, bands, k + i, k_stride);
}

/// A side of the product. Columns whose packs lie across cache lines take up to 1.4 times as long:
/// where they are met often enough they are copied, with zeros up to whole packs.
class Side {
 public:
  Side(const MatrixView& columns, Index meetings, simd::Aligned& copy)
      : data_(columns.data()), stride_(columns.outerStride()) {
    constexpr Index enough = 16;
    padded_ = columns.rows() % simd::width == 0;
    const bool aligned =
        stride_ % simd::width == 0 && reinterpret_cast<std::uintptr_t>(data_) % sizeof(Pack) == 0;
    if (aligned || meetings < enough) return;
    const Index bands = columns.rows(), whole = bands / simd::width * simd::width;
    const Index stride = simd::round_up(bands);
    if (copy.size() < at(stride * columns.cols())) copy.resize(at(stride * columns.cols()));
    double* to = copy.data();
    for (Index j = 0; j < columns.cols(); ++j, to += stride) {
      const double* from = data_ + j * stride_;
      for (Index b = 0; b < whole; b += simd::width) simd::store(to + b, simd::load(from + b));
      if (whole < bands) simd::store(to + whole, simd::load_part(from + whole, bands - whole));
    }
    data_ = copy.data();
    stride_ = stride;
    padded_ = true;
  }

  const double* column(Index j) const { return data_ + j * stride_; }
  Index stride() const { return stride_; }
  /// Whether there are no bands beyond whole packs, or zeros after them.
  bool padded() const { return padded_; }

 private:
  const double* data_;
  Index stride_;
  bool padded_;
};

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
  thread_local simd::Aligned x_copy, y_copy;
  const Side y(Y, X.cols(), y_copy);
  // Atoms are taken in groups that stay in the first-level cache while all pixels pass by.
  constexpr Index cache = 20 * 1024 / sizeof(double);
  const Index group = std::max<Index>(4, cache / std::max<Index>(X.rows(), 1) / 4 * 4);
  for (Index i = 0; i < X.cols(); i += group) {
    const Index rows = std::min(group, X.cols() - i);
    const Side x(X.middleCols(i, rows), Y.cols(), x_copy);
    const Index bands = x.padded() && y.padded() ? simd::round_up(X.rows()) : X.rows();
    Index j = 0;
#ifdef HYPERATOM_WIDE
    if (simd::has_wide())
      for (; j + 6 <= Y.cols(); j += 6) {
        Index r = 0;
        for (; r + 4 <= rows; r += 4)
          wide_tile(x.column(r), x.stride(), y.column(j), y.stride(), bands, &K(i + r, j),
                    K.outerStride());
        if (r < rows)
          for (const Index half : {j, j + 3})
            panel<3>(x.column(r), x.stride(), rows - r, y.column(half), y.stride(), bands,
                     &K(i + r, half), K.outerStride());
      }
#endif
    for (; j + 3 <= Y.cols(); j += 3)
      panel<3>(x.column(0), x.stride(), rows, y.column(j), y.stride(), bands, &K(i, j),
               K.outerStride());
    for (; j < Y.cols(); ++j)
      panel<1>(x.column(0), x.stride(), rows, y.column(j), y.stride(), bands, &K(i, j),
               K.outerStride());
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
