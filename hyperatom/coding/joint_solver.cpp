#include "hyperatom/coding/joint_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hyperatom {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Up to so many columns they are worked with themselves, not their inner products.
constexpr Index small_window = 12;

/// ||G_j||^2 by inner products is wrong by so many units of rounding of kappa, at most.
constexpr double product_rounding = 32 * std::numeric_limits<double>::epsilon();

/// Curvature of the model below this, relative to a row's own, is rounding.
constexpr double flat = 1e-12;

/// The first solve on a new working set: precise enough to tell which rows are missing.
constexpr double first_tolerance = 1e-3;

/// Norms that fall below this, relative to the largest, are zero.
constexpr double vanishing_norm = 1e-12;

/// Infinite where one is not finite, so that it does not pass unseen.
double largest_of(const std::vector<double>& squares) {
  simd::Pack largest = {}, sum = {};
  const auto look = [&](simd::Pack values) {
    largest = values > largest ? values : largest;
    sum += values;
  };
  Index j = 0;
  const Index d = static_cast<Index>(squares.size());
  for (; j + simd::width <= d; j += simd::width) look(simd::load(&squares[at(j)]));
  if (j < d) look(simd::load_part(&squares[at(j)], d - j));
  return std::isfinite(simd::sum(sum)) ? simd::largest(largest) : infinity;
}

/// Of few rows, `worst` gets those among the `most` largest squares above `bound` that are not
/// `known`. Each is compared with all, without branches: which rows these are can't be foreseen.
void worst_of_few(const std::vector<double>& squares, double bound, const std::vector<char>& known,
                  size_t most, std::vector<double>& values, std::vector<Index>& worst) {
  worst.resize(squares.size());
  values.assign(squares.size() + simd::width, 0.0);
  size_t count = 0;
  for (size_t j = 0; j < squares.size(); ++j) {
    worst[count] = static_cast<Index>(j);
    values[count] = squares[j];
    count += squares[j] > bound && !known[j];
  }
  values[count] = values[count + 1] = values[count + 2] = 0;  // up to a whole pack
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    simd::IntPack larger = {};  // minus how many are
    for (size_t k = 0; k < count; k += simd::width) larger += simd::load(&values[k]) > values[i];
    worst[kept] = worst[i];
    kept += -(larger[0] + larger[1] + larger[2] + larger[3]) < static_cast<std::int64_t>(most);
  }
  worst.resize(std::min(kept, most));  // more where squares are equal
}

/// The same of many rows, most of which are passed over once there are `most`.
void worst_of_many(const std::vector<double>& squares, double bound, const std::vector<char>& known,
                   size_t most, std::vector<Index>& worst) {
  worst.clear();  // the worst first
  const auto look = [&](size_t j) {
    if (!(squares[j] > bound) || known[j]) return;
    if (worst.size() == most) worst.pop_back();
    const auto slighter = [&](Index i) { return squares[at(i)] < squares[j]; };
    worst.insert(std::find_if(worst.begin(), worst.end(), slighter), static_cast<Index>(j));
    if (worst.size() == most) bound = squares[at(worst.back())];
  };
  size_t j = 0;
  for (; j + simd::width <= squares.size(); j += simd::width)
    if (simd::any(simd::load(&squares[j]) > bound))
      for (size_t i = j; i < j + simd::width; ++i) look(i);
  for (; j < squares.size(); ++j) look(j);
  std::sort(worst.begin(), worst.end());
}

void gather_rows(const Columns& B, const std::vector<Index>& rows, SmallMatrix& target) {
  target.reshape(static_cast<Index>(rows.size()), B.cols());
  for (Index s = 0; s < B.cols(); ++s) {
    const double* b = B.col(s);
    for (Index i = 0; i < target.rows(); ++i) target(i, s) = b[rows[at(i)]];
  }
}

}  // namespace

JointSolver::JointSolver(const AtomGram& K, const CoderOptions& options)
    : K_(K), options_(options), splitting_(K, options), in_set_(at(K.size()), 0) {}

