#include "hyperatom/coding/row_products.hpp"

#include <algorithm>
#include <limits>

#include "hyperatom/base/simd.hpp"
#include "hyperatom/coding/constant.hpp"

namespace hyperatom {
namespace {

using simd::Pack;

constexpr int group = 6;  // rows at a time: their sums of two packs each fill the registers
static_assert(AtomGram::block == 2 * simd::width);

/// Two packs at p, of which `count` values exist.
struct Block {
  Pack low, high;
  Block(const double* p, Index count) {
    if (count >= AtomGram::block) {
      low = simd::load(p);
      high = simd::load(p + simd::width);
    } else if (count > simd::width) {
      low = simd::load(p);
      high = simd::load_part(p + simd::width, count - simd::width);
    } else {
      low = count == simd::width ? simd::load(p) : simd::load_part(p, count);
      high = Pack{};
    }
  }
};

/// For one block of columns j: target_i[j] = sum_s factors(i, s) B(j, s) of `rows` rows i.
template <int rows>
void multiply_block(const Columns& B, Index first, Index count, const double* factors, Index stride,
                    double* target) {
  Pack sums[rows][2];
  simd::clear(sums);
  for (Index s = 0; s < B.cols(); ++s) {
    const Block b(B.col(s) + first, count);
#pragma GCC unroll 6
    for (int i = 0; i < rows; ++i) {
      const Pack factor = simd::broadcast(factors[s * group + i]);
      sums[i][0] = simd::multiply_add(factor, b.low, sums[i][0]);
      sums[i][1] = simd::multiply_add(factor, b.high, sums[i][1]);
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < rows; ++i) {
    simd::store(target + i * stride + first, sums[i][0]);
    simd::store(target + i * stride + first + simd::width, sums[i][1]);
  }
}

/// sums_i = sum_w M(w, first + i) X_w over `depth` rows X_w of a block; x(w) says where they are.
template <int count, class Rows>
void combine(const SmallMatrix& M, Index first, Index depth, const Rows& x,
             Pack (&sums)[count][2]) {
  simd::clear(sums);
  for (Index w = 0; w < depth; ++w) {
    const double* row = x(w);
    const Pack low = simd::load(row), high = simd::load(row + simd::width);
    const double* m = M.row(w) + first;
#pragma GCC unroll 6
    for (int i = 0; i < count; ++i) {
      const Pack factor = simd::broadcast(m[i]);
      sums[i][0] = simd::multiply_add(factor, low, sums[i][0]);
      sums[i][1] = simd::multiply_add(factor, high, sums[i][1]);
    }
  }
}

/// work.operator()<count>(first) for all of m rows, `group` at a time at most and nearly as many
/// each time.
template <class Work>
void by_groups(Index m, const Work& work) {
  const Index parts = (m + group - 1) / group;
  for (Index part = 0; part < parts; ++part) {
    const Index first = part * m / parts;
    with_constant<1, group>((part + 1) * m / parts - first,
                            [&]<int n> { work.template operator()<n>(first); });
  }
}

}  // namespace

void RowProducts::begin(const Columns& B) {
  B_ = &B;
  const Index d = B.rows();
  stride_ = (d + AtomGram::block - 1) / AtomGram::block * AtomGram::block;
  place_.resize(at(d), -1);
  for (const Index row : known_) place_[at(row)] = -1;
  known_.clear();
  squares_.resize(at(stride_));
  Pack largest = {};
  for (Index column = 0; column < d; column += AtomGram::block) {
    Pack low = {}, high = {};
    for (Index s = 0; s < B.cols(); ++s) {
      const Block b(B.col(s) + column, d - column);
      low = simd::multiply_add(b.low, b.low, low);
      high = simd::multiply_add(b.high, b.high, high);
    }
    simd::store(squares_.data() + column, low);
    simd::store(squares_.data() + column + simd::width, high);
    largest = low > largest ? low : largest;
    largest = high > largest ? high : largest;
  }
  rounding_ = 4 * std::numeric_limits<double>::epsilon() * simd::largest(largest);
}

void RowProducts::require(std::span<const Index> rows) {
  const Index d = B_->rows(), S = B_->cols();
  const Index before = static_cast<Index>(known_.size());
  for (const Index row : rows) {
    if (place_[at(row)] >= 0) continue;
    place_[at(row)] = static_cast<Index>(known_.size());
    known_.push_back(row);
  }
  const Index after = static_cast<Index>(known_.size());
  if (values_.size() < at(after * stride_)) values_.resize(at(after * stride_));
  factors_.resize(at(S * group));
  for (Index first = before; first < after; first += group) {
    const Index count = std::min<Index>(group, after - first);
    for (Index s = 0; s < S; ++s)
      for (Index i = 0; i < count; ++i)
        factors_[at(s * group + i)] = (*B_)(known_[at(first + i)], s);
    double* target = values_.data() + first * stride_;
    with_constant<1, group>(count, [&]<int n> {
      for (Index column = 0; column < d; column += AtomGram::block)
        multiply_block<n>(*B_, column, d - column, factors_.data(), stride_, target);
    });
  }
}

double RowProducts::residual_row_squares(const AtomGram& K, std::span<const Index> rows,
                                         const SmallMatrix& M, const SmallMatrix& C,
                                         std::vector<double>& squares) {
  constexpr Index block = AtomGram::block;
  const Index m = static_cast<Index>(rows.size()), d = K.size();
  squares.resize(at(d));
  representation_.resize(at(m * block));
  double* h = representation_.data();
  Pack most = {};  // 1 + sum_i |h_ij|, of all j the largest
  for (Index column = 0; column < d; column += block) {
    by_groups(m, [&]<int n>(Index first) {
      Pack sums[n][2];
      combine(
          M, first, m, [&](Index w) { return K.col(rows[at(w)]) + column; }, sums);
#pragma GCC unroll 6
      for (int i = 0; i < n; ++i) {
        simd::store(h + (first + i) * block, sums[i][0]);
        simd::store(h + (first + i) * block + simd::width, sums[i][1]);
      }
    });
    // C h, not (C M) K: what is wrong with h then does not matter, while entries of C M are large
    // and cancel.
    Pack low = simd::load(squares_.data() + column);
    Pack high = simd::load(squares_.data() + column + simd::width);
    Pack sizes[2] = {simd::broadcast(1), simd::broadcast(1)};
    by_groups(m, [&]<int n>(Index first) {
      Pack sums[n][2];
      combine(
          C, first, m, [&](Index w) { return h + w * block; }, sums);
#pragma GCC unroll 6
      for (int i = 0; i < n; ++i) {
        const double *c = row(rows[at(first + i)]) + column, *own = h + (first + i) * block;
        const Pack c0 = simd::load(c), c1 = simd::load(c + simd::width);
        const Pack h0 = simd::load(own), h1 = simd::load(own + simd::width);
        low = simd::multiply_add(h0, sums[i][0] - (c0 + c0), low);
        high = simd::multiply_add(h1, sums[i][1] - (c1 + c1), high);
        sizes[0] += h0 < 0 ? -h0 : h0;
        sizes[1] += h1 < 0 ? -h1 : h1;
      }
    });
    for (const Pack& size : sizes) most = size > most ? size : most;
    double found[block];
    simd::store(found, low);
    simd::store(found + simd::width, high);
    std::copy_n(found, std::min(block, d - column), squares.data() + column);
  }
  return simd::largest(most);
}

}  // namespace hyperatom
