#include "hyperatom/coding/joint_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hyperatom {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Below this many columns a change of basis costs more than it saves.
constexpr Index small_window = 12;

/// A row of B whose part outside the basis is smaller than this, relative to it, is taken as
/// inside.
constexpr double dependent = 1e-14;

/// Curvature of the model below this, relative to a row's own, is rounding.
constexpr double flat = 1e-12;

/// The first solve on a new working set: precise enough to tell which rows are missing.
constexpr double first_tolerance = 1e-3;

/// Norms that fall below this, relative to the largest, are zero.
constexpr double vanishing_norm = 1e-12;

}  // namespace

void JointSolver::RowSpace::reset(Index new_columns) {
  columns = new_columns;
  identity = columns <= small_window;
  basis.reshape(0, columns);
  rest.resize(at(simd::round_up(columns)));
}

void JointSolver::RowSpace::add(const double* row, double* coordinates) {
  const Index stride = simd::round_up(columns);
  if (identity) {
    std::copy_n(row, stride, coordinates);
    return;
  }
  std::copy_n(row, stride, rest.data());
  const double length = std::sqrt(dot(row, row, stride));
  // Gram-Schmidt twice: once is not orthogonal enough when rows are nearly parallel, and here they
  // are.
  for (int pass = 0; pass < 2; ++pass) {
    along.resize(at(basis.rows()));
    for (Index k = 0; k < basis.rows(); ++k) {
      along[at(k)] = -dot(basis.row(k), rest.data(), stride);
      coordinates[k] -= along[at(k)];
    }
    combine_rows<Start::target>(basis.row(0), stride, along.data(), basis.rows(), rest.data(),
                                stride);
  }
  const double remainder = std::sqrt(dot(rest.data(), rest.data(), stride));
  if (basis.rows() == columns || remainder <= dependent * length) return;
  coordinates[basis.rows()] = remainder;
  basis.append_row();
  double* last = basis.row(basis.rows() - 1);
  for (Index s = 0; s < stride; ++s) last[s] = rest[at(s)] / remainder;
}

JointSolver::JointSolver(const AtomGram& K, const CoderOptions& options)
    : K_(K), options_(options), splitting_(K, options), in_set_(at(K.size()), 0) {}

void JointSolver::start(const WarmStart& start) {
  rows_ = start.rows;
  eta_.clear();
  for (const double value : start.values) eta_.push_back(std::abs(value));
  splitting_.start();
}

bool JointSolver::solve_by_splitting(const Columns& B, double kappa, SparseCode& code) {
  if (!splitting_.follows()) return false;
  norms_.assign(at(K_.size()), 0.0);
  for (size_t i = 0; i < rows_.size(); ++i) norms_[at(rows_[i])] = eta_[i];
  if (!splitting_.solve(B, kappa, norms_, code)) return false;
  rows_ = code.active;
  eta_.clear();
  for (const Index row : rows_) eta_.push_back(norms_[at(row)]);
  return true;
}

void JointSolver::begin(const Columns& B, double kappa) {
  B_ = &B;
  kappa_ = kappa;
  std::fill(in_set_.begin(), in_set_.end(), 0);
  space_.reset(B.cols());
  targets_.reshape(0, B.cols());
  row_.assign(at(simd::round_up(B.cols())), 0.0);
  std::swap(rows_, base_rows_);
  std::swap(eta_, base_eta_);
  rows_.clear();
  eta_.clear();
  gram_stale_ = true;
  for (size_t i = 0; i < base_rows_.size(); ++i) append(base_rows_[i], base_eta_[i]);
}

void JointSolver::append(Index row, double eta) {
  rows_.push_back(row);
  eta_.push_back(eta);
  in_set_[at(row)] = 1;
  for (Index s = 0; s < B_->cols(); ++s) row_[at(s)] = (*B_)(row, s);
  targets_.append_row();
  space_.add(row_.data(), targets_.row(targets_.rows() - 1));
  gram_stale_ = true;
}