void JointSolver::start(const WarmStart& start) {
  rows_ = start.rows;
  eta_.clear();
  for (const double value : start.values) eta_.push_back(std::abs(value));
  stale_ = true;
  inverted_ = false;
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
  stale_ = true;
  inverted_ = false;
  return true;
}

void JointSolver::begin(const Columns& B, double kappa, bool by_products) {
  B_ = &B;
  kappa_ = kappa;
  by_products_ = by_products;
  std::fill(in_set_.begin(), in_set_.end(), 0);
  for (const Index row : rows_) in_set_[at(row)] = 1;
  if (by_products) {
    products_.begin(B);
    products_.require(rows_);
    if (!stale_) gather_squared();
  } else {
    gather_rows(B, rows_, targets_);
  }
}

void JointSolver::append(Index row, double eta) {
  rows_.push_back(row);
  eta_.push_back(eta);
  in_set_[at(row)] = 1;
  stale_ = true;
  if (by_products_) return;
  targets_.append_row();
  double* target = targets_.row(targets_.rows() - 1);
  for (Index s = 0; s < B_->cols(); ++s) target[s] = (*B_)(row, s);
}

/// A symmetric matrix on the working set; of its rows those of the set can be had.
template <class RowOf>
void JointSolver::gather_symmetric(const RowOf& row_of, SmallMatrix& target) const {
  const Index m = static_cast<Index>(rows_.size());
  target.reshape(m, m);
  for (Index i = 0; i < m; ++i) {
    // Of two rows the earlier's: where there are many atoms, others are far away.
    const double* source = row_of(rows_[at(i)]);
    for (Index j = i; j < m; ++j) target(i, j) = target(j, i) = source[rows_[at(j)]];
  }
}

/// Inner products on the working set.
void JointSolver::gather_squared() {
  gather_symmetric([&](Index row) { return products_.row(row); }, squared_);
}

/// P and what belongs to it. It does not depend on the window: a window begins with that of the
/// last.
bool JointSolver::invert() {
  const Index m = static_cast<Index>(rows_.size());
  if (stale_) {
    gather_symmetric([&](Index row) { return K_.col(row); }, gram_);
    if (by_products_) gather_squared();
    stale_ = false;
  }
  root_.assign(at(simd::round_up(m)), 0.0);
  for (Index i = 0; i < m; ++i) root_[at(i)] = std::sqrt(eta_[at(i)]);
  P_.reshape(m, m);
  for (Index i = 0; i < m; ++i) {
    const double scale = root_[at(i)] / options_.lambda1;
    for (Index j = 0; j < P_.stride(); j += simd::width)
      simd::store(P_.row(i) + j, scale * simd::load(&root_[at(j)]) * simd::load(gram_.row(i) + j));
  }
  for (Index i = 0; i < m; ++i) P_(i, i) += 1;
  return invert_spd(P_);
}

/// P, Y, YY', ||G_j||, f at (rows_, eta_). False when they do not exist in floating point.
bool JointSolver::evaluate() {
  ++steps_;
  const Index m = static_cast<Index>(rows_.size());
  const double lambda1 = options_.lambda1;
  if (!inverted_) inverted_ = invert();
  if (!inverted_) return false;
  scaled_targets_.reshape(m, by_products_ ? m : B_->cols());
  const SmallMatrix& targets = by_products_ ? squared_ : targets_;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < scaled_targets_.stride(); j += simd::width) {
      simd::Pack scale = simd::broadcast(root_[at(i)]);
      if (by_products_) scale *= simd::load(&root_[at(j)]);
      simd::store(scaled_targets_.row(i) + j, scale * simd::load(targets.row(i) + j));
    }
  }
  multiply(P_, scaled_targets_, Y_);
  if (by_products_)
    multiply_symmetric(Y_, P_, YY_);
  else
    multiply_by_transpose(Y_, transposed_, YY_);

  value_ = 0;
  double trace = 0;
  residual_.resize(at(m));
  for (Index i = 0; i < m; ++i) {
    trace += eta_[at(i)] * gram_(i, i);
    residual_[at(i)] = std::sqrt(YY_(i, i)) / root_[at(i)];
    value_ += eta_[at(i)];
  }
  trace = 1 + trace / lambda1;
  code_target_ =
      dot(scaled_targets_.row(0), (by_products_ ? P_ : Y_).row(0), m * Y_.stride()) / lambda1;
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

