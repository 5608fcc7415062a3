#include "hyperatom/coding/lasso_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hyperatom/base/simd.hpp"
#include "hyperatom/coding/small_matrix.hpp"

namespace hyperatom {
namespace {

using simd::Pack;

/// Updates of the inverse after which it is built anew, before rounding errors add up.
constexpr int most_updates = 60;

/// A row whose Schur complement is smaller than this, relative to its diagonal, depends on the
/// others.
constexpr double dependent = 1e-12;

/// A row outside W violates its bound where |g_j| is more than this times lambda1.
constexpr double violation = 1 + 1e-13;

/// Products in g of all rows from which violators are listed, and how many at most.
constexpr Index many_products = 16384;
constexpr size_t most_listed = 64;

/// y = Q x up to whole packs: zero there, as Q is. Q is symmetric, by rows of `stride`.
void product(const double* Q, Index stride, const double* x, Index size, double* y) {
  combine_rows<Start::zero>(Q, stride, x, size, y, size);
}

/// `packs` packs of g = b - sum_i a_i K(:, rows_i), from `row` on; `sums` begins as b.
template <int packs>
void residual_block(const AtomGram& K, Pack (&sums)[packs], const std::vector<Index>& rows,
                    const std::vector<double>& a, Index row, double* g, Pack& largest) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const double* k = K.col(rows[i]) + row;
    const Pack coefficient = simd::broadcast(a[i]);
    for (int p = 0; p < packs; ++p)
      sums[p] = simd::subtract_product(sums[p], coefficient, simd::load(k + p * simd::width));
  }
  for (int p = 0; p < packs; ++p) {
    const Pack size = sums[p] < 0 ? -sums[p] : sums[p];
    largest = size > largest ? size : largest;
    simd::store(g + p * simd::width, sums[p]);
  }
}

}  // namespace

LassoSolver::LassoSolver(const AtomGram& K, const CoderOptions& options)
    : K_(K), options_(options), in_set_(at(K.size()), 0), listed_place_(at(K.size()), -1) {
  g_.resize(at((K.size() + AtomGram::block - 1) / AtomGram::block * AtomGram::block));
}

void LassoSolver::start(const WarmStart& start) {
  for (const Index row : rows_) in_set_[at(row)] = 0;
  rows_ = start.rows;
  a_ = start.values;
  sign_.clear();
  for (const double value : a_) sign_.push_back(value > 0 ? 1 : -1);
  rebuild();
}

void LassoSolver::reserve(Index rows) {
  if (rows <= stride_) return;
  const Index stride = simd::round_up(std::max<Index>(16, 2 * rows));
  std::vector<double> wider(at(stride * stride), 0.0);
  for (Index i = 0; i < size() && stride_ > 0; ++i)
    std::copy_n(inverse_row(i), stride_, wider.data() + i * stride);
  inverse_ = std::move(wider);
  stride_ = stride;
  target_.resize(at(stride));
  cross_.resize(at(stride));
  image_.resize(at(stride));
}

/// Q from K. Rows that depend on those before them are dropped.
void LassoSolver::rebuild() {
  const std::vector<Index> rows = std::move(rows_);
  const std::vector<double> a = std::move(a_);
  const std::vector<double> sign = std::move(sign_);
  rows_.clear();
  a_.clear();
  sign_.clear();
  std::fill(inverse_.begin(), inverse_.end(), 0.0);
  for (size_t i = 0; i < rows.size(); ++i) {
    in_set_[at(rows[i])] = 0;
    const double schur = schur_complement(rows[i]);
    if (schur > dependent * K_.diagonal(rows[i])) push(rows[i], a[i], sign[i], schur);
  }
  updates_ = 0;
}