void JointSolver::gather_gram() {
  const Index m = static_cast<Index>(rows_.size());
  gram_.reshape(m, m);
  for (Index i = 0; i < m; ++i) {
    // Of two rows the column of the earlier: where there are many atoms, others are far away.
    const double* column = K_.col(rows_[at(i)]);
    for (Index j = i; j < m; ++j) gram_(i, j) = gram_(j, i) = column[rows_[at(j)]];
  }
  gram_stale_ = false;
}

/// P, Y, YY', ||G_j||, f at (rows_, eta_). False when they do not exist in floating point.
bool JointSolver::evaluate() {
  ++steps_;
  const Index m = static_cast<Index>(rows_.size());
  const double lambda1 = options_.lambda1;
  if (gram_stale_) gather_gram();
  root_.resize(at(m));
  residual_.resize(at(m));
  for (Index i = 0; i < m; ++i) root_[at(i)] = std::sqrt(eta_[at(i)]);

  P_.reshape(m, m);
  scaled_targets_.reshape(m, space_.size());
  for (Index i = 0; i < m; ++i) {
    const double scale = root_[at(i)] / lambda1;
    double* p = P_.row(i);
    const double* k = gram_.row(i);
    for (Index j = 0; j < m; ++j) p[j] = scale * root_[at(j)] * k[j];
    p[i] += 1;
    double* scaled = scaled_targets_.row(i);
    const double* target = targets_.row(i);
    for (Index s = 0; s < scaled_targets_.stride(); ++s) scaled[s] = root_[at(i)] * target[s];
  }
  if (!invert_spd(P_)) return false;
  multiply(P_, scaled_targets_, Y_);
  multiply_by_transpose(Y_, transposed_, YY_);

  code_target_ = 0;
  value_ = 0;
  double trace = 1;
  for (Index i = 0; i < m; ++i) {
    trace += eta_[at(i)] * gram_(i, i) / lambda1;
    residual_[at(i)] = std::sqrt(YY_(i, i)) / root_[at(i)];
    code_target_ += dot(scaled_targets_.row(i), Y_.row(i), Y_.stride()) / lambda1;
    value_ += eta_[at(i)];
  }
  value_ = 0.5 * (lambda1 * value_ - code_target_);
  rounding_ =
      4 * std::numeric_limits<double>::epsilon() * trace * kappa_;  // trace >= condition of P
  return std::isfinite(value_);
}

/// The duality gap of the problem restricted to the working set, relative to its objective.
double JointSolver::working_gap() const {
  const double lambda1 = options_.lambda1;
  double norms = 0, code_residual = 0, largest = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const double norm =
        eta_[i] * residual_[i] / lambda1;  // ||a_j||, since a_j = eta_j G_j / lambda1
    norms += lambda1 * norm;
    code_residual += norm * residual_[i];
    largest = std::max(largest, residual_[i]);
  }
  const Certificate c = certify(kappa_, lambda1, norms, code_target_, code_residual, largest);
  return c.objective > 0 ? c.gap / c.objective : 0;
}