/// Newton's quadratic model, T z = w, in the working set; `damping` times the diagonal is added to
/// T.
void JointSolver::form_model(Model model, double damping) {
  const Index m = static_cast<Index>(rows_.size());
  model_.reshape(m, m);
  w_.resize(at(m));
  lowest_.assign(at(m), -1.0);
  for (Index i = 0; i < m; ++i) {
    const double g = residual_[at(i)] / options_.lambda1;
    w_[at(i)] = YY_(i, i) * (model == Model::secular ? g - 1 : 0.5 * (1 - 1 / (g * g)));
    const double *p = P_.row(i), *y = YY_.row(i);
    double* row = model_.row(i);
    for (Index j = 0; j < model_.stride(); j += simd::width)
      simd::store(row + j, -simd::load(p + j) * simd::load(y + j));
  }
  for (Index i = 0; i < m; ++i)  // not at once: a pack that is read after one of its numbers was
    model_(i, i) = (model_(i, i) + YY_(i, i)) * (1 + damping);  // written waits
}

/// free_z_: the minimiser of the model in its free rows, the others being on their bounds.
void JointSolver::solve_free() {
  const Index m = model_.rows();
  free_.clear();
  for (Index i = 0; i < m; ++i)
    if (!fixed_[at(i)]) free_.push_back(i);
  const Index n = static_cast<Index>(free_.size());
  T_.reshape(n, n + 1);
  free_z_.resize(at(T_.stride()));
  for (Index a = 0; a < n; ++a) {
    const Index i = free_[at(a)];
    const double* row = model_.row(i);
    double* target = T_.row(a);
    if (n == m)
      for (Index b = 0; b < model_.stride(); b += simd::width)
        simd::store(target + b, simd::load(row + b));
    else
      for (Index b = a - a % 4; b < n; ++b) target[b] = row[free_[at(b)]];
    target[n] = w_[at(i)] + pushed_[at(i)];
  }
  // Where atoms depend on each other T is singular, and f may fall along a direction in which the
  // model is flat: a small floor for the pivots turns that into a long step, which ends at a bound.
  factor_psd(T_, flat, flat);
  substitute_back(T_, free_z_.data());
}