/// K_jj - k' Q k, k = K(W, j); leaves k in cross_ and Q k in image_.
double LassoSolver::schur_complement(Index row) {
  reserve(size() + 1);
  const Index padded = simd::round_up(size());
  if (padded > 0) simd::store(cross_.data() + padded - simd::width, Pack{});
  const double* column = K_.col(row);
  for (Index i = 0; i < size(); ++i) cross_[at(i)] = column[rows_[at(i)]];
  product(inverse_.data(), stride_, cross_.data(), size(), image_.data());
  return column[row] - dot(cross_.data(), image_.data(), padded);
}

/// Adds a row, after schur_complement(row).
void LassoSolver::push(Index row, double value, double sign, double schur) {
  const Index m = size();
  const Index padded = simd::round_up(m);
  const double scale = 1 / schur;
  double* last = inverse_row(m);
  for (Index i = 0; i < m; ++i) {
    const double scaled = -image_[at(i)] * scale;
    double* q = inverse_row(i);
    subtract(q, scaled, image_.data(), padded);
    q[m] = last[i] = scaled;
  }
  last[m] = scale;
  rows_.push_back(row);
  a_.push_back(value);
  sign_.push_back(sign);
  in_set_[at(row)] = 1;
  ++updates_;
}

/// Removes the i-th row; the last takes its place.
void LassoSolver::remove(Index i) {
  const Index last = size() - 1;
  const Index padded = simd::round_up(size());
  std::vector<double>& q = image_;
  std::copy_n(inverse_row(i), padded, q.data());
  const double scale = 1 / q[at(i)];
  for (Index k = 0; k <= last; ++k) subtract(inverse_row(k), q[at(k)] * scale, q.data(), padded);
  std::copy_n(inverse_row(last), padded, inverse_row(i));
  for (Index k = 0; k < last; ++k) inverse_row(k)[i] = inverse_row(k)[last];
  for (Index k = 0; k < last; ++k) inverse_row(k)[last] = 0;
  std::fill_n(inverse_row(last), padded, 0.0);
  in_set_[at(rows_[at(i)])] = 0;
  rows_[at(i)] = rows_[at(last)];
  a_[at(i)] = a_[at(last)];
  sign_[at(i)] = sign_[at(last)];
  rows_.pop_back();
  a_.pop_back();
  sign_.pop_back();
  ++updates_;
}

/// target_: the minimiser for the present signs.
void LassoSolver::aim(const double* b) {
  for (Index i = 0; i < size(); ++i)
    cross_[at(i)] = b[rows_[at(i)]] - options_.lambda1 * sign_[at(i)];
  product(inverse_.data(), stride_, cross_.data(), size(), target_.data());
}

/// To target_, or as far as the signs hold, again and again until they do.
void LassoSolver::walk() {
  while (size() > 0) {
    ++steps_;
    const Index m = size();
    double part = 1;
    Index first = -1;
    for (Index i = 0; i < m; ++i) {
      if (target_[at(i)] * sign_[at(i)] > 0) continue;
      const double until = a_[at(i)] == 0 ? 0 : a_[at(i)] / (a_[at(i)] - target_[at(i)]);
      if (first < 0 || until < part) {
        part = until;
        first = i;
      }
    }
    if (first < 0) {
      std::copy_n(target_.data(), m, a_.data());
      return;
    }
    for (Index i = 0; i < m; ++i) a_[at(i)] += part * (target_[at(i)] - a_[at(i)]);
    remove(first);
    // The target without that row; image_ is its row of Q.
    const double factor = target_[at(first)] / image_[at(first)];
    for (Index i = 0; i < m; ++i) target_[at(i)] -= factor * image_[at(i)];
    target_[at(first)] = target_[at(m - 1)];
  }
}

