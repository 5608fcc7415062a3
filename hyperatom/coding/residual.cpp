#include "hyperatom/coding/residual.hpp"

#include <algorithm>

#include "hyperatom/base/simd.hpp"
#include "hyperatom/coding/constant.hpp"

namespace hyperatom {
namespace {

using simd::Pack;

/// Adds the squares of `cols` columns of G to the two packs of rows starting at `row`.
template <int cols>
void add_squares(const AtomGram& K, const double* const* b, std::span<const Index> rows,
                 const SmallMatrix& A, Index row, Index first, Pack& low, Pack& high) {
  Pack g[cols][2];
  for (int c = 0; c < cols; ++c) {
    g[c][0] = simd::load(b[c]);
    g[c][1] = simd::load(b[c] + simd::width);
  }
  for (size_t w = 0; w < rows.size(); ++w) {
    const double* k = K.col(rows[w]) + row;
    __builtin_prefetch(k + 4 * AtomGram::block);  // too many columns for the processor to foresee
    const Pack k0 = simd::load(k);
    const Pack k1 = simd::load(k + simd::width);
    const double* a = A.row(static_cast<Index>(w)) + first;
    for (int c = 0; c < cols; ++c) {
      const Pack ac = simd::broadcast(a[c]);
      g[c][0] = simd::subtract_product(g[c][0], ac, k0);
      g[c][1] = simd::subtract_product(g[c][1], ac, k1);
    }
  }
  for (int c = 0; c < cols; ++c) {
    low = simd::multiply_add(g[c][0], g[c][0], low);
    high = simd::multiply_add(g[c][1], g[c][1], high);
  }
}

}  // namespace

void residual_row_squares(const AtomGram& K, const Columns& B, std::span<const Index> rows,
                          const SmallMatrix& A, std::vector<double>& squares) {
  static_assert(AtomGram::block == 2 * simd::width);
  constexpr int group = 6;  // six columns of two packs each: twelve of the sixteen registers
  const Index d = K.size();
  const Index parts = (B.cols() + group - 1) / group;  // of nearly equal size
  squares.resize(static_cast<size_t>(d));
  for (Index row = 0; row < d; row += AtomGram::block) {
    const Index count = std::min(AtomGram::block, d - row);
    Pack low = {};
    Pack high = {};
    double padded[group][AtomGram::block];  // the last block of B is shorter than a pack
    if (count < AtomGram::block) std::fill_n(padded[0], group * AtomGram::block, 0.0);
    const double* b[group];
    for (Index part = 0; part < parts; ++part) {
      const Index s = part * B.cols() / parts, cols = (part + 1) * B.cols() / parts - s;
      for (Index c = 0; c < cols; ++c) {
        b[c] = B.col(s + c) + row;
        if (count < AtomGram::block) {
          std::copy_n(b[c], count, padded[c]);
          b[c] = padded[c];
        }
      }
      with_constant<1, group>(cols,
                              [&]<int n> { add_squares<n>(K, b, rows, A, row, s, low, high); });
    }
    double block[AtomGram::block];
    simd::store(block, low);
    simd::store(block + simd::width, high);
    std::copy_n(block, count, squares.data() + row);
  }
}

}  // namespace hyperatom