/// z_: the minimiser of the model under the bounds z >= lowest_.
void JointSolver::solve_model() {
  const Index m = model_.rows();
  z_.assign(at(model_.stride()), 0.0);
  // What the rows on their bounds add to the right-hand side of the others.
  pushed_.assign(at(model_.stride()), 0.0);
  fixed_.assign(at(m), 0);
  const auto put_on_bound = [&](Index i, bool on) {
    fixed_[at(i)] = on;
    z_[at(i)] = lowest_[at(i)];
    if (z_[at(i)] != 0)
      subtract(pushed_.data(), on ? z_[at(i)] : -z_[at(i)], model_.row(i), model_.stride());
  };
  for (Index i = 0; i < m; ++i)
    if (model_(i, i) == 0) put_on_bound(i, true);  // no pixel has a part along it (a zero atom)
  // Rows that want to cross their bound are put on it and the rest is solved again; one that pulls
  // back is freed. Any order of doing so gives a usable step, so the number of rounds may be
  // limited.
  for (Index round = 0; round < m + 10; ++round) {
    solve_free();
    const Index n = static_cast<Index>(free_.size());
    bool crossed = false;
    for (Index a = 0; a < n; ++a) {
      const Index i = free_[at(a)];
      z_[at(i)] = free_z_[at(a)];
      if (z_[at(i)] >= lowest_[at(i)]) continue;
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
  form_model(model, damping);
  solve_model();
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
    if (!by_products_) targets_ = base_targets_;
    stale_ = true;
  }
  if (keep_.size() != base_rows_.size()) {
    if (!by_products_) {
      base_targets_ = targets_;
      targets_.select_rows(keep_);
    }
    stale_ = true;
  }
  inverted_ = false;
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

/// Of the code at hand, A_.
JointSolver::Sums JointSolver::sums_of_code() {
  Sums sums;
  // <A, G> from the definition of G, not from G = E^-1 Y, which holds up to rounding only: the
  // certificate must not rest on the solver being right.
  multiply(gram_, A_, image_);
  for (Index i = 0; i < A_.rows(); ++i) {
    const double *a = A_.row(i), *b = targets_.row(i);
    double* g = image_.row(i);
    for (Index s = 0; s < A_.stride(); ++s) g[s] = b[s] - g[s];
    sums.norms += std::sqrt(dot(a, a, A_.stride()));
    sums.code_target += dot(a, b, A_.stride());
    sums.code_residual += dot(a, g, A_.stride());
  }
  return sums;
}

/// M, by which the code is M B_W, and the same of that code, which is not formed.
JointSolver::Sums JointSolver::sums_by_products() {
  const Index m = static_cast<Index>(rows_.size());
  map_.reshape(m, m);
  for (Index i = 0; i < m; ++i) {
    const double scale = root_[at(i)] / options_.lambda1;
    for (Index j = 0; j < m; ++j) map_(i, j) = scale * root_[at(j)] * P_(i, j);
  }
  multiply(map_, squared_, image_);  // A B_W'
  multiply(gram_, map_, A_);
  Sums sums;
  for (Index i = 0; i < m; ++i) {
    const double* image = image_.row(i);
    double size = 0;
    for (Index j = 0; j < m; ++j) size += std::abs(map_(i, j));
    const double norm = std::sqrt(std::max(0.0, dot(map_.row(i), image, image_.stride())));
    sums.norms += norm;
    sums.code_target += image[i];
    sums.code_residual += image[i] - dot(A_.row(i), image, image_.stride());
    sums.sizes += size;
    sums.norms_rounding += size * size / norm;
  }
  return sums;
}

/// The certificate of the present point over all atoms; A_ if it meets the tolerance.
void JointSolver::check(SparseCode& code) {
  const Index m = static_cast<Index>(rows_.size());
  const double lambda1 = options_.lambda1;
  const auto certify_by = [&](const Sums& sums, double square) {
    const Certificate c = certify(kappa_, lambda1, lambda1 * sums.norms, sums.code_target,
                                  sums.code_residual, std::sqrt(square));
    code.objective = c.objective;
    code.gap = std::isfinite(square) && std::isfinite(c.gap) ? c.gap : infinity;
    code.converged = code.gap <= options_.tolerance * code.objective;
  };
  if (by_products_) {
    const Sums sums = sums_by_products();
    const double size = products_.residual_row_squares(K_, rows_, map_, squared_, squares_);
    const double square = largest_of(squares_) + products_.rounding() * size * size;
    certify_by(sums, square);
    if (!code.converged) return;
    gather_rows(*B_, rows_, targets_);
    multiply(map_, targets_, A_);
    const double rounding =
        products_.rounding() * (size * sums.sizes + lambda1 * sums.norms_rounding);
    if (code.gap + rounding <= options_.tolerance * code.objective)
      code.gap += rounding;
    else
      certify_by(sums_of_code(), square);
    return;
  }
  A_.reshape(m, B_->cols());
  for (Index i = 0; i < m; ++i)
    for (Index s = 0; s < A_.stride(); ++s) A_(i, s) = root_[at(i)] / lambda1 * Y_(i, s);
  residual_row_squares(K_, *B_, rows_, A_, squares_);
  certify_by(sums_of_code(), largest_of(squares_));
}

/// worst_: the worst violators of the last check(). False when there are none.
bool JointSolver::find_violators() {
  constexpr Index few = 128;
  const double bound = options_.lambda1 * options_.lambda1 * (1 + 1e-12);
  // A check of many atoms costs more than rows that turn out to be superfluous.
  const size_t most = std::max<size_t>(K_.size() < 512 ? 8 : 16, rows_.size() / 4);
  if (K_.size() <= few)
    worst_of_few(squares_, bound, in_set_, most, scale_, worst_);
  else
    worst_of_many(squares_, bound, in_set_, most, worst_);
  return !worst_.empty();
}

/// GW_ = G_N G_W' E and GN_ = G_N G_N' of the violators N, whose rows of B are in G_, by h_ = K_NW
/// M.
void JointSolver::products_of_violators() {
  const Index m = static_cast<Index>(rows_.size()), n = static_cast<Index>(worst_.size());
  if (m == 0) {
    multiply_by_transpose(G_, scratch_, GN_);
  } else if (!by_products_) {
    multiply(h_, targets_, U_);
    for (Index j = 0; j < n; ++j) subtract(G_.row(j), 1, U_.row(j), G_.stride());
    multiply(G_, transposed_, GW_);
    multiply_by_transpose(G_, scratch_, GN_);
  } else {
    // With U = G_N B_W':  G_N G_W' E = U E P,  G_N G_N' = C_NN - h C_WN - U h'.
    multiply_by_transpose(G_, scratch_, GN_);
    far_.reshape(m, n);  // C_WN
    for (Index i = 0; i < m; ++i) {
      const double* c = products_.row(rows_[at(i)]);
      for (Index j = 0; j < n; ++j) far_(i, j) = c[worst_[at(j)]];
    }
    const auto subtract_from_GN = [&](const SmallMatrix& left, const SmallMatrix& right) {
      multiply(left, right, G_);
      for (Index j = 0; j < n; ++j) subtract(GN_.row(j), 1, G_.row(j), GN_.stride());
    };
    subtract_from_GN(h_, far_);
    multiply(h_, squared_, GW_);
    transpose(far_, U_);
    for (Index j = 0; j < n; ++j) subtract(U_.row(j), 1, GW_.row(j), GW_.stride());
    transpose(h_, far_);
    subtract_from_GN(U_, far_);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < m; ++i) U_(j, i) *= root_[at(i)];
    multiply(U_, P_, GW_);
  }
}

/// Adds the violators N, whose norms are zero, to Newton's model. In absolute terms its matrix is
/// R o (G G'), with
///
///   R = (K - K_W' M K_W) / lambda1      G = B - K_W' M B_W      M = E P E / lambda1;
///
/// scale_ has the unit of each violator's norm.
void JointSolver::extend_model() {
  const Index m = static_cast<Index>(rows_.size()), n = static_cast<Index>(worst_.size());
  const double lambda1 = options_.lambda1;
  gather_rows(*B_, worst_, G_);
  // V = K_NW E P, so that h = V E / lambda1 and R_NW = V E^-1 / lambda1.
  near_.reshape(n, m);
  for (Index i = 0; i < m; ++i) {
    const double* k = K_.col(rows_[at(i)]);  // these, not the violators', have been read lately
    for (Index j = 0; j < n; ++j) near_(j, i) = root_[at(i)] * k[worst_[at(j)]];
  }
  multiply(near_, P_, V_);
  h_.reshape(n, m);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < m; ++i) h_(j, i) = V_(j, i) * root_[at(i)] / lambda1;
  products_of_violators();
  if (m > 0) {
    transpose(near_, far_);
    multiply(V_, far_, R_);
  }

  extended_.reshape(m + n, m + n);
  w_.resize(at(m + n));
  lowest_.resize(at(m + n), 0.0);
  scale_.resize(at(n));
  for (Index i = 0; i < m; ++i) std::copy_n(model_.row(i), m, extended_.row(i));
  for (Index j = 0; j < n; ++j) {
    const double length = std::sqrt(squares_[at(worst_[at(j)])]);
    scale_[at(j)] = (length - lambda1) / K_.diagonal(worst_[at(j)]);  // its best norm, alone
    w_[at(m + j)] = scale_[at(j)] * GN_(j, j) * (length / lambda1 - 1);
  }
  for (Index j = 0; j < n; ++j) {
    const double scale = scale_[at(j)] / lambda1;
    const double* k = K_.col(worst_[at(j)]);
    double* row = extended_.row(m + j);
    for (Index i = 0; i < m; ++i) row[i] = extended_(i, m + j) = V_(j, i) * GW_(j, i) * scale;
    for (Index l = 0; l < n; ++l) {
      const double r = k[worst_[at(l)]] - (m > 0 ? R_(j, l) / lambda1 : 0);
      row[m + l] = r * GN_(j, l) * scale * scale_[at(l)];
    }
  }
  std::swap(model_, extended_);
}

