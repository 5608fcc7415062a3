#include "hyperatom/coding/elimination_solver.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "hyperatom/coding/constant.hpp"
#include "hyperatom/coding/residual.hpp"

namespace hyperatom {
namespace {

using simd::IntPack;
using simd::Pack;

/// A row whose pivot is smaller than this, relative to its diagonal, depends on the others.
constexpr double dependent = 1e-12;

/// A row violates its bound where |g_j| is more than this times lambda1.
constexpr double violation = 1 + 1e-13;

/// Substitutions after which a pixel is given up.
constexpr int most_rounds = 8;

/// Packs up to which a substitution is unrolled.
constexpr int most_packs = 6;

/// Calls f.operator()<n, first>() for one or two blocks of n packs, from place `first` on: as many
/// sums as there are registers.
template <int packs, class F>
void by_blocks(const F& f) {
  constexpr int n = packs <= 12 ? packs : packs / 4 * 2;
  f.template operator()<n, 0>();
  if constexpr (n < packs) f.template operator()<packs - n, n * simd::width>();
}

template <int n>
inline void load(const double* from, Pack (&packs)[n]) {
#pragma GCC unroll 12
  for (int p = 0; p < n; ++p) packs[p] = simd::load(from + p * simd::width);
}

/// sums -= sum_i factor_i row_i for `count` rows, a multiple of four: factors(i) has those of four.
template <int n, class Row, class Factors>
inline void subtract_rows(Pack (&sums)[n], Index count, const Row& row, const Factors& factors) {
  for (Index k = 0; k < count; k += simd::width) {
    const Pack four = factors(k);
#pragma GCC unroll 4
    for (int i = 0; i < simd::width; ++i) {
      const Pack factor = simd::broadcast(four[i]);
      const double* values = row(k + i);
      asm("" : "+r"(values));  // else the compiler keeps the address of every pack
#pragma GCC unroll 12
      for (int p = 0; p < n; ++p)
        sums[p] = simd::subtract_product(sums[p], factor, simd::load(values + p * simd::width));
    }
  }
}

/// The largest magnitude of packs that come one after the other, and its place.
class Largest {
 public:
  Largest() { simd::clear(largest_); }

  /// p: a number of the pack, at least its place over simd::width modulo 2.
  void take(int p, Index first, Pack values) {
    largest_[p % 2] = simd::larger(simd::with_places(values, first), largest_[p % 2]);
  }
  double value() const { return simd::largest(simd::larger(largest_[0], largest_[1])); }

