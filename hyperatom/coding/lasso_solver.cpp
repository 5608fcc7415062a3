#include "hyperatom/coding/lasso_solver.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "hyperatom/base/simd.hpp"
#include "hyperatom/base/simd_float.hpp"
#include "hyperatom/coding/constant.hpp"
#include "hyperatom/coding/small_matrix.hpp"

namespace hyperatom {
namespace {

using simd::FloatPack;
using simd::IntPack;
using simd::Pack;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Updates of the inverse after which it is built anew, before rounding errors add up.
constexpr int most_updates = 1000;

/// A row whose Schur complement is smaller than this, relative to its diagonal, depends on the
/// others.
constexpr double dependent = 1e-12;

/// A row outside W violates its bound where |g_j| is more than this times lambda1.
constexpr double violation = 1 + 1e-13;

/// Active rows, and products in g of all rows, from which violators are listed, and how many at
/// most.
constexpr Index many_rows = 5;
constexpr Index many_products = 8192;
constexpr size_t most_listed = 64;

/// With more atoms K does not stay in the caches, and the column of a row that enters is fetched at
/// once.
constexpr Index cached_atoms = 1500;

/// Packs of slots up to which loops over them are unrolled. Functions that have their number as an
/// argument of the template take 0 for any other.
constexpr int most_packs = 6;

/// A rough look sees a row that violates its bound where |g_j| is more than this times lambda1.
constexpr double rough_violation = 1 + 1e-4;

/// The places of a pack that begins at `first`.
IntPack places(Index first) { return IntPack{0, 1, 2, 3} + first; }

/// v where `mask` is set, else zero.
Pack only(IntPack mask, Pack v) { return (Pack)((IntPack)v & mask); }

/// The first of `length` places, whole packs, where `test` holds, as it must somewhere. Whole words
/// are searched, since where it is can't be foreseen.
template <class Test>
Index find(Index length, const Test& test) {
  for (Index first = 0;; first += 64) {
    std::uint64_t found = 0;
    const Index end = std::min<Index>(64, length - first);
#pragma GCC unroll 6
    for (Index k = 0; k < end; k += simd::width)
      found |= std::uint64_t{simd::bits(test(first + k))} << k;
    if (found != 0) return first + std::countr_zero(found);
  }
}

void flip(std::vector<std::uint64_t>& bits, Index i) {
  bits[at(i / 64)] ^= std::uint64_t{1} << (i % 64);
}

/// Calls f.operator()<n>(first) for blocks of n packs that cover `length` > 0 values: one block
/// where their number is known.
template <int packs, class F>
void by_packs(Index length, const F& f) {
  if constexpr (packs > 0) return f.template operator()<packs>(0);
  Index first = 0;
  for (; first + 4 * simd::width < length; first += 4 * simd::width)
    f.template operator()<4>(first);
  with_constant<1, 4>((length - first + simd::width - 1) / simd::width,
                      [&]<int n> { f.template operator()<n>(first); });
}

/// y = Q x over `length` values, whole packs. Q is symmetric, by rows of `stride`. Even and odd
/// rows have sums of their own: one alone waits for itself.
template <int packs>
inline void product(const double* Q, Index stride, const double* x, Index length, double* y) {
  by_packs<packs>(length, [=]<int n>(Index first) {
    Pack sums[2][n];
    simd::clear(sums);
    const double* q = Q + first;
    for (Index k = 0; k < length; k += simd::width, q += simd::width * stride)
#pragma GCC unroll 4
      for (int i = 0; i < simd::width; ++i) {
        const Pack factor = simd::broadcast(x[k + i]);
#pragma GCC unroll 6
        for (int p = 0; p < n; ++p)
          sums[i % 2][p] = simd::multiply_add(factor, simd::load(q + i * stride + p * simd::width),
                                              sums[i % 2][p]);
      }
#pragma GCC unroll 6
    for (int p = 0; p < n; ++p) simd::store(y + first + p * simd::width, sums[0][p] + sums[1][p]);
  });
}

/// Q += sum_c scaled_c x_c' over `length` values, whole packs, for `count` vectors in rows of
/// `stride`.
template <int packs, int count>
inline void update(double* Q, Index stride, const double* scaled, const double* x, Index length) {
  if constexpr (packs == 0) {  // row by row, as a large Q lies in memory
    for (Index i = 0; i < length; ++i)
      for (int c = 0; c < count; ++c)
        subtract(Q + i * stride, -scaled[c * stride + i], x + c * stride, length);
  } else {
    Pack xs[count][packs];
#pragma GCC unroll 2
    for (int c = 0; c < count; ++c)
#pragma GCC unroll 6
      for (int p = 0; p < packs; ++p) xs[c][p] = simd::load(x + c * stride + p * simd::width);
    for (Index k = 0; k < length; k += simd::width)
#pragma GCC unroll 4
      for (int i = 0; i < simd::width; ++i, Q += stride) {
        Pack factors[count];
#pragma GCC unroll 2
        for (int c = 0; c < count; ++c) factors[c] = simd::broadcast(scaled[c * stride + k + i]);
#pragma GCC unroll 6
        for (int p = 0; p < packs; ++p) {
          Pack sum = simd::load(Q + p * simd::width);
#pragma GCC unroll 2
          for (int c = 0; c < count; ++c) sum = simd::multiply_add(factors[c], xs[c][p], sum);
          simd::store(Q + p * simd::width, sum);
        }
      }
  }
}

/// `packs` packs of g = b - sum_i a_i columns_i, from `row` on, over `count` columns; their largest
/// magnitudes. Not inlined, and the compiler must not see what `row` adds to an address: it would
/// keep the address of every pack, more than there are registers.
template <int packs>
[[gnu::noinline]] Pack residual_block(const double* b, const double* const* columns,
                                      const double* a, Index count, Index row, double* g) {
  Pack sums[packs];
  b += row;
  g += row;
#pragma GCC unroll 12
  for (int p = 0; p < packs; ++p) sums[p] = simd::load(b + p * simd::width);
  const auto subtract_column = [&](Index i) {
    const double* column = columns[i] + row;
    asm("" : "+r"(column));
    const Pack coefficient = simd::broadcast(a[i]);
#pragma GCC unroll 12
    for (int p = 0; p < packs; ++p)
      sums[p] = simd::subtract_product(sums[p], coefficient, simd::load(column + p * simd::width));
  };
  Index k = 0;
  for (; k + simd::width <= count; k += simd::width)
#pragma GCC unroll 4
    for (int i = 0; i < simd::width; ++i) subtract_column(k + i);
  for (; k < count; ++k) subtract_column(k);
  Pack largest[2];
  simd::clear(largest);
#pragma GCC unroll 12
  for (int p = 0; p < packs; ++p) {
    largest[p % 2] = simd::larger(simd::magnitude(sums[p]), largest[p % 2]);
    simd::store(g + p * simd::width, sums[p]);
  }
  return simd::larger(largest[0], largest[1]);
}

/// g = from + scale sum_i x_i columns_i over `packs` packs and `count` columns, a multiple of four;
/// a row with the largest |g|, or -1 where that is not more than `bound`. Where registers
/// allow, even and odd columns have sums of their own.
template <int packs>
[[gnu::noinline]] Index rough_look(const float* const* columns, const float* x, Index count,
                                   float scale, const float* from, float bound, float* g) {
  constexpr int ways = packs <= 6 ? 2 : 1;
  FloatPack sums[ways][packs];
  simd::clear(sums);
  for (Index k = 0; k < count; k += simd::width)
#pragma GCC unroll 4
    for (int i = 0; i < simd::width; ++i) {
      const FloatPack factor = simd::broadcast(x[k + i]);
#pragma GCC unroll 12
      for (int p = 0; p < packs; ++p)
        sums[i % ways][p] = simd::multiply_add(
            factor, simd::load(columns[k + i] + p * simd::float_width), sums[i % ways][p]);
    }
  FloatPack largest[2];
  simd::clear(largest);
#pragma GCC unroll 12
  for (int p = 0; p < packs; ++p) {
    FloatPack sum = sums[0][p];
    if constexpr (ways == 2) sum += sums[1][p];
    sum = simd::multiply_add(simd::broadcast(scale), sum, simd::load(from + p * simd::float_width));
    simd::store(g + p * simd::float_width, sum);
    largest[p % 2] = simd::larger(simd::with_places(sum, p * static_cast<int>(simd::float_width)),
                                  largest[p % 2]);
  }
  const float most = simd::largest(simd::larger(largest[0], largest[1]))[0];
  return most > bound ? simd::place_of(most) : -1;
}

}  // namespace

LassoSolver::LassoSolver(const AtomGram& K, const CoderOptions& options)
    : K_(K),
      options_(options),
      obvious_(options.lambda1 / (1 - std::sqrt(options.tolerance))),
      slot_(at(K.size()), -1),
      members_(at((K.size() + 63) / 64), 0),
      listed_place_(at(K.size()), -1) {
  g_.resize(at((K.size() + AtomGram::block - 1) / AtomGram::block * AtomGram::block));
  b_.resize(g_.size());
  if (K.size() <= AtomGram::few) {
    rough_g_.resize(g_.size());
    rough_b_.resize(g_.size());
  }
  reserve(1);
}

template <class F>
void LassoSolver::with_packs(const F& f) const {
  const Index packs = length() / simd::width;
  if (packs == 0 || packs > most_packs) return f.template operator()<0>();
  with_constant<1, most_packs>(packs, f);
}

/// Which of a pack of slots have another sign in target_, or none.
inline IntPack LassoSolver::turns(Index first) const {
  const Pack sign = simd::load(sign_.data() + first);
  return ~(simd::load(target_.data() + first) * sign > 0) & (sign != 0);
}

void LassoSolver::start(const WarmStart& start) {
  clear();
  for (size_t i = 0; i < start.rows.size(); ++i)
    push_independent(start.rows[i], start.values[i], start.values[i] > 0 ? 1 : -1);
  updates_ = 0;
}

void LassoSolver::reserve(Index slots) {
  if (slots <= stride_) return;
  const Index stride = simd::round_up(std::max<Index>(16, 2 * slots));
  simd::Aligned wider(at(stride * stride), 0.0);
  for (Index i = 0; i < slots_; ++i)
    std::copy_n(inverse_row(i), stride_, wider.data() + i * stride);
  inverse_ = std::move(wider);
  stride_ = stride;
  rows_.resize(at(stride));
  columns_.resize(at(stride), K_.col(0));
  rough_columns_.resize(at(stride), K_.rough_col(0));
  rough_x_.resize(at(stride));
  packed_columns_.resize(at(stride));
  taken_.resize(at(stride / 64 + 1));
  for (simd::Aligned* each : {&a_, &sign_, &target_, &until_}) each->resize(at(stride));
  for (simd::Aligned* each : {&cross_, &image_}) each->resize(at(2 * stride));
}

/// W is empty.
void LassoSolver::clear() {
  for (Index i = 0; i < slots_; ++i) slot_[at(rows_[at(i)])] = -1;
  std::fill(members_.begin(), members_.end(), 0);
  std::fill(taken_.begin(), taken_.end(), 0);
  for (simd::Aligned* each : {&inverse_, &a_, &sign_, &target_})
    std::fill(each->begin(), each->end(), 0.0);
  slots_ = size_ = 0;
}

/// Q from K. Rows that depend on those before them are dropped.
void LassoSolver::rebuild() {
  const std::vector<Index> rows = rows_;
  const simd::Aligned a = a_, sign = sign_;
  const Index slots = slots_;
  clear();
  for (size_t i = 0; i < at(slots); ++i)
    if (sign[i] != 0) push_independent(rows[i], a[i], sign[i]);
  updates_ = 0;
}

/// K_jj - k' Q k, k = K(W, j); leaves Q k in image_.
template <int packs>
inline double LassoSolver::schur_complement(Index row) {
  const double* const column = K_.col(row);
  const Index* const rows = rows_.data();
  double* const cross = cross_.data();
  double* const image = image_.data();
  const Index end = length<packs>();
#pragma GCC unroll 6
  for (Index i = 0; i < end; i += simd::width)
    simd::store(cross + i, simd::gather(column, rows + i));
  product<packs>(inverse_.data(), stride_, cross, end, image);
  Pack sum = {};
#pragma GCC unroll 6
  for (Index i = 0; i < end; i += simd::width)
    sum = simd::multiply_add(simd::load(cross + i), simd::load(image + i), sum);
  return column[row] - simd::sum(sum);
}

/// Adds a row, after schur_complement(row). The others move by -image_ where it moves by 1: target_
/// is what is reached where it moves by `way`.
template <int packs>
inline void LassoSolver::push(Index row, double value, double sign, double schur, double way) {
  if (slots_ == stride_) reserve(slots_ + 1);
  size_t word = 0;
  while (taken_[word] == ~std::uint64_t{0}) ++word;
  const Index slot = static_cast<Index>(64 * word) + std::countr_one(taken_[word]);
  if (slot == length()) simd::store(image_.data() + slot, Pack{});
  slots_ = std::max(slots_, slot + 1);
  ++size_;
  ++updates_;
  rows_[at(slot)] = row;
  columns_[at(slot)] = K_.col(row);
  rough_columns_[at(slot)] = K_.rough_col(row);
  slot_[at(row)] = slot;
  flip(members_, row);
  flip(taken_, slot);
  simd::set(a_.data(), slot, value);
  simd::set(sign_.data(), slot, sign);
  simd::set(image_.data(), slot, -1);
  const auto grow = [&]<int n> {
    double* const image = image_.data();
    double* const scaled = cross_.data();
    double* const target = target_.data();
    const double* const a = a_.data();
    const Index end = length<n>();
    const double factor = 1 / schur;
#pragma GCC unroll 6
    for (Index i = 0; i < end; i += simd::width) {
      const Pack x = simd::load(image + i);
      simd::store(scaled + i, simd::broadcast(factor) * x);
      simd::store(target + i, simd::subtract_product(simd::load(a + i), simd::broadcast(way), x));
    }
    update<n, 1>(inverse_.data(), stride_, scaled, image, end);
  };
  if (slot < packs * simd::width)
    grow.template operator()<packs>();
  else
    grow.template operator()<packs % most_packs == 0 ? 0 : packs + 1>();
}

void LassoSolver::push_independent(Index row, double value, double sign) {
  with_packs([&]<int packs> {
    const double schur = schur_complement<packs>(row);
    if (schur > dependent * K_.diagonal(row)) push<packs>(row, value, sign, schur, 0);
  });
}

/// Frees `count` slots, one or two; target_ becomes that of the others.
template <int packs, int count>
void LassoSolver::drop(const Index* slots) {
  // Names of their own: where packs are stored, the compiler must think that members change.
  const Index end = length<packs>(), stride = stride_;
  double* const Q = inverse_.data();
  double* const rows = image_.data();  // of Q, the second as it is without the first
  double* const scaled = cross_.data();
  double* const target = target_.data();
  double* const a = a_.data();
  double* const sign = sign_.data();
  const double* const first = Q + slots[0] * stride;
  const double* const second = Q + slots[count - 1] * stride;
  const double inverse = 1 / first[slots[0]];
  const double way = target[slots[0]] * inverse;
  const double both = first[slots[count - 1]];
  const double part = both * inverse;
  const double second_inverse = 1 / (second[slots[count - 1]] - part * both);
  const double second_way = (target[slots[count - 1]] - way * both) * second_inverse;
#pragma GCC unroll 6
  for (Index i = 0; i < end; i += simd::width) {
    const Pack x = simd::load(first + i);
    IntPack others = places(i) != slots[0];
    Pack to = simd::subtract_product(simd::load(target + i), simd::broadcast(way), x);
    simd::store(rows + i, x);
    simd::store(scaled + i, simd::broadcast(-inverse) * x);
    if constexpr (count == 2) {
      const Pack y = simd::subtract_product(simd::load(second + i), simd::broadcast(part), x);
      others &= places(i) != slots[1];
      to = simd::subtract_product(to, simd::broadcast(second_way), y);
      simd::store(rows + stride + i, y);
      simd::store(scaled + stride + i, simd::broadcast(-second_inverse) * y);
    }
    simd::store(target + i, only(others, to));
    simd::store(a + i, only(others, simd::load(a + i)));
    simd::store(sign + i, only(others, simd::load(sign + i)));
  }
  update<packs, count>(Q, stride, scaled, rows, end);
  updates_ += count;
  size_ -= count;
  on_line_ = false;
#pragma GCC unroll 2
  for (int c = 0; c < count; ++c) {
    const Index slot = slots[c];
    // By whole packs, as in simd::set().
    const IntPack others = places(0) != slot % simd::width;
    double* column = Q + slot / simd::width * simd::width;
#pragma GCC unroll 4
    for (Index k = 0; k < end; ++k, column += stride)
      simd::store(column, only(others, simd::load(column)));
#pragma GCC unroll 6
    for (Index k = 0; k < end; k += simd::width) simd::store(Q + slot * stride + k, Pack{});
    const Index row = rows_[at(slot)];
    slot_[at(row)] = -1;
    flip(members_, row);
    flip(taken_, slot);
  }
  size_t word = at((slots_ - 1) / 64);
  while (word > 0 && taken_[word] == 0) --word;
  slots_ = static_cast<Index>(64 * word) + std::bit_width(taken_[word]);
}

/// target_: the minimiser for the present signs.
void LassoSolver::aim(const double* b) {
  on_line_ = false;
  with_packs([&]<int packs> {
    const Pack lambda1 = simd::broadcast(options_.lambda1);
    const Index end = length<packs>();
#pragma GCC unroll 6
    for (Index i = 0; i < end; i += simd::width)
      simd::store(cross_.data() + i, simd::subtract_product(simd::gather(b, rows_.data() + i),
                                                            lambda1, simd::load(sign_.data() + i)));
    product<packs>(inverse_.data(), stride_, cross_.data(), end, target_.data());
  });
}

/// Drops the rows whose signs target_ does not have, until it has those of all that are left: a
/// walk need not begin at the last pixel's code. Many rows are left to the walk, which drops fewer.
void LassoSolver::settle() {
  with_packs([&]<int packs> {
    if constexpr (packs > 0) {
      while (true) {
        unsigned wrong = 0;
#pragma GCC unroll 6
        for (int p = 0; p < packs; ++p)
          wrong |= simd::bits(turns(p * simd::width)) << p * simd::width;
        if (wrong == 0) return;
        steps_ += std::popcount(wrong);
        for (; wrong != 0; wrong &= wrong - 1) {
          Index slots[2] = {std::countr_zero(wrong)};
          wrong &= wrong - 1;
          if (wrong == 0) {
            drop<packs, 1>(slots);
            break;
          }
          slots[1] = std::countr_zero(wrong);
          drop<packs, 2>(slots);
        }
      }
    }
  });
}

/// To target_, or as far as the signs hold, again and again until they do.
void LassoSolver::walk() {
  with_packs([&]<int packs> { walk<packs>(); });
}

template <int packs>
void LassoSolver::walk() {
  // Names of their own: where packs are stored, the compiler must think that members change.
  double* const a = a_.data();
  double* const target = target_.data();
  double* const until = until_.data();
  while (size_ > 0) {
    ++steps_;
    const Index end = length<packs>();
    IntPack some = {};
#pragma GCC unroll 6
    for (Index i = 0; i < end; i += simd::width) some |= turns(i);
    if (!simd::any(some)) {
#pragma GCC unroll 6
      for (Index i = 0; i < end; i += simd::width) simd::store(a + i, simd::load(target + i));
      return;
    }
    Pack nearest = simd::broadcast(infinity);
#pragma GCC unroll 6
    for (Index i = 0; i < end; i += simd::width) {
      const Pack from = simd::load(a + i);
      Pack part = from / (from - simd::load(target + i));
      part = part > 0 ? part : Pack{};  // where it is zero: at once
      part = turns(i) ? part : simd::broadcast(infinity);
      nearest = part < nearest ? part : nearest;
      simd::store(until + i, part);
    }
    const double part =
        std::min(std::min(nearest[0], nearest[1]), std::min(nearest[2], nearest[3]));
    const Index first = find(end, [=](Index i) { return simd::load(until + i) == part; });
#pragma GCC unroll 6
    for (Index i = 0; i < end; i += simd::width) {
      const Pack from = simd::load(a + i);
      simd::store(a + i,
                  simd::multiply_add(simd::broadcast(part), simd::load(target + i) - from, from));
    }
    drop<packs, 1>(&first);
  }
}

/// g_ and largest_ at the present point.
void LassoSolver::residual() {
  const Index d = static_cast<Index>(g_.size());
  const double* const* columns = columns_.data();
  const double* a = a_.data();
  Index count = length();
  if (K_.size() > AtomGram::few) {  // else it costs less to let empty slots take part
    count = 0;
    for (Index i = 0; i < slots_; ++i) {
      packed_columns_[at(count)] = columns_[at(i)];
      cross_[at(count)] = a_[at(i)];
      count += a_[at(i)] != 0;
    }
    columns = packed_columns_.data();
    a = cross_.data();
  }
  Pack largest = {};
  Index row = 0;
  const auto take = [&]<int packs> {
    largest =
        simd::larger(residual_block<packs>(b_.data(), columns, a, count, row, g_.data()), largest);
    row += packs * simd::width;
  };
  while (row + 48 <= d) take.operator()<12>();  // as many sums as there are registers
  if (row < d)
    with_constant<1, 5>((d - row) / AtomGram::block,
                        [&]<int blocks> { take.template operator()<2 * blocks>(); });
  largest_ = simd::largest(largest);
}

/// By g in float, for few atoms: the row outside W that violates its bound most, or -1 where there
/// is none, or none that can be told from rounding.
Index LassoSolver::rough_violator() {
  const Index end = length();
  const double* const x = on_line_ ? image_.data() : a_.data();
  float* const rough_x = rough_x_.data();
  float* const g = rough_g_.data();
  const float* const from = on_line_ ? g : rough_b_.data();
  const auto scale = static_cast<float>(on_line_ ? way_ : -1);
  const auto bound = static_cast<float>(rough_violation * options_.lambda1);
  for (Index i = 0; i < end; i += simd::width) simd::store_rounded(rough_x + i, simd::load(x + i));
  Index worst = -1;
  with_constant<1, AtomGram::few / simd::float_width>(
      static_cast<Index>(rough_g_.size()) / simd::float_width, [&]<int packs> {
        worst = rough_look<packs>(rough_columns_.data(), rough_x, end, scale, from, bound, g);
      });
  return worst >= 0 && slot_[at(worst)] < 0 ? worst : -1;
}

/// Newton's correction for what rounding left of g_j = lambda1 sign_j on W.
void LassoSolver::refine() {
  aim(g_.data());
  for (Index i = 0; i < slots_; ++i) a_[at(i)] += target_[at(i)];
}

Certificate LassoSolver::certificate(double kappa) const {
  Pack norms = {}, code_target = {}, code_residual = {};
  for (Index i = 0; i < slots_; i += simd::width) {
    const Pack a = simd::load(a_.data() + i);
    norms += simd::magnitude(a);
    code_target = simd::multiply_add(a, simd::gather(b_.data(), rows_.data() + i), code_target);
    code_residual = simd::multiply_add(a, simd::gather(g_.data(), rows_.data() + i), code_residual);
  }
  return certify(kappa, options_.lambda1, options_.lambda1 * simd::sum(norms),
                 simd::sum(code_target), simd::sum(code_residual), largest_);
}

/// The row outside W with the largest |g_j| > lambda1, or -1.
Index LassoSolver::worst_violator() const {
  double bound = violation * options_.lambda1;
  if (!(largest_ > bound)) return -1;
  // It is nearly always the row with the largest |g_j| of all.
  const auto is_largest = [g = g_.data(), largest = largest_](Index j) {
    return simd::magnitude(simd::load(g + j)) == largest;
  };
  Index worst = find(static_cast<Index>(g_.size()), is_largest);
  if (slot_[at(worst)] < 0) return worst;
  worst = -1;
  for (Index j = 0; j < K_.size(); ++j) {
    if (std::abs(g_[at(j)]) <= bound || slot_[at(j)] >= 0) continue;
    bound = std::abs(g_[at(j)]);
    worst = j;
  }
  return worst;
}

/// Lets a violator in, with target_ for it and the others. False when rounding does not allow it,
/// or it is none.
bool LassoSolver::enter(Index row) {
  if (K_.size() > cached_atoms)
    for (Index k = 0; k < K_.size(); k += AtomGram::block)
      __builtin_prefetch(K_.col(row) + k, 0, 2);
  double sign = 0;
  bool independent = false;
  with_packs([&]<int packs> {
    const double schur = schur_complement<packs>(row);
    const double g = b_[at(row)] - dot(cross_.data(), a_.data(), length<packs>());
    if (!(std::abs(g) > violation * options_.lambda1)) return;
    sign = std::copysign(1.0, g);
    if (!(schur > dependent * K_.diagonal(row))) return;
    independent = true;
    // The others were where their signs want them, so that all move along one line.
    way_ = (g - options_.lambda1 * sign) / schur;
    push<packs>(row, 0, sign, schur, way_);
    on_line_ = true;
  });
  return independent || (sign != 0 && trade(row, sign));
}

/// Lets a row in that depends on W, after schur_complement(row), for others that leave.
bool LassoSolver::trade(Index row, double sign) {
  double value = 0, schur = 0;
  do {
    // phi_row = sum_i image_i phi_i: raise the row, lower the others, until one of them is zero.
    Index first = -1;
    double way = infinity;
    for (Index i = 0; i < slots_; ++i) {
      const double slope = -image_[at(i)] * sign;
      if (slope * sign_[at(i)] >= 0) continue;
      const double until = -a_[at(i)] / slope;
      if (until < way) {
        way = until;
        first = i;
      }
    }
    if (first < 0) return false;
    for (Index i = 0; i < slots_; ++i) a_[at(i)] -= way * image_[at(i)] * sign;
    value += way * sign;
    drop<0, 1>(&first);
    schur = schur_complement<0>(row);
  } while (!(schur > dependent * K_.diagonal(row)));
  push<0>(row, value, sign, schur, 0);
  aim(b_.data());
  return true;
}

/// How many |g_j| are more than `bound`.
Index LassoSolver::count_above(double bound) const {
  IntPack counts = {};
  for (size_t j = 0; j < g_.size(); j += simd::width)
    counts -= simd::magnitude(simd::load(g_.data() + j)) > bound;
  return (counts[0] + counts[1]) + (counts[2] + counts[3]);
}

/// listed_: the rows outside W with the largest |g_j| > lambda1.
void LassoSolver::list_violators() {
  // There may be thousands. A higher bound that leaves enough costs less than to sort them out.
  double bound = violation * options_.lambda1, above = largest_;
  constexpr auto enough = static_cast<Index>(most_listed);
  Index count = count_above(bound);
  for (int round = 0; round < 6 && count > 4 * enough; ++round) {
    const double middle = (bound + above) / 2;
    if (const Index fewer = count_above(middle); fewer >= enough + size_) {
      bound = middle;
      count = fewer;
    } else {
      above = middle;
    }
  }
  listed_.clear();
  for (const Index row : listed_seen_) listed_place_[at(row)] = -1;
  listed_seen_.clear();
  listed_gram_.clear();
  // |g| with the row in the last bits, which are worth 2^-40 of it with 4,000 atoms: as numbers
  // without a sign, for that is their order, too.
  const std::uint64_t row_bits = std::bit_ceil(at(K_.size())) - 1;
  violators_.clear();
  for (Index first = 0; first < K_.size(); first += 64) {
    const Index end = std::min<Index>(64, static_cast<Index>(g_.size()) - first);
    std::uint64_t found = 0;
    for (Index k = 0; k < end; k += simd::width) {
      const Pack g = simd::magnitude(simd::load(g_.data() + first + k));
      found |= std::uint64_t{simd::bits(g > bound)} << k;
    }
    for (found &= ~members_[at(first / 64)]; found != 0; found &= found - 1) {
      const size_t row = at(first) + static_cast<size_t>(std::countr_zero(found));
      violators_.push_back((std::bit_cast<std::uint64_t>(std::abs(g_[row])) & ~row_bits) | row);
    }
  }
  if (violators_.size() > most_listed) {
    std::nth_element(violators_.begin(), violators_.begin() + most_listed, violators_.end(),
                     std::greater{});
    violators_.resize(most_listed);
  }
  for (const std::uint64_t each : violators_)
    listed_.push_back(static_cast<Index>(each & row_bits));
}

/// The entries of K that g_ of the listed rows takes from row `row` of W.
const double* LassoSolver::listed_column(Index row) {
  Index& place = listed_place_[at(row)];
  if (place < 0) {
    place = static_cast<Index>(listed_gram_.size());
    const double* k = K_.col(row);
    for (const Index each : listed_) listed_gram_.push_back(k[each]);
    listed_gram_.resize(at(place) + most_listed);
    listed_seen_.push_back(row);
  }
  return listed_gram_.data() + place;
}

/// g_ of the listed rows at the present point, and the one that violates most, or -1.
Index LassoSolver::worst_listed() {
  double sums[most_listed] = {};
  for (size_t i = 0; i < listed_.size(); ++i) sums[i] = b_[at(listed_[i])];
  for (Index i = 0; i < slots_; ++i)
    if (sign_[at(i)] != 0) subtract(sums, a_[at(i)], listed_column(rows_[at(i)]), most_listed);
  Index worst = -1;
  double bound = violation * options_.lambda1;
  for (size_t i = 0; i < listed_.size(); ++i) {
    if (std::abs(sums[i]) <= bound || slot_[at(listed_[i])] >= 0) continue;
    bound = std::abs(sums[i]);
    worst = listed_[i];
  }
  return worst;
}

/// Lets in what is listed, after the first of them, `last`, until none violates or one can't enter.
void LassoSolver::enter_listed(Index& last) {
  while (steps_ < options_.max_steps) {
    walk();
    const Index row = worst_listed();
    if (row < 0 || row == last || !enter(row)) return aim(b_.data());
    last = row;
  }
}

void LassoSolver::finish(SparseCode& code) const {
  code.active.resize(at(size_));
  code.A.resize(size_, 1);
  size_t place = 0;
  for (size_t word = 0; word < members_.size(); ++word)
    for (std::uint64_t left = members_[word]; left != 0; left &= left - 1, ++place) {
      const size_t row = 64 * word + static_cast<size_t>(std::countr_zero(left));
      code.active[place] = static_cast<Index>(row);
      code.A.data()[place] = a_[at(slot_[row])];
    }
  code.steps = steps_;
}

void LassoSolver::solve(const double* b, double kappa, SparseCode& code) {
  steps_ = 0;
  std::copy_n(b, K_.size(), b_.data());
  for (size_t i = 0; i < rough_b_.size(); i += simd::width)
    simd::store_rounded(rough_b_.data() + i, simd::load(b_.data() + i));
  if (updates_ > most_updates) rebuild();
  Index last_entered = -1;
  int refinements = 0;
  aim(b_.data());
  settle();
  while (true) {
    walk();
    if (rough_g_.size() > 0 && steps_ < options_.max_steps) {
      const Index row = rough_violator();
      if (row >= 0 && row != last_entered && enter(row)) {
        last_entered = row;
        continue;
      }
    }
    residual();
    Certificate c;
    const auto good = [&] { return c.gap <= options_.tolerance * c.objective; };
    const bool judged = !(largest_ > obvious_);
    if (judged) c = certificate(kappa);
    const Index row = judged && good() ? -1 : worst_violator();
    if (row >= 0 && row != last_entered && steps_ < options_.max_steps) {
      last_entered = row;
      const bool list = size_ >= many_rows && K_.size() * size_ > many_products;
      if (list) list_violators();
      if (enter(row)) {
        if (list) enter_listed(last_entered);
        continue;
      }
    }
    if (!judged) c = certificate(kappa);
    // Nothing can enter, but rounding stands between this point and the tolerance.
    if (!good() && std::isfinite(largest_) && refinements++ < 2) {
      if (refinements == 1) rebuild();
      refine();
      last_entered = -1;
      residual();
      c = certificate(kappa);
      if (!good() && steps_ < options_.max_steps) {
        aim(b_.data());
        continue;
      }
    }
    code.objective = c.objective;
    code.converged = good();
    code.gap = c.gap;
    break;
  }
  if (!std::isfinite(code.gap) || !std::isfinite(largest_)) {
    code.gap = infinity;
    code.converged = false;
  }
  finish(code);
}

}  // namespace hyperatom
