#include "hyperatom/coding/residual.hpp"

#include <algorithm>

#include "hyperatom/base/simd_wide.hpp"
#include "hyperatom/coding/constant.hpp"

namespace hyperatom {
namespace {

using simd::Pack;

/// Adds the squares of `cols` columns of G to `packs` packs of rows starting at `row`.
template <int packs, int cols>
void add_squares(const AtomGram& K, const double* const* b, std::span<const Index> rows,
                 const SmallMatrix& A, Index row, Index first, Pack* squares) {
  Pack g[cols][packs];
#pragma GCC unroll 6
  for (int c = 0; c < cols; ++c)
#pragma GCC unroll 4
    for (int p = 0; p < packs; ++p) g[c][p] = simd::load(b[c] + p * simd::width);
  for (size_t w = 0; w < rows.size(); ++w) {
    const double* k = K.col(rows[w]) + row;
    __builtin_prefetch(k + 4 * AtomGram::block);  // too many columns for the processor to foresee
    if (packs == 4) __builtin_prefetch(k + 5 * AtomGram::block);
    Pack ks[packs];
#pragma GCC unroll 4
    for (int p = 0; p < packs; ++p) ks[p] = simd::load(k + p * simd::width);
    const double* a = A.row(static_cast<Index>(w)) + first;
#pragma GCC unroll 6
    for (int c = 0; c < cols; ++c) {
      const Pack ac = simd::broadcast(a[c]);
#pragma GCC unroll 4
      for (int p = 0; p < packs; ++p) g[c][p] = simd::subtract_product(g[c][p], ac, ks[p]);
    }
  }
#pragma GCC unroll 6
  for (int c = 0; c < cols; ++c)
#pragma GCC unroll 4
    for (int p = 0; p < packs; ++p) squares[p] = simd::multiply_add(g[c][p], g[c][p], squares[p]);
}

#ifdef HYPERATOM_WIDE
constexpr Index wide_height = 16;  // rows: two registers

/// As add_squares(), of wide_height rows.
template <int cols>
HYPERATOM_WIDE [[gnu::noinline]] void add_squares_wide(const AtomGram& K, const double* const* b,
                                                       std::span<const Index> rows,
                                                       const SmallMatrix& A, Index row, Index first,
                                                       double* squares) {
  using simd::Wide;
  Wide g[cols][2];
#pragma GCC unroll 12
  for (int c = 0; c < cols; ++c)
#pragma GCC unroll 2
    for (int p = 0; p < 2; ++p) g[c][p] = simd::load_wide(b[c] + 8 * p);
  for (size_t w = 0; w < rows.size(); ++w) {
    const double* k = K.col(rows[w]) + row;
    __builtin_prefetch(k + 4 * AtomGram::block);
    __builtin_prefetch(k + 5 * AtomGram::block);
    const Wide ks[2] = {simd::load_wide(k), simd::load_wide(k + 8)};
    const double* a = A.row(static_cast<Index>(w)) + first;
#pragma GCC unroll 12
    for (int c = 0; c < cols; ++c) {
      const simd::Pack pack = simd::broadcast(a[c]);
      const Wide ac = simd::both(pack, pack);
#pragma GCC unroll 2
      for (int p = 0; p < 2; ++p) g[c][p] = simd::subtract_product(g[c][p], ac, ks[p]);
    }
  }
#pragma GCC unroll 2
  for (int p = 0; p < 2; ++p) {
    Wide sum = simd::load_wide(squares + 8 * p);
#pragma GCC unroll 12
    for (int c = 0; c < cols; ++c) sum = simd::multiply_add(g[c][p], g[c][p], sum);
    simd::store(squares + 8 * p, sum);
  }
}

/// The first of the rows, as many as wide registers are good for; how many.
Index wide_squares(const AtomGram& K, const Columns& B, std::span<const Index> rows,
                   const SmallMatrix& A, double* squares) {
  constexpr int group = 12;  // columns, whose sums fill 24 of 32 registers
  const Index parts = (B.cols() + group - 1) / group;
  Index row = 0;
  for (; row + wide_height <= K.size(); row += wide_height) {
    std::fill_n(squares + row, wide_height, 0.0);
    const double* b[group];
    for (Index part = 0; part < parts; ++part) {
      const Index s = part * B.cols() / parts, cols = (part + 1) * B.cols() / parts - s;
      for (Index c = 0; c < cols; ++c) b[c] = B.col(s + c) + row;
      with_constant<1, group>(
          cols, [&]<int n> { add_squares_wide<n>(K, b, rows, A, row, s, squares + row); });
    }
  }
  return row;
}
#endif

}  // namespace

void residual_row_squares(const AtomGram& K, const Columns& B, std::span<const Index> rows,
                          const SmallMatrix& A, std::vector<double>& squares) {
  static_assert(AtomGram::block == 2 * simd::width);
  const Index d = K.size();
  squares.resize(static_cast<size_t>(d));
  Index row = 0;
#ifdef HYPERATOM_WIDE
  if (simd::has_wide()) row = wide_squares(K, B, rows, A, squares.data());
#endif
  const auto take = [&]<int packs> {
    constexpr int group = 12 / packs;  // twelve sums in the sixteen registers
    constexpr Index height = packs * simd::width;
    const Index parts = (B.cols() + group - 1) / group;  // of nearly equal size
    const Index count = std::min(height, d - row);
    Pack sums[packs] = {};
    double padded[group][height];  // the last block of B is shorter
    if (count < height) std::fill_n(padded[0], group * height, 0.0);
    const double* b[group];
    for (Index part = 0; part < parts; ++part) {
      const Index s = part * B.cols() / parts, cols = (part + 1) * B.cols() / parts - s;
      for (Index c = 0; c < cols; ++c) {
        b[c] = B.col(s + c) + row;
        if (count < height) {
          std::copy_n(b[c], count, padded[c]);
          b[c] = padded[c];
        }
      }
      with_constant<1, group>(cols,
                              [&]<int n> { add_squares<packs, n>(K, b, rows, A, row, s, sums); });
    }
    double block[height];
    for (int p = 0; p < packs; ++p) simd::store(block + p * simd::width, sums[p]);
    std::copy_n(block, count, squares.data() + row);
    row += height;
  };
  // Few columns by tall blocks, which multiply more with every number of A that they read; many by
  // wide ones, which pass over K less often.
  if (B.cols() <= 12)
    while (row + 2 * AtomGram::block <= d) take.template operator()<4>();
  while (row < d) take.template operator()<2>();
}

}  // namespace hyperatom