/// Moves to where the violators have the norms `entering`, and the others, if `moving`, those of
/// the model.
void JointSolver::let_in(const std::vector<double>& entering, bool moving) {
  base_value_ = value_;
  base_eta_ = eta_;
  step_.assign(eta_.size(), 0.0);
  for (size_t i = 0; moving && i < eta_.size(); ++i) step_[i] = eta_[i] * z_[i];
  step_.insert(step_.end(), entering.begin(), entering.end());
  for (const Index j : worst_) {
    append(j, 0);
    base_eta_.push_back(0);
  }
  base_rows_ = rows_;
  retreat(1);
  if (by_products_) products_.require(rows_);
}

/// Lets violators of the last check() in: those that Newton's model gives a norm; where that does
/// not descend, all, with as much as each would have alone, or less. False when none can enter.
bool JointSolver::grow() {
  form_model(Model::secular, 0);
  extend_model();
  solve_model();
  entering_.resize(worst_.size());
  for (size_t j = 0; j < worst_.size(); ++j) entering_[j] = scale_[j] * z_[rows_.size() + j];
  if (std::any_of(entering_.begin(), entering_.end(), [](double norm) { return norm > 0; })) {
    let_in(entering_, true);
    if (descend(2)) return true;
  }
  let_in(scale_, false);
  return descend(25);
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

/// Newton's method and checks in turn, from the rows and norms at hand.
void JointSolver::iterate(const Columns& B, double kappa, bool by_products, SparseCode& code) {
  stuck_ = false;
  damping_ = 0;
  begin(B, kappa, by_products);
  if (!evaluate()) {  // what was carried over is of no use here
    rows_.clear();
    eta_.clear();
    stale_ = true;
    inverted_ = false;
    begin(B, kappa, by_products);
    evaluate();
  }
  double tolerance = std::max(first_tolerance, options_.tolerance);
  while (true) {
    reduce_gap_to(tolerance);
    check(code);
    if (code.converged || code.gap == infinity || steps_ > options_.max_steps) break;
    if (find_violators()) {
      tolerance = std::clamp(1e-3 * code.gap / code.objective, 0.5 * options_.tolerance, tolerance);
      if (!grow()) break;
      stuck_ = false;
    } else if (stuck_ || tolerance < 1e-17) {
      break;
    } else {
      tolerance = std::min(0.1 * tolerance, 0.5 * options_.tolerance);
    }
  }
}

/// Whether inner products of the rows of B have digits enough, and cost less than its columns.
bool JointSolver::prefers_products(const Columns& B, double kappa) const {
  return B.cols() > small_window && 5 * static_cast<Index>(rows_.size()) < 4 * B.cols() &&
         product_rounding * kappa <= options_.tolerance * options_.lambda1 * options_.lambda1;
}

void JointSolver::solve(const Columns& B, double kappa, SparseCode& code) {
  if (solve_by_splitting(B, kappa, code)) return;
  steps_ = 0;
  const bool by_products = prefers_products(B, kappa);
  iterate(B, kappa, by_products, code);
  if (by_products && !code.converged) iterate(B, kappa, false, code);  // its digits may be enough
  code.steps = steps_;
  finish(code);
  if (code.converged) splitting_.follow(B, code);
}

}  // namespace hyperatom