/// z_: the minimiser of Newton's quadratic model, T z = w, under the bounds z >= -1; `damping`
/// times the diagonal is added to T.
void JointSolver::solve_bounded_model(Model model, double damping) {
  const Index m = static_cast<Index>(rows_.size());
  const double lambda1 = options_.lambda1;
  // All of T, and what the rows on their bounds, z = -1, add to the right-hand side of the others.
  model_.reshape(m, m);
  w_.resize(at(m));
  z_.assign(at(model_.stride()), 0.0);
  pushed_.assign(at(model_.stride()), 0.0);
  fixed_.assign(at(m), 0);
  const auto put_on_bound = [&](Index i, bool on) {
    fixed_[at(i)] = on;
    z_[at(i)] = -1;
    subtract(pushed_.data(), on ? -1 : 1, model_.row(i), model_.stride());
  };
  for (Index i = 0; i < m; ++i) {
    const double g = residual_[at(i)] / lambda1;
    w_[at(i)] = YY_(i, i) * (model == Model::secular ? g - 1 : 0.5 * (1 - 1 / (g * g)));
    const double *p = P_.row(i), *y = YY_.row(i);
    double* row = model_.row(i);
    for (Index j = 0; j < model_.stride(); j += simd::width)
      simd::store(row + j, -simd::load(p + j) * simd::load(y + j));
  }
  for (Index i = 0; i < m; ++i)  // not at once: a pack that is read after one of its numbers was
    model_(i, i) = (model_(i, i) + YY_(i, i)) * (1 + damping);  // written waits
  for (Index i = 0; i < m; ++i)
    if (YY_(i, i) == 0) put_on_bound(i, true);  // no pixel has a part along it (a zero atom)
  // Rows that want to cross their bound are put on it and the rest is solved again; one that pulls
  // back is freed. Any order of doing so gives a usable step, so the number of rounds may be
  // limited.
  for (Index round = 0; round < m + 10; ++round) {
    free_.clear();
    for (Index i = 0; i < m; ++i)
      if (!fixed_[at(i)]) free_.push_back(i);
    const Index n = static_cast<Index>(free_.size());
    T_.reshape(n, n);
    free_z_.resize(at(n));
    for (Index a = 0; a < n; ++a) {
      const Index i = free_[at(a)];
      free_z_[at(a)] = w_[at(i)] + pushed_[at(i)];
      const double* row = model_.row(i);
      if (n == m)
        std::copy_n(row, T_.stride(), T_.row(a));
      else
        for (Index b = a - a % 4; b < n; ++b) T_(a, b) = row[free_[at(b)]];
    }
    // Where atoms depend on each other T is singular, and f may fall along a direction in which the
    // model is flat: a small floor for the pivots turns that into a long step, which ends at a
    // bound.
    factor_psd(T_, flat, flat);
    solve_factored(T_, free_z_.data());
    bool crossed = false;
    for (Index a = 0; a < n; ++a) {
      const Index i = free_[at(a)];
      z_[at(i)] = free_z_[at(a)];
      if (z_[at(i)] >= -1) continue;
      put_on_bound(i, true);
      crossed = true;
    }
    if (crossed) continue;
    if (n == m || round >= m) break;
    Index pulled = -1;
    double strongest = 0;
    for (Index i = 0; i < m; ++i) {
      if (!fixed_[at(i)]) continue;
      const double slope = dot(model_.row(i), z_.data(), model_.stride()) - w_[at(i)];
      if (slope < strongest - 1e-12 * std::abs(w_[at(i)])) {
        strongest = slope;
        pulled = i;
      }
    }
    if (pulled < 0) break;
    put_on_bound(pulled, false);
  }
}

/// Moves to the point that Newton's model proposes.
void JointSolver::propose(Model model, double damping) {
  solve_bounded_model(model, damping);
  base_rows_ = rows_;
  base_eta_ = eta_;
  base_value_ = value_;
  step_.resize(eta_.size());
  for (size_t i = 0; i < eta_.size(); ++i) step_[i] = eta_[i] * z_[i];
  retreat(1);
}

/// The point `part` of the way from the accepted point along the step, without the rows that are
/// zero there.
void JointSolver::retreat(double part) {
  double largest = 0;
  for (size_t i = 0; i < base_eta_.size(); ++i)
    largest = std::max(largest, base_eta_[i] + part * step_[i]);
  keep_.clear();
  for (size_t i = 0; i < base_eta_.size(); ++i) {
    const bool stays = base_eta_[i] + part * step_[i] > vanishing_norm * largest;
    in_set_[at(base_rows_[i])] = stays;
    if (stays) keep_.push_back(static_cast<Index>(i));
  }
  if (rows_.size() != base_rows_.size()) {  // rows left at an earlier attempt
    targets_ = base_targets_;
    gram_stale_ = true;
  }
  if (keep_.size() != base_rows_.size()) {
    base_targets_ = targets_;
    targets_.select_rows(keep_);
    gram_stale_ = true;
  }
  rows_.resize(keep_.size());
  eta_.resize(keep_.size());
  for (size_t k = 0; k < keep_.size(); ++k) {
    const size_t i = at(keep_[k]);
    rows_[k] = base_rows_[i];
    eta_[k] = base_eta_[i] + part * step_[i];
  }
}