/// g_ and largest_ at the present point.
void LassoSolver::residual(const double* b) {
  const Index d = K_.size();
  Pack largest = {};
  Index row = 0;
  for (; row + 32 <= d; row += 32) {
    Pack sums[8];
    for (int p = 0; p < 8; ++p) sums[p] = simd::load(b + row + p * simd::width);
    residual_block(K_, sums, rows_, a_, row, g_.data() + row, largest);
  }
  for (; row < d; row += 8) {
    Pack sums[2];
    simd::clear(sums);
    for (int p = 0; p < 2; ++p) {
      const Index left = d - row - p * simd::width;
      const double* from = b + row + p * simd::width;
      if (left >= simd::width)
        sums[p] = simd::load(from);
      else if (left > 0)
        sums[p] = simd::load_part(from, left);
    }
    residual_block(K_, sums, rows_, a_, row, g_.data() + row, largest);
  }
  largest_ = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
}

/// Newton's correction for what rounding left of g_j = lambda1 sign_j on W.
void LassoSolver::refine() {
  for (Index i = 0; i < size(); ++i)
    cross_[at(i)] = g_[at(rows_[at(i)])] - options_.lambda1 * sign_[at(i)];
  product(inverse_.data(), stride_, cross_.data(), size(), target_.data());
  for (Index i = 0; i < size(); ++i) a_[at(i)] += target_[at(i)];
}

Certificate LassoSolver::certificate(const double* b, double kappa) const {
  double norms = 0, code_target = 0, code_residual = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    norms += options_.lambda1 * std::abs(a_[i]);
    code_target += a_[i] * b[rows_[i]];
    code_residual += a_[i] * g_[at(rows_[i])];
  }
  return certify(kappa, options_.lambda1, norms, code_target, code_residual, largest_);
}

/// The row outside W with the largest |g_j| > lambda1, or -1.
Index LassoSolver::worst_violator() const {
  double bound = violation * options_.lambda1;
  if (largest_ <= bound) return -1;
  // It is nearly always the row with the largest |g_j| of all.
  for (Index j = 0; j < K_.size(); j += simd::width) {
    const Pack g = simd::load(g_.data() + j);
    const simd::IntPack found = (g == largest_) | (g == -largest_);
    if (!simd::any(found)) continue;
    for (Index k = j; k < j + simd::width; ++k)
      if (std::abs(g_[at(k)]) == largest_ && !in_set_[at(k)]) return k;
  }
  Index worst = -1;
  for (Index j = 0; j < K_.size(); ++j) {
    if (std::abs(g_[at(j)]) <= bound || in_set_[at(j)]) continue;
    bound = std::abs(g_[at(j)]);
    worst = j;
  }
  return worst;
}

/// Lets a violator in, with target_ for it and the others. False when rounding does not allow it.
bool LassoSolver::enter(Index row, const double* b) {
  const double sign = g_[at(row)] > 0 ? 1 : -1;
  double value = 0;
  bool traded = false;
  double schur = schur_complement(row);
  while (!(schur > dependent * K_.diagonal(row))) {
    // phi_row = sum_i image_i phi_i: raise the row, lower the others, until one of them is zero.
    Index first = -1;
    double way = std::numeric_limits<double>::infinity();
    for (Index i = 0; i < size(); ++i) {
      const double slope = -image_[at(i)] * sign;
      if (slope * sign_[at(i)] >= 0) continue;
      const double until = -a_[at(i)] / slope;
      if (until < way) {
        way = until;
        first = i;
      }
    }
    if (first < 0) return false;
    for (Index i = 0; i < size(); ++i) a_[at(i)] -= way * image_[at(i)] * sign;
    value += way * sign;
    traded = true;
    remove(first);
    schur = schur_complement(row);
  }
  push(row, value, sign, schur);
  if (traded) {
    aim(b);
    return true;
  }
  // The others were where their signs want them, so that all move along one line.
  const double way = (g_[at(row)] - options_.lambda1 * sign) / schur;
  const Index last = size() - 1;
  for (Index i = 0; i < last; ++i) target_[at(i)] = a_[at(i)] - way * image_[at(i)];
  target_[at(last)] = way;
  return true;
}

