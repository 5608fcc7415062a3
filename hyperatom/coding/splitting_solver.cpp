#include "hyperatom/coding/splitting_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hyperatom/base/simd_float.hpp"
#include "hyperatom/coding/constant.hpp"
#include "hyperatom/coding/small_matrix.hpp"

namespace hyperatom {
namespace {

/// Larger dictionaries have no dense codes, and inverting their Gram matrix takes long.
constexpr Index most_atoms = 512;

/// K^-1 is trusted where K's condition number is at most this.
constexpr double most_condition = 1e9;

/// What rounding may take from the certificate, relative to it.
constexpr double margin = 1.001;

/// Iterations in float don't come closer than this.
constexpr double closest = 1e-9;

/// Where A - Z has become so small, relative to A's distance from what it is reckoned from,
/// squared, its rounding begins to tell.
constexpr double rough = 1e-9;

/// Windows of more columns remember less: what is remembered is read in every iteration.
constexpr Index narrow = 16;

constexpr int most_iterations = 100;

/// What is expected of a window while nothing is known.
constexpr double usual_iterations = 20;

constexpr float relaxation = 1.7f;

/// Windows that share a metric: a new one costs the inverse of a matrix.
constexpr int metric_lifetime = 2;

/// Windows by whose iterations the scale of the metric is judged.
constexpr int scale_lifetime = 4;

/// Columns are padded to whole pairs of packs.
constexpr Index padding = 2 * simd::float_width;

template <class T>
constexpr Index pack_width = sizeof(simd::Pack) / sizeof(T);

/// Two packs of rows and `columns` columns of C = M R, from M and R on.
template <int columns, class T>
void multiply_tile(const T* M, Index stride, Index inner, const T* R, T* C) {
  using Pack = decltype(simd::load(M));
  Pack sums[2][columns];
  simd::clear(sums);
  for (Index k = 0; k < inner; ++k) {
    const Pack m[2] = {simd::load(M + k * stride), simd::load(M + k * stride + pack_width<T>)};
#pragma GCC unroll 6
    for (int c = 0; c < columns; ++c) {
      const Pack r = simd::broadcast(R[c * stride + k]);
#pragma GCC unroll 2
      for (int p = 0; p < 2; ++p) sums[p][c] = simd::multiply_add(m[p], r, sums[p][c]);
    }
  }
#pragma GCC unroll 6
  for (int c = 0; c < columns; ++c)
#pragma GCC unroll 2
    for (int p = 0; p < 2; ++p) simd::store(C + c * stride + p * pack_width<T>, sums[p][c]);
}

/// C = M R, with columns `stride` apart; M has `inner` of them.
template <class T>
void multiply_columns(const std::vector<T>& M, Index stride, Index inner, const std::vector<T>& R,
                      Index columns, std::vector<T>& C) {
  constexpr int most = 6;  // columns of a tile: its twelve sums, with what they need, fill the
                           // registers
  const Index tiles = (columns + most - 1) / most;
  for (Index row = 0; row < stride; row += 2 * pack_width<T>) {
    for (Index tile = 0; tile < tiles; ++tile) {
      const Index first = tile * columns / tiles;
      const Index count = (tile + 1) * columns / tiles - first;
      const T* m = M.data() + row;
      const T* r = R.data() + first * stride;
      T* c = C.data() + first * stride + row;
      with_constant<1, most>(count, [&]<int n> { multiply_tile<n>(m, stride, inner, r, c); });
    }
  }
}

/// Solves the symmetric positive definite system M x = y of n <= size unknowns in place.
template <int n, int size>
void solve_small(double (&M)[size][size], double (&y)[size]) {
  for (int k = 0; k < n; ++k) {
    for (int i = k + 1; i < n; ++i) {
      const double factor = M[i][k] / M[k][k];
      for (int j = k + 1; j <= i; ++j) M[i][j] -= factor * M[j][k];
      y[i] -= factor * y[k];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    for (int i = k + 1; i < n; ++i) y[k] -= M[i][k] * y[i];
    y[k] /= M[k][k];
  }
}

}  // namespace

SplittingSolver::SplittingSolver(const AtomGram& K, const CoderOptions& options)
    : K_(K), options_(options), stride_((K.size() + padding - 1) / padding * padding) {
  start();
}

void SplittingSolver::start() {
  follows_ = false;
  scale_ = 1;
  growing_ = true;
  sum_ = last_sum_ = 0;
  iterations_ = usual_iterations;
  looseness_ = 100;
  pause_ = 1;  // Newton's method, too, has to be seen with a window to go on from
  penalty_ = 1;
}

/// In multiplications of Newton's method, by what was measured: those of this solver are in float,
/// and what it does to vectors counts.
double SplittingSolver::cost(double iterations) const {
  const auto d = static_cast<double>(K_.size()), S = static_cast<double>(columns_);
  return iterations * d * S * (d / 4 + 16) + 2 * d * d * S + d * d * d / metric_lifetime;
}

double SplittingSolver::newton_cost(const SparseCode& code) const {
  const auto m = static_cast<double>(code.active.size()), S = static_cast<double>(columns_);
  return newton_steps_ * m * m * (1.2 * m + 1.5 * std::min(m, S)) +
         2 * m * S * (m + static_cast<double>(K_.size()));
}

void SplittingSolver::prepare() {
  const Index d = K_.size();
  inverse_state_ = Inverse::none;
  SmallMatrix inverse;
  inverse.reshape(d, d);
  for (Index j = 0; j < d; ++j) std::copy_n(K_.col(j), d, inverse.row(j));
  if (!invert_spd(inverse)) return;
  double largest = 0, largest_inverse = 0;
  for (Index j = 0; j < d; ++j) {
    largest += K_(j, j);
    largest_inverse += inverse(j, j);
  }
  if (!(largest * largest_inverse <= most_condition)) return;
  gram_.assign(at(stride_ * d), 0.0);
  inverse_.assign(at(stride_ * d), 0.0);
  for (Index j = 0; j < d; ++j) {
    std::copy_n(K_.col(j), d, &gram_[at(j * stride_)]);
    std::copy_n(inverse.row(j), d, &inverse_[at(j * stride_)]);
  }
  inverse_state_ = Inverse::known;
}

/// r_j = scale lambda1 / sqrt(||z_j|| n), n the median norm: halfway between one rho and the metric
/// in which a row moves by as much as it is long.
void SplittingSolver::set_metric(const std::vector<double>& norms) {
  const Index d = K_.size();
  std::vector<double>& sorted = scratch_;
  sorted.clear();
  for (const double norm : norms)
    if (norm > 0) sorted.push_back(norm);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double median = *middle;

  root_.assign(at(stride_), 1.0);
  inverse_root_.assign(at(stride_), 1.0);
  threshold_.assign(at(stride_), 1.0f);
  shifted_.reshape(d, d);
  for (Index j = 0; j < d; ++j) {
    const double r =
        scale_ * options_.lambda1 / std::sqrt(median * std::max(norms[at(j)], 0.1 * median));
    std::copy_n(K_.col(j), d, shifted_.row(j));
    shifted_(j, j) += r;
    root_[at(j)] = std::sqrt(r);
    inverse_root_[at(j)] = 1 / root_[at(j)];
    threshold_[at(j)] = static_cast<float>(options_.lambda1 / root_[at(j)]);
  }
  invert_spd(shifted_);
  resolvent_.assign(at(stride_ * d), 0.0f);
  for (Index j = 0; j < d; ++j)
    for (Index i = 0; i < d; ++i)
      resolvent_[at(j * stride_ + i)] =
          static_cast<float>(root_[at(i)] * shifted_(j, i) * root_[at(j)]);

  // V = Z + G / r, which stays where it is if Z solves the problem.
  for (Index s = 0; s < columns_; ++s) {
    for (Index j = 0; j < K_.size(); ++j) {
      const size_t i = at(s * stride_ + j);
      V_[i] = static_cast<float>(root_[at(j)] * exact_[i] + inverse_root_[at(j)] * G_[i]);
    }
  }
}

void SplittingSolver::resize(Index columns) {
  if (columns_ == columns) return;
  columns_ = columns;
  const size_t size = at(stride_ * columns);
  for (std::vector<double>* each : {&B_, &G_, &exact_, &T_, &image_}) each->assign(size, 0.0);
  for (std::vector<float>* each :
       {&V_, &Z_, &reference_, &constant_, &right_, &resolved_, &F_, &step_})
    each->assign(size, 0.0f);
  pool_.resize(2 * memory * size);
  for (int k = 0; k < memory; ++k) {
    difference_[k] = &pool_[at(2 * k) * size];
    mixed_[k] = &pool_[at(2 * k + 1) * size];
  }
}

void SplittingSolver::follow(const Columns& B, const SparseCode& code) {
  follows_ = false;
  newton_steps_ = code.steps;
  if (pause_ > 0) {
    if (--pause_ > 0) return;
    iterations_ = usual_iterations;
  }
  if (3 * static_cast<Index>(code.active.size()) <= K_.size() || K_.size() > most_atoms ||
      options_.tolerance < closest)
    return;
  resize(B.cols());
  if (cost(iterations_) > newton_cost(code)) return;
  if (inverse_state_ == Inverse::unknown) prepare();
  if (inverse_state_ == Inverse::none) return;
  follows_ = true;
  std::fill(exact_.begin(), exact_.end(), 0.0);
  for (Index s = 0; s < columns_; ++s) {
    std::copy_n(B.col(s), K_.size(), &B_[at(s * stride_)]);
    for (size_t i = 0; i < code.active.size(); ++i)
      exact_[at(s * stride_ + code.active[i])] = code.A(static_cast<Index>(i), s);
  }
  subtract_image();
  objective_ = code.objective;
  age_ = 0;
}

void SplittingSolver::begin(const Columns& B) {
  for (Index s = 0; s < columns_; ++s) {
    const double* b = B.col(s);
    for (Index j = 0; j < K_.size(); ++j) {
      const size_t i = at(s * stride_ + j);
      G_[i] += b[j] - B_[i];
      B_[i] = b[j];
    }
  }
  refer_to_exact();
  history_ = 0;
}

void SplittingSolver::refer_to_exact() {
  for (Index s = 0; s < columns_; ++s) {
    for (Index j = 0; j < K_.size(); ++j) {
      const size_t i = at(s * stride_ + j);
      const double scaled = root_[at(j)] * exact_[i];
      reference_[i] = static_cast<float>(scaled);
      constant_[i] = static_cast<float>(G_[i] * inverse_root_[at(j)] - scaled);
    }
  }
}

/// Z = prox(V), and the right-hand side of A.
void SplittingSolver::shrink() {
  using simd::FloatPack;
  for (Index row = 0; row < stride_; row += padding) {  // whole cache lines
    FloatPack squares[2], keep[2];
    simd::clear(squares);
    for (Index s = 0; s < columns_; ++s) {
      for (int p = 0; p < 2; ++p) {
        const FloatPack v = simd::load(&V_[at(s * stride_ + row + p * simd::float_width)]);
        squares[p] = simd::multiply_add(v, v, squares[p]);
      }
    }
    for (int p = 0; p < 2; ++p) {
      keep[p] = 1.0f - simd::load(&threshold_[at(row + p * simd::float_width)]) /
                           simd::square_root(squares[p]);
      keep[p] = keep[p] > 0 ? keep[p] : FloatPack{};
    }
    for (Index s = 0; s < columns_; ++s) {
      for (int p = 0; p < 2; ++p) {
        const size_t i = at(s * stride_ + row + p * simd::float_width);
        const FloatPack v = simd::load(&V_[i]);
        const FloatPack z = keep[p] * v;
        simd::store(&Z_[i], z);
        simd::store(&right_[i], simd::load(&constant_[i]) + (z + z - v));
      }
    }
  }
}

/// F = 1.7 (A - Z), its difference from the last, the products of the differences, of which there
/// are `count` now, with the newest and with F, and what there is to know of A - Z.
template <int count>
SplittingSolver::Residual SplittingSolver::residual() {
  using simd::FloatPack;
  constexpr int older = std::max(count - 1, 0);
  float* difference = difference_[older];
  float* mixed = mixed_[older];
  const FloatPack factor = simd::broadcast(relaxation);
  FloatPack squares = {}, far = {};
  FloatPack with_newest[older + 1], with_residual[older + 1];
  simd::clear(with_newest);
  simd::clear(with_residual);
  for (size_t i = 0; i < F_.size(); i += simd::float_width) {
    const FloatPack resolved = simd::load(&resolved_[i]);
    const FloatPack e = resolved + (simd::load(&reference_[i]) - simd::load(&Z_[i]));
    squares = simd::multiply_add(e, e, squares);
    far = simd::multiply_add(resolved, resolved, far);
    const FloatPack f = factor * e;
    if constexpr (count > 0) {
      const FloatPack change = f - simd::load(&F_[i]);
      simd::store(difference + i, change);
      simd::store(mixed + i, simd::load(&step_[i]) + change);
#pragma GCC unroll 4
      for (int k = 0; k < older; ++k) {
        const FloatPack before = simd::load(difference_[k] + i);
        with_newest[k] = simd::multiply_add(before, change, with_newest[k]);
        with_residual[k] = simd::multiply_add(before, f, with_residual[k]);
      }
      with_newest[older] = simd::multiply_add(change, change, with_newest[older]);
      with_residual[older] = simd::multiply_add(change, f, with_residual[older]);
    }
    simd::store(&F_[i], f);
  }
#pragma GCC unroll 5
  for (int k = 0; k < count; ++k) {
    products_[k][older] = products_[older][k] = simd::sum(with_newest[k]);
    along_[k] = simd::sum(with_residual[k]);
  }
  return {simd::sum(squares), simd::sum(far)};
}

/// V moves by F, less `share` of what the last differences say of F's change on the way.
template <int count>
void SplittingSolver::move(const double* share) {
  using simd::FloatPack;
  FloatPack shares[std::max(count, 1)];
#pragma GCC unroll 5
  for (int k = 0; k < count; ++k) shares[k] = simd::broadcast(static_cast<float>(-share[k]));
  for (size_t i = 0; i < F_.size(); i += simd::float_width) {
    FloatPack step = simd::load(&F_[i]);
#pragma GCC unroll 5
    for (int k = 0; k < count; ++k)
      step = simd::multiply_add(shares[k], simd::load(mixed_[k] + i), step);
    simd::store(&step_[i], step);
    simd::store(&V_[i], simd::load(&V_[i]) + step);
  }
}

/// Anderson's mixing: F less the combination of its differences that is closest to it.
template <int count>
void SplittingSolver::mix() {
  double system[memory][memory], share[memory] = {};
  double trace = 0;
  for (int k = 0; k < count; ++k) trace += products_[k][k];
  for (int k = 0; k < count; ++k) {
    std::copy_n(products_[k], count, system[k]);
    system[k][k] += 1e-7 * trace;
    share[k] = along_[k];
  }
  if (trace > 0) solve_small<count>(system, share);
  move<count>(share);
}

/// Makes room for one more difference.
void SplittingSolver::extend_history() {
  if (history_ < (columns_ <= narrow ? memory : 3)) {
    ++history_;
    return;
  }
  std::rotate(difference_, difference_ + 1, difference_ + history_);
  std::rotate(mixed_, mixed_ + 1, mixed_ + history_);
  for (int i = 0; i + 1 < history_; ++i)
    for (int j = 0; j + 1 < history_; ++j) products_[i][j] = products_[i + 1][j + 1];
}

/// exact_ = Z, and its G.
void SplittingSolver::make_exact() {
  const Index d = K_.size();
  for (Index s = 0; s < columns_; ++s)
    for (Index j = 0; j < d; ++j)
      exact_[at(s * stride_ + j)] = Z_[at(s * stride_ + j)] * inverse_root_[at(j)];
  subtract_image();
}

/// G = B - K exact_.
void SplittingSolver::subtract_image() {
  multiply_columns(gram_, stride_, K_.size(), exact_, columns_, image_);
  for (size_t i = 0; i < G_.size(); i += simd::width)
    simd::store(&G_[i], simd::load(&B_[i]) - simd::load(&image_[i]));
}

/// The certificate of exact_. T is the gradient at A, r o (V - 2 Z + A), on the sphere of radius
/// lambda1 where the row of Z is not zero, else in the ball.
void SplittingSolver::certify(double kappa, std::vector<double>& norms, SparseCode& code) {
  using simd::Pack;
  const Index d = K_.size();
  const double lambda1 = options_.lambda1;
  norms.resize(at(stride_));
  scratch_.resize(at(stride_));
  for (Index i = 0; i < static_cast<Index>(T_.size()); ++i)
    T_[at(i)] = (V_[at(i)] - 2 * Z_[at(i)]) + (resolved_[at(i)] + reference_[at(i)]);
  Pack code_target = {}, code_residual = {};
  for (Index row = 0; row < stride_; row += simd::width) {
    Pack squares = {}, lengths = {};
    for (Index s = 0; s < columns_; ++s) {
      const size_t i = at(s * stride_ + row);
      const Pack z = simd::load(&exact_[i]), t = simd::load(&T_[i]);
      squares = simd::multiply_add(z, z, squares);
      lengths = simd::multiply_add(t, t, lengths);
      code_target = simd::multiply_add(z, simd::load(&B_[i]), code_target);
      code_residual = simd::multiply_add(z, simd::load(&G_[i]), code_residual);
    }
    simd::store(&norms[at(row)], squares);
    simd::store(&scratch_[at(row)], lengths);
  }
  double sum = 0;
  for (Index j = 0; j < stride_; ++j) {
    norms[at(j)] = std::sqrt(norms[at(j)]);
    sum += norms[at(j)];
    const double length = std::sqrt(scratch_[at(j)]);
    scratch_[at(j)] =
        norms[at(j)] > 0 || root_[at(j)] * length > lambda1 ? lambda1 / length : root_[at(j)];
  }
  Pack along = {};
  for (Index row = 0; row < stride_; row += simd::width) {
    const Pack factor = simd::load(&scratch_[at(row)]);
    for (Index s = 0; s < columns_; ++s) {
      const size_t i = at(s * stride_ + row);
      const Pack t = factor * simd::load(&T_[i]);
      along = simd::multiply_add(t, simd::load(&exact_[i]), along);
      simd::store(&T_[i], simd::load(&G_[i]) - t);
    }
  }
  multiply_columns(inverse_, stride_, d, T_, columns_, image_);
  const double square = dot(T_.data(), image_.data(), static_cast<Index>(T_.size()));
  code.objective =
      std::max(0.0, 0.5 * (kappa - simd::sum(code_target + code_residual))) + lambda1 * sum;
  code.gap = margin * (0.5 * square + std::max(0.0, lambda1 * sum - simd::sum(along)));
}

void SplittingSolver::write(const std::vector<double>& norms, SparseCode& code) const {
  code.active.clear();
  for (Index j = 0; j < K_.size(); ++j)
    if (norms[at(j)] > 0) code.active.push_back(j);
  code.A.resize(static_cast<Index>(code.active.size()), columns_);
  for (Index s = 0; s < columns_; ++s)
    for (size_t i = 0; i < code.active.size(); ++i)
      code.A(static_cast<Index>(i), s) = exact_[at(s * stride_ + code.active[i])];
}

bool SplittingSolver::solve(const Columns& B, double kappa, std::vector<double>& norms,
                            SparseCode& code) {
  if (!follows_ || columns_ != B.cols()) return false;
  if (age_ % scale_lifetime == 0) adapt_scale();
  if (age_ % metric_lifetime == 0) set_metric(norms);
  ++age_;
  begin(B);
  const int limit = std::min(most_iterations, options_.max_steps);
  code.converged = false;
  for (code.steps = 1; code.steps <= limit; ++code.steps) {
    shrink();
    multiply_columns(resolvent_, stride_, K_.size(), right_, columns_, resolved_);
    if (code.steps > 1) extend_history();
    const Residual r =
        with_constant<0, memory>(history_, [&]<int count> { return residual<count>(); });
    if (looseness_ * r.square <= options_.tolerance * objective_) {
      make_exact();
      certify(kappa, norms, code);
      objective_ = code.objective;
      const double ratio = code.gap / r.square;
      looseness_ = std::max(1.3 * ratio, std::sqrt(looseness_ * ratio));
      code.converged = code.gap <= options_.tolerance * code.objective;
      if (code.converged || !std::isfinite(code.gap)) break;
      refer_to_exact();
    } else if (r.square < rough * r.far) {
      make_exact();
      refer_to_exact();
    }
    with_constant<0, memory>(history_, [&]<int count> { mix<count>(); });
  }
  sum_ += code.steps;
  iterations_ += 0.3 * (code.steps - iterations_);
  if (code.converged) write(norms, code);
  follows_ = code.converged && cost(iterations_) <= newton_cost(code);
  if (follows_) {
    penalty_ = 1;
  } else {
    pause_ = penalty_;
    penalty_ = std::min(4 * penalty_, 64);
  }
  return code.converged;
}

/// Walks to where fewer iterations are needed.
void SplittingSolver::adapt_scale() {
  constexpr double stride = 1.25, widest = 16;
  if (last_sum_ > 0 && sum_ > last_sum_) growing_ = !growing_;
  if (age_ > 0)
    scale_ = std::clamp(growing_ ? scale_ * stride : scale_ / stride, 1 / widest, widest);
  last_sum_ = age_ > 0 ? sum_ : 0;
  sum_ = 0;
}

}  // namespace hyperatom