/// Evaluates the proposed point; shortens the step, up to `attempts` times, until f does not rise.
/// False, and back at the accepted point, where that fails.
bool JointSolver::descend(int attempts) {
  double part = 1;
  for (int attempt = 0;; ++attempt) {
    if (evaluate() && value_ <= base_value_ + rounding_) return true;
    if (attempt == attempts) break;
    part *= 0.25;
    retreat(part);
  }
  retreat(0);
  evaluate();
  return false;
}

/// One step of Newton's method: in its secular form, or, where that does not descend, in the plain
/// form with more and more damping, as Levenberg and Marquardt did. With enough of it the step
/// always descends, up to rounding. Where it was needed it will be needed again, so the next step
/// starts with a little less.
bool JointSolver::newton_step() {
  constexpr double least = 1e-8, more = 100;
  if (damping_ == 0) {
    propose(Model::secular, 0);
    if (descend(2)) return true;
    damping_ = least;
  }
  for (; damping_ < 1e4; damping_ *= more) {
    propose(Model::newton, damping_);
    if (!descend(1)) continue;
    damping_ = damping_ > least ? damping_ / more : 0;
    return true;
  }
  return false;
}

/// Newton steps until the problem restricted to the working set is solved to `tolerance`.
void JointSolver::reduce_gap_to(double tolerance) {
  constexpr int patience =
      20;  // steps without a halving of the gap: the tolerance is below the rounding errors
  double best = infinity;
  for (int idle = 0; idle < patience && !stuck_; ++idle) {
    const double gap = working_gap();
    if (gap <= tolerance) return;
    if (gap < 0.5 * best) {
      best = gap;
      idle = 0;
    }
    stuck_ = !newton_step() || steps_ > options_.max_steps;
  }
  stuck_ = true;
}

/// A at the present point, and its certificate over all atoms.
void JointSolver::check(SparseCode& code) {
  const Index m = static_cast<Index>(rows_.size());
  const Index columns = B_->cols();
  const double lambda1 = options_.lambda1;
  if (space_.identity) {
    A_.reshape(m, columns);
    if (m > 0) std::copy_n(Y_.row(0), m * Y_.stride(), A_.row(0));
  } else {
    multiply(Y_, space_.basis, A_);
    if (m == 0) A_.reshape(0, columns);
  }
  double norms = 0, code_target = 0, code_residual = 0;
  for (Index i = 0; i < m; ++i) {
    double* a = A_.row(i);
    for (Index s = 0; s < A_.stride(); ++s) a[s] *= root_[at(i)] / lambda1;
    norms += lambda1 * std::sqrt(dot(a, a, A_.stride()));
  }
  // <A, G> from the definition of G, not from G = E^-1 Y, which holds up to rounding only: the
  // certificate must not rest on the solver being right.
  multiply(gram_, A_, image_);
  for (Index i = 0; i < m; ++i) {
    double* b = row_.data();
    if (space_.identity)
      std::copy_n(targets_.row(i), A_.stride(), b);
    else
      for (Index s = 0; s < columns; ++s) b[s] = (*B_)(rows_[at(i)], s);
    const double* a = A_.row(i);
    code_target += dot(a, b, A_.stride());
    subtract(b, 1, image_.row(i), A_.stride());
    code_residual += dot(a, b, A_.stride());
  }
  residual_row_squares(K_, *B_, rows_, A_, squares_);
  double& largest = largest_square_;
  largest = 0;
  for (const double square : squares_) {
    if (!(square <= largest)) largest = square;  // also true for a NaN, which must not pass unseen
  }
  const Certificate c =
      certify(kappa_, lambda1, norms, code_target, code_residual, std::sqrt(largest));
  code.objective = c.objective;
  code.gap = std::isfinite(largest) && std::isfinite(c.gap) ? c.gap : infinity;
  code.converged = code.gap <= options_.tolerance * code.objective;
}