/// listed_: the rows outside W with the largest |g_j| > lambda1.
void LassoSolver::list_violators() {
  const double bound = violation * options_.lambda1;
  listed_.clear();
  for (const Index row : listed_seen_) listed_place_[at(row)] = -1;
  listed_seen_.clear();
  listed_gram_.clear();
  for (Index j = 0; j < K_.size(); ++j)
    if (std::abs(g_[at(j)]) > bound && !in_set_[at(j)]) listed_.push_back(j);
  if (listed_.size() <= most_listed) return;
  const auto worse = [&](Index i, Index j) {
    const double x = std::abs(g_[at(i)]), y = std::abs(g_[at(j)]);
    return x != y ? x > y : i < j;
  };
  std::nth_element(listed_.begin(), listed_.begin() + most_listed, listed_.end(), worse);
  listed_.resize(most_listed);
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
Index LassoSolver::worst_listed(const double* b) {
  double sums[most_listed] = {};
  for (size_t i = 0; i < listed_.size(); ++i) sums[i] = b[listed_[i]];
  for (Index i = 0; i < size(); ++i)
    subtract(sums, a_[at(i)], listed_column(rows_[at(i)]), most_listed);
  Index worst = -1;
  double bound = violation * options_.lambda1;
  for (size_t i = 0; i < listed_.size(); ++i) {
    if (std::abs(sums[i]) <= bound || in_set_[at(listed_[i])]) continue;
    bound = std::abs(sums[i]);
    worst = listed_[i];
    g_[at(worst)] = sums[i];
  }
  return worst;
}

/// Lets in what is listed, after the first of them, `last`, until none violates or one can't enter.
void LassoSolver::enter_listed(const double* b, Index& last) {
  while (steps_ < options_.max_steps) {
    walk();
    const Index row = worst_listed(b);
    if (row < 0 || row == last || !enter(row, b)) return aim(b);
    last = row;
  }
}

void LassoSolver::finish(SparseCode& code) const {
  code.active.resize(rows_.size());
  code.A.resize(size(), 1);
  for (size_t i = 0; i < rows_.size(); ++i) {  // by insertion: they are few
    size_t place = i;
    for (; place > 0 && code.active[place - 1] > rows_[i]; --place) {
      code.active[place] = code.active[place - 1];
      code.A.data()[place] = code.A.data()[place - 1];
    }
    code.active[place] = rows_[i];
    code.A.data()[place] = a_[i];
  }
  code.steps = steps_;
}

void LassoSolver::solve(const double* b, double kappa, SparseCode& code) {
  steps_ = 0;
  if (updates_ > most_updates) rebuild();
  Index last_entered = -1;
  int refinements = 0;
  // A violation that alone makes the gap too large.
  const double obvious = options_.lambda1 / (1 - std::sqrt(options_.tolerance));
  aim(b);
  while (true) {
    walk();
    residual(b);
    Certificate c;
    const auto good = [&] { return c.gap <= options_.tolerance * c.objective; };
    const bool judged = !(largest_ > obvious);
    if (judged) c = certificate(b, kappa);
    const Index row = judged && good() ? -1 : worst_violator();
    if (row >= 0 && row != last_entered && steps_ < options_.max_steps) {
      last_entered = row;
      const bool list = K_.size() * size() > many_products;
      if (list) list_violators();
      if (enter(row, b)) {
        if (list) enter_listed(b, last_entered);
        continue;
      }
    }
    if (!judged) c = certificate(b, kappa);
    // Nothing can enter, but rounding stands between this point and the tolerance.
    if (!good() && std::isfinite(largest_) && refinements++ < 2) {
      if (refinements == 1) rebuild();
      refine();
      last_entered = -1;
      residual(b);
      c = certificate(b, kappa);
      if (!good() && steps_ < options_.max_steps) {
        aim(b);
        continue;
      }
    }
    code.objective = c.objective;
    code.converged = good();
    code.gap = c.gap;
    break;
  }
  if (!std::isfinite(code.gap) || !std::isfinite(largest_)) {
    code.gap = std::numeric_limits<double>::infinity();
    code.converged = false;
  }
  finish(code);
}

}  // namespace hyperatom