 private:
  Pack largest_[2];
};

/// Of four rows of `stride`, one below the other.
Pack gather_down(const double* first, Index stride) {
  return Pack{first[0], first[stride], first[2 * stride], first[3 * stride]};
}

}  // namespace

EliminationSolver::EliminationSolver(const AtomGram& K, const CoderOptions& options)
    : K_(K),
      options_(options),
      bound_(violation * options.lambda1),
      stride_((K.size() + AtomGram::block - 1) / AtomGram::block * AtomGram::block),
      rows_(at(stride_)),
      columns_(at(stride_), K.col(0)) {
  eigen_assert(K.size() <= AtomGram::few);
  reserve(std::min<Index>(16, stride_));
  for (simd::Aligned* each : {&b_, &g_, &left_, &inverse_pivots_, &ways_, &signs_, &a_})
    each->resize(at(stride_));
}

/// Memory for so many rows, a multiple of whole packs.
void EliminationSolver::reserve(Index rows) {
  for (simd::Aligned* each : {&remainders_, &factors_}) each->resize(at(rows * stride_));
  reserved_ = rows;
}

/// W is empty, g = b.
template <int packs>
void EliminationSolver::begin(const double* b) {
  entered_ = {};
  for (Index i = 0; i < size_; i += simd::width)
    for (simd::Aligned* each : {&inverse_pivots_, &ways_, &signs_})
      simd::store(each->data() + i, Pack{});
  size_ = 0;
  steps_ = 0;
  const Index whole = K_.size() / simd::width * simd::width;
  for (Index k = 0; k < whole; k += simd::width) simd::store(b_.data() + k, simd::load(b + k));
  if (whole < K_.size())
    simd::store(b_.data() + whole, simd::load_part(b + whole, K_.size() - whole));
  residual<packs>();
}

/// g_ and where it is largest, from the ways.
template <int packs>
void EliminationSolver::residual() {
  Largest largest;
  by_blocks<packs>([&]<int n, Index first> {
    Pack sums[n];
    load(b_.data() + first, sums);
    subtract_rows(
        sums, simd::round_up(size_),
        [&](Index i) { return remainders_.data() + i * stride_ + first; },
        [&](Index i) { return simd::load(ways_.data() + i); });
#pragma GCC unroll 12
    for (int p = 0; p < n; ++p) {
      simd::store(g_.data() + first + p * simd::width, sums[p]);
      largest.take(p, first + p * simd::width, sums[p]);
    }
  });
  set_worst(largest.value());
}

/// The row is the next of W. False where it depends on the others.
template <int packs>
[[gnu::always_inline]] inline bool EliminationSolver::enter(Index row) {
  ++steps_;
  if (size_ == reserved_) reserve(std::min(2 * size_, stride_));
  // Names of their own: where packs are stored, the compiler must think that members change.
  const Index size = size_, end = simd::round_up(size), stride = stride_;
  double* const remainders = remainders_.data();
  double* const factors = factors_.data() + size * stride;
  double* const g = g_.data();
  const double* const inverse_pivots = inverse_pivots_.data();
  const double* const column = K_.col(row);
  const double lambda1 = options_.lambda1, own = g[row], sign = std::copysign(1.0, own);
  double pivot = K_.diagonal(row), inverse = 0, way = 0;
  Largest largest;
  by_blocks<packs>([&]<int n, Index first> {
    Pack sums[n];
    load(column + first, sums);
    const auto remainder = [&](Index i) { return remainders + i * stride + first; };
    if constexpr (first == 0) {
      // What the pivot will be is known before the sums are: nothing has to wait for them.
      Pack taken = {};
      const double* entry = remainders + row;
      subtract_rows(sums, end, remainder, [&](Index i) {
        const Pack entries = gather_down(entry, stride);
        entry += simd::width * stride;
        const Pack four = entries * simd::load(inverse_pivots + i);
        simd::store(factors + i, four);
        taken = simd::multiply_add(four, entries, taken);
        return four;
      });
      pivot -= simd::sum(taken);
      inverse = 1 / pivot;
      way = (own - lambda1 * sign) * inverse;
    } else {
      subtract_rows(sums, end, remainder, [&](Index i) { return simd::load(factors + i); });
    }
#pragma GCC unroll 12
    for (int p = 0; p < n; ++p) {
      const Index place = first + p * simd::width;
      const Pack moved =
          simd::subtract_product(simd::load(g + place), simd::broadcast(way), sums[p]);
      simd::store(remainders + size * stride + place, sums[p]);
      simd::store(g + place, moved);
      largest.take(p, place, moved);
    }
  });
  if (!(pivot > dependent * K_.diagonal(row))) return false;
  set_worst(largest.value());
  rows_[at(size)] = row;
  columns_[at(size)] = column;
  simd::set(inverse_pivots_.data(), size, inverse);
  simd::set(ways_.data(), size, way);
  simd::set(signs_.data(), size, sign);
  flip(row);
  ++size_;
  return true;
}

/// Lets rows in until none violates its bound. False where one can't enter.
template <int packs>
bool EliminationSolver::grow() {
  while (violated())
    if (!enter<packs>(worst_)) return false;
  return true;
}

/// a_ from ways_: what remains of a column is a sum of columns, with factors.
void EliminationSolver::substitute() {
  const Index packs = (size_ + simd::width - 1) / simd::width;
  if (packs == 0) return;
  if (packs <= most_packs)
    return with_constant<1, most_packs>(packs, [&]<int n> {
      Pack a[n];
      load(ways_.data(), a);
      const double* factors = factors_.data() + n * simd::width * stride_;
#pragma GCC unroll 6
      for (int p = n - 1; p >= 0; --p)
#pragma GCC unroll 4
        for (int i = simd::width - 1; i >= 0; --i) {
          factors -= stride_;
          const Pack last = simd::broadcast(a[p][i]);
#pragma GCC unroll 6
          for (int q = 0; q <= p; ++q)
            a[q] = simd::subtract_product(a[q], last, simd::load(factors + q * simd::width));
        }
#pragma GCC unroll 6
      for (int p = 0; p < n; ++p) simd::store(a_.data() + p * simd::width, a[p]);
    });
  std::copy_n(ways_.data(), packs * simd::width, a_.data());
  for (Index i = size_ - 1; i > 0; --i) {
    const Pack last = simd::broadcast(a_[at(i)]);
    for (Index k = 0; k < i; k += simd::width)
      simd::store(a_.data() + k,
                  simd::subtract_product(simd::load(a_.data() + k), last,
                                         simd::load(factors_.data() + i * stride_ + k)));
  }
}

/// Takes a row out. What was taken of its column from those after it goes back to them, one after
/// the other; each then takes its part of what is left of that column.
template <int packs>
void EliminationSolver::take_out(Index place) {
  ++steps_;
  const Index stride = stride_;
  double* const remainders = remainders_.data();
  double* const left = left_.data();
  std::copy_n(remainders + place * stride, stride, left);
  double inverse = inverse_pivots_[at(place)];
  double target = ways_[at(place)] / inverse;
  flip(rows_[at(place)]);
  for (Index i = place + 1; i < size_; ++i) {
    const Index row = rows_[at(i)];
    const double* const from = remainders + i * stride;
    double* const to = remainders + (i - 1) * stride;
    const double old_pivot = from[row], entry = left[row];
    const double back = entry * inverse, pivot = old_pivot + back * entry;
    const double inverse_pivot = 1 / pivot, part = entry * inverse_pivot;
#pragma GCC unroll 24
    for (Index k = 0; k < packs * simd::width; k += simd::width) {
      const Pack rest = simd::load(left + k);
      const Pack whole = simd::multiply_add(simd::broadcast(back), rest, simd::load(from + k));
      simd::store(to + k, whole);
      simd::store(left + k, simd::subtract_product(rest, simd::broadcast(part), whole));
    }
    const double own = ways_[at(i)] * old_pivot + back * target;
    target -= part * own;
    inverse *= pivot * inverse_pivots_[at(i)];
    rows_[at(i - 1)] = row;
    columns_[at(i - 1)] = columns_[at(i)];
    inverse_pivots_[at(i - 1)] = inverse_pivot;
    ways_[at(i - 1)] = own * inverse_pivot;
    signs_[at(i - 1)] = signs_[at(i)];
  }
  --size_;
  inverse_pivots_[at(size_)] = ways_[at(size_)] = signs_[at(size_)] = 0;
}

/// The factors from row `first` on, from the remainders.
void EliminationSolver::refactor(Index first) {
  for (Index i = first; i < size_; ++i) {
    double* const factors = factors_.data() + i * stride_;
    const double* entry = remainders_.data() + rows_[at(i)];
    for (Index k = 0; k < i; k += simd::width, entry += simd::width * stride_)
      simd::store(factors + k,
                  gather_down(entry, stride_) * simd::load(inverse_pivots_.data() + k));
    std::fill(factors + i, factors + simd::round_up(i), 0.0);
  }
}

/// Takes out the rows whose coefficients have another sign than they entered with; false where
/// there are none.
template <int packs>
bool EliminationSolver::turn_back() {
  IntPack wrong = {};
  for (Index i = 0; i < size_; i += simd::width) {
    const Pack sign = simd::load(signs_.data() + i);
    wrong |= ~(simd::load(a_.data() + i) * sign > 0) & (sign != 0);
  }
  if (!simd::any(wrong)) return false;
  Index first = size_;
  for (Index i = size_ - 1; i >= 0; --i)
    if (!(a_[at(i)] * signs_[at(i)] > 0)) take_out<packs>(first = i);
  refactor(first);
  residual<packs>();
  return true;
}

/// Whether the code is good enough, by g from a itself.
template <int packs>
bool EliminationSolver::certified(double kappa) {
  const Index end = simd::round_up(size_);
  Pack largest = {};
  by_blocks<packs>([&]<int n, Index first> {
    Pack sums[n];
    load(b_.data() + first, sums);
    subtract_rows(
        sums, end, [&](Index i) { return columns_[at(i)] + first; },
        [&](Index i) { return simd::load(a_.data() + i); });
#pragma GCC unroll 12
    for (int p = 0; p < n; ++p) {
      simd::store(g_.data() + first + p * simd::width, sums[p]);
      largest = simd::larger(simd::magnitude(sums[p]), largest);
    }
  });
  Pack norms = {}, code_target = {}, code_residual = {};
  for (Index i = 0; i < end; i += simd::width) {
    const Pack a = simd::load(a_.data() + i);
    norms += simd::magnitude(a);
    code_target = simd::multiply_add(a, simd::gather(b_.data(), rows_.data() + i), code_target);
    code_residual = simd::multiply_add(a, simd::gather(g_.data(), rows_.data() + i), code_residual);
  }
  const Certificate c =
      certify(kappa, options_.lambda1, options_.lambda1 * simd::sum(norms), simd::sum(code_target),
              simd::sum(code_residual), simd::largest(largest));
  code_.objective = c.objective;
  code_.gap = c.gap;
  return code_.converged = c.gap <= options_.tolerance * c.objective;
}

/// The rows in the order of the atoms.
void EliminationSolver::write_code() {
  code_.active.resize(at(size_));
  code_.A.resize(size_, 1);
  code_.steps = steps_;
  std::array<double, simd::places> values;
  for (Index i = 0; i < size_; ++i) values[at(rows_[at(i)])] = a_[at(i)];
  size_t place = 0;
  for (size_t word = 0; word < entered_.size(); ++word)
    for (std::uint64_t left = entered_[word]; left != 0; left &= left - 1, ++place) {
      const size_t row = 64 * word + static_cast<size_t>(std::countr_zero(left));
      code_.active[place] = static_cast<Index>(row);
      code_.A.data()[place] = values[row];
    }
}

/// After begin() and any rows: lets rows in and takes them out until none has to.
template <int packs>
void EliminationSolver::finish(double kappa) {
  solved_ = false;
  for (int round = 0; round < most_rounds && grow<packs>(); ++round) {
    substitute();
    if (turn_back<packs>()) continue;
    solved_ = certified<packs>(kappa);
    break;
  }
  if (solved_)
    write_code();
  else  // some may not be finite, which the zeros beyond the next pixel's rows would meet
    for (simd::Aligned* each : {&remainders_, &factors_})
      std::fill(each->begin(), each->end(), 0.0);
}

template <class F>
void EliminationSolver::with_packs(const F& f) const {
  with_constant<1, AtomGram::few / AtomGram::block>(
      stride_ / AtomGram::block, [&]<int blocks> { f.template operator()<2 * blocks>(); });
}

void EliminationSolver::solve(const Pixel& pixel) {
  with_packs([&]<int packs> {
    begin<packs>(pixel.column);
    finish<packs>(pixel.kappa);
  });
}

void EliminationSolver::solve_both(EliminationSolver& one, const Pixel& pixel,
                                   EliminationSolver& other, const Pixel& next) {
  one.with_packs([&]<int packs> {
    one.begin<packs>(pixel.column);
    other.begin<packs>(next.column);
    while (one.violated() && other.violated())
      if (!one.enter<packs>(one.worst_) || !other.enter<packs>(other.worst_)) break;
    one.finish<packs>(pixel.kappa);
    other.finish<packs>(next.kappa);
  });
}

}  // namespace hyperatom