/// Lets the worst violators of the last check() in. False when there are none.
bool JointSolver::grow() {
  const double lambda1 = options_.lambda1;
  const double bound = lambda1 * lambda1 * (1 + 1e-12);
  const auto find = [&](double above) {
    worst_.clear();
    for (Index j = 0; j < K_.size(); ++j)
      if (squares_[at(j)] > above && !in_set_[at(j)]) worst_.push_back(j);
  };
  // A check of many atoms costs more than rows that turn out to be superfluous.
  const size_t most = std::max<size_t>(K_.size() < 512 ? 8 : 16, rows_.size() / 4);
  // Most violators are slight ones: if there are enough others, they need not be looked at.
  find(bound + 0.25 * (largest_square_ - bound));
  if (worst_.size() < most) find(bound);
  if (worst_.empty()) return false;
  if (worst_.size() > most) {
    const auto worse = [&](Index i, Index j) {
      return squares_[at(i)] != squares_[at(j)] ? squares_[at(i)] > squares_[at(j)] : i < j;
    };
    std::nth_element(worst_.begin(), worst_.begin() + static_cast<std::ptrdiff_t>(most),
                     worst_.end(), worse);
    worst_.resize(most);
    std::sort(worst_.begin(), worst_.end());
  }
  base_value_ = value_;
  base_eta_ = eta_;
  step_.assign(eta_.size(), 0.0);
  for (const Index j : worst_) {
    // The best norm for this row alone, the others held.
    append(j, (std::sqrt(squares_[at(j)]) - lambda1) / K_.diagonal(j));
    base_eta_.push_back(0);
    step_.push_back(eta_.back());
  }
  base_rows_ = rows_;
  return true;
}

void JointSolver::finish(SparseCode& code) {
  std::vector<Index>& order = keep_;
  order.resize(rows_.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(),
            [&](Index i, Index j) { return rows_[at(i)] < rows_[at(j)]; });
  code.active.resize(rows_.size());
  code.A.resize(static_cast<Index>(rows_.size()), B_->cols());
  for (size_t i = 0; i < order.size(); ++i) {
    code.active[i] = rows_[at(order[i])];
    std::copy_n(A_.row(order[i]), B_->cols(), &code.A(static_cast<Index>(i), 0));
  }
}

void JointSolver::solve(const Columns& B, double kappa, SparseCode& code) {
  if (solve_by_splitting(B, kappa, code)) return;
  steps_ = 0;
  stuck_ = false;
  damping_ = 0;
  begin(B, kappa);
  if (!evaluate()) {  // what was carried over is of no use here
    rows_.clear();
    eta_.clear();
    begin(B, kappa);
    evaluate();
  }
  double tolerance = std::max(first_tolerance, options_.tolerance);
  while (true) {
    reduce_gap_to(tolerance);
    check(code);
    if (code.converged || code.gap == infinity || steps_ > options_.max_steps) break;
    if (grow()) {
      tolerance = std::clamp(0.1 * code.gap / code.objective, 0.1 * options_.tolerance, tolerance);
      if (!descend(25)) break;
      stuck_ = false;
    } else if (stuck_ || tolerance < 1e-17) {
      break;
    } else {
      tolerance = std::min(0.1 * tolerance, 0.1 * options_.tolerance);
    }
  }
  code.steps = steps_;
  finish(code);
  if (code.converged) splitting_.follow(B, code);
}

}  // namespace hyperatom
