#include "hyperatom/coding/coder.hpp"

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/simd.hpp"
#include "hyperatom/coding/joint_solver.hpp"
#include "hyperatom/coding/pixel_coder.hpp"

namespace hyperatom {
namespace {

CoderOptions validated(const MatrixView& K, const CoderOptions& options) {
  const auto require = [](bool holds, const char* name, const char* expected, double found) {
    if (!holds) throw OptionError(fmt::format("{} must be {}, not {}", name, expected, found));
  };
  const auto finite_weight = [](double x) { return x >= 0 && std::isfinite(x); };
  require(finite_weight(options.lambda1), "lambda1", "finite and 0 or greater", options.lambda1);
  require(finite_weight(options.lambda2), "lambda2", "finite and 0 or greater", options.lambda2);
  require(options.tolerance > 0 && options.tolerance < 1, "tolerance", "between 0 and 1",
          options.tolerance);
  require(options.max_steps >= 1, "max_steps", "1 or greater", options.max_steps);
  if (K.rows() != K.cols() || K.rows() == 0)
    throw OptionError(
        fmt::format("the Gram matrix of the atoms is {} x {}, expected square and not empty",
                    K.rows(), K.cols()));
  if (!K.allFinite())
    throw NumericalError("the Gram matrix of the atoms has an entry that is not finite");
  return options;
}

bool all_finite(const Columns& B) {
  simd::Pack sum = {};
  for (Index s = 0; s < B.cols(); ++s) {
    const double* b = B.col(s);
    Index i = 0;
    for (; i + simd::width <= B.rows(); i += simd::width) sum += simd::load(b + i);
    sum += simd::load_part(b + i, B.rows() - i);
  }
  return std::isfinite(simd::sum(sum));
}

/// The zero code, which says nothing but that the problem can't be posed.
void give_up(const Columns& B, SparseCode& code) {
  code.active.clear();
  code.A.resize(0, B.cols());
  code.objective = code.gap = std::numeric_limits<double>::infinity();
  code.steps = 0;
  code.converged = false;
}

/// lambda1 = 0: the linear system K A = B. Its certificate is 1/2 tr(R' K^-1 R), R = B - K A, which
/// bounds the error where K is regular; a singular K leaves it open.
void solve_without_sparsity(const AtomGram& K, const Columns& B, double kappa, double tolerance,
                            SparseCode& code) {
  const Index d = K.size();
  Matrix gram(d, d), target(d, B.cols());
  for (Index j = 0; j < d; ++j) std::copy_n(K.col(j), d, &gram(0, j));
  for (Index s = 0; s < B.cols(); ++s) std::copy_n(B.col(s), d, &target(0, s));
  const Eigen::LDLT<Matrix> factor(gram);
  const Vector pivots = factor.vectorD();
  const bool regular = pivots.minCoeff() > 1e-14 * pivots.maxCoeff();
  Matrix A = factor.solve(target);
  if (!A.allFinite()) A.setZero();
  Matrix residual = target - gram * A;
  const Matrix correction = factor.solve(residual);
  if (correction.allFinite()) {
    A += correction;
    residual = target - gram * A;
  }
  code.active.clear();
  for (Index j = 0; j < d; ++j)
    if (A.row(j).squaredNorm() > 0) code.active.push_back(j);
  code.A.resize(static_cast<Index>(code.active.size()), B.cols());
  for (size_t i = 0; i < code.active.size(); ++i)
    code.A.row(static_cast<Index>(i)) = A.row(code.active[i]);
  code.objective =
      std::max(0.0, 0.5 * (kappa - target.cwiseProduct(A).sum() - residual.cwiseProduct(A).sum()));
  code.gap = regular ? std::max(0.0, 0.5 * residual.cwiseProduct(factor.solve(residual)).sum())
                     : 0.5 * kappa;
  code.steps = 1;
  code.converged = code.gap <= std::max(tolerance * code.objective, 1e-15 * kappa);
}

}  // namespace

Matrix SparseCode::dense(Index atoms) const {
  Matrix full = Matrix::Zero(atoms, A.cols());
  for (size_t i = 0; i < active.size(); ++i) full.row(active[i]) = A.row(static_cast<Index>(i));
  return full;
}

WarmStart warm_start(const SparseCode& code) {
  WarmStart start{code.active, std::vector<double>(code.active.size())};
  for (Index i = 0; i < code.A.rows(); ++i)
    start.values[static_cast<size_t>(i)] = code.A.cols() == 1 ? code.A(i, 0) : code.A.row(i).norm();
  return start;
}

Coder::Coder(const MatrixView& K, const CoderOptions& options)
    : options_(validated(K, options)), gram_(K, options.lambda2) {}

SparseCode Coder::encode(const MatrixView& B, double kappa, const WarmStart& start) const {
  WindowCoder worker(*this);
  worker.start(start);
  return worker.encode(MatrixColumns(B).view(), kappa);
}

WindowCoder::WindowCoder(const Coder& coder)
    : coder_(&coder),
      pixel_(std::make_unique<PixelCoder>(coder.gram(), coder.options())),
      joint_(std::make_unique<JointSolver>(coder.gram(), coder.options())) {}

WindowCoder::~WindowCoder() = default;
WindowCoder::WindowCoder(WindowCoder&&) noexcept = default;

void WindowCoder::start(const WarmStart& start) {
  if (start.rows.size() != start.values.size())
    throw OptionError(fmt::format("a warm start has {} rows and {} values", start.rows.size(),
                                  start.values.size()));
  // Each row once, and only values that mean something.
  WarmStart usable;
  std::vector<char> seen(static_cast<size_t>(coder_->atoms()), 0);
  for (size_t i = 0; i < start.rows.size(); ++i) {
    const Index row = start.rows[i];
    if (row < 0 || row >= coder_->atoms())
      throw OptionError(fmt::format("a warm start names atom {} of {}", row, coder_->atoms()));
    if (std::exchange(seen[static_cast<size_t>(row)], 1) || start.values[i] == 0 ||
        !std::isfinite(start.values[i]))
      continue;
    usable.rows.push_back(row);
    usable.values.push_back(start.values[i]);
  }
  start_ = std::move(usable);
}

const SparseCode& WindowCoder::encode(const Columns& B, double kappa, const Pixel* next) {
  if (B.rows() != coder_->atoms() || B.cols() == 0)
    throw OptionError(fmt::format(
        "the window has {} kernel columns of length {}, expected at least one of length {}",
        B.cols(), B.rows(), coder_->atoms()));
  if (start_) {  // the solver whose turn it is; the other forgets
    pixel_->start(B.cols() == 1 ? *start_ : WarmStart{});
    joint_->start(B.cols() == 1 ? WarmStart{} : *start_);
    start_.reset();
  }
  const CoderOptions& options = coder_->options();
  if (!all_finite(B) || !std::isfinite(kappa))
    give_up(B, code_);
  else if (options.lambda1 == 0)
    solve_without_sparsity(coder_->gram(), B, kappa, options.tolerance, code_);
  else if (B.cols() == 1)
    return encode_one(B, kappa, next);
  else
    joint_->solve(B, kappa, code_);
  return code_;
}

/// S = 1. Nearly equal atoms can defeat the signs; the norms then go on from there.
const SparseCode& WindowCoder::encode_one(const Columns& B, double kappa, const Pixel* next) {
  const SparseCode& first = pixel_->solve({B.col(0), kappa}, next);
  if (first.converged) return first;
  joint_->start(warm_start(first));
  joint_->solve(B, kappa, code_);
  const int steps = first.steps + code_.steps;
  if (!(code_.gap < first.gap)) code_ = first;
  code_.steps = steps;
  return code_;
}

}  // namespace hyperatom
