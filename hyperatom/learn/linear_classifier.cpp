#include "hyperatom/learn/linear_classifier.hpp"

#include <Eigen/Cholesky>

#include <cmath>

namespace hyperatom {
namespace {

/// The objective in V = [W b], C x (d+1): codes carry a last feature that is 1 (0 without an
/// intercept).
class Problem {
 public:
  Problem(const Matrix& codes, std::span<const Index> labels, std::span<const double> weights,
          const Loss& loss, const LinearClassifierOptions& options)
      : features_(codes.rows() + 1, codes.cols()),
        labels_(labels),
        weights_(weights),
        loss_(loss),
        nu_(options.nu) {
    features_.topRows(codes.rows()) = codes;
    features_.bottomRows(1).setConstant(options.intercept ? 1 : 0);

    Matrix weighted = features_;
    for (Index i = 0; i < size(); ++i) weighted.col(i) *= weight(i);
    Matrix ridge = weighted * features_.transpose() / static_cast<double>(size());
    ridge.diagonal().head(codes.rows()).array() += nu_;
    // Without an intercept its row is empty; with nu = 0 others may be: a unit pivot there is
    // harmless.
    const double floor = 1e-14 * ridge.diagonal().maxCoeff();
    for (Index j = 0; j < ridge.rows(); ++j)
      if (ridge(j, j) <= floor) ridge(j, j) = 1;
    preconditioner_.compute(ridge);
  }

  Index size() const { return features_.cols(); }
  Index features() const { return features_.rows(); }

  double value(const Matrix& V) const {
    const Matrix scores = V * features_;
    double sum = 0;
    for (Index i = 0; i < size(); ++i) sum += weight(i) * loss_.value(scores.col(i), label(i));
    return sum / static_cast<double>(size()) + 0.5 * nu_ * V.leftCols(V.cols() - 1).squaredNorm();
  }

  Matrix gradient(const Matrix& V) const {
    const Matrix scores = V * features_;
    Matrix slopes(V.rows(), size());
    for (Index i = 0; i < size(); ++i)
      slopes.col(i) = weight(i) * loss_.gradient(scores.col(i), label(i));
    return finish(slopes, V);
  }

  /// The second derivative at V, applied to a direction.
  Matrix curvature(const Matrix& scores, const Matrix& direction) const {
    const Matrix along = direction * features_;
    Matrix slopes(direction.rows(), size());
    for (Index i = 0; i < size(); ++i)
      slopes.col(i) = weight(i) * loss_.curvature(scores.col(i), label(i), along.col(i));
    return finish(slopes, direction);
  }

  Matrix scores(const Matrix& V) const { return V * features_; }
  Matrix precondition(const Matrix& G) const {
    return preconditioner_.solve(G.transpose()).transpose();
  }

 private:
  double weight(Index i) const { return weights_.empty() ? 1 : weights_[static_cast<size_t>(i)]; }
  Index label(Index i) const { return labels_[static_cast<size_t>(i)]; }

  Matrix finish(const Matrix& slopes, const Matrix& V) const {
    Matrix result = slopes * features_.transpose() / static_cast<double>(size());
    result.leftCols(V.cols() - 1) += nu_ * V.leftCols(V.cols() - 1);
    return result;
  }

  Matrix features_;
  std::span<const Index> labels_;
  std::span<const double> weights_;
  const Loss& loss_;
  double nu_;
  Eigen::LDLT<Matrix> preconditioner_;
};

/// Preconditioned conjugate gradients for H x = -gradient.
Matrix newton_direction(const Problem& problem, const Matrix& V, const Matrix& gradient) {
  const Matrix scores = problem.scores(V);
  Matrix x = Matrix::Zero(V.rows(), V.cols());
  Matrix r = -gradient;
  Matrix z = problem.precondition(r);
  Matrix p = z;
  double rz = r.cwiseProduct(z).sum();
  const double enough =
      1e-16 * rz;  // more would only stir up rounding errors; the next step sees to the rest
  for (Index k = 0; k < 10 * V.cols() && rz > enough; ++k) {
    const Matrix Hp = problem.curvature(scores, p);
    const double pHp = p.cwiseProduct(Hp).sum();
    if (!(pHp > 0)) break;  // flat there, to rounding
    const double step = rz / pHp;
    x += step * p;
    r -= step * Hp;
    z = problem.precondition(r);
    const double next = r.cwiseProduct(z).sum();
    p = z + (next / rz) * p;
    rz = next;
  }
  return x;
}

}  // namespace

LinearClassifier fit_linear_classifier(const Matrix& codes, std::span<const Index> labels,
                                       Index classes, std::span<const double> weights,
                                       const Loss& loss, const LinearClassifierOptions& options) {
  const Problem problem(codes, labels, weights, loss, options);
  Matrix V = Matrix::Zero(classes, problem.features());
  Matrix gradient = problem.gradient(V);
  double value = problem.value(V);
  const double enough = options.tolerance * gradient.norm();
  for (int step = 0; step < options.max_steps && gradient.norm() > enough; ++step) {
    const Matrix direction = newton_direction(problem, V, gradient);
    const double slope = direction.cwiseProduct(gradient).sum();
    bool moved = false;
    for (double part = 1; part > 1e-10 && !moved; part *= 0.5) {
      const Matrix tried = V + part * direction;
      const double tried_value = problem.value(tried);
      // Close to the solution the decrease drowns in rounding errors, and the gradient tells.
      const bool lower = tried_value <= value + 1e-4 * part * slope;
      if (!lower && tried_value > value + 1e-13 * std::abs(value)) continue;
      Matrix tried_gradient = problem.gradient(tried);
      moved = lower || tried_gradient.norm() < 0.5 * gradient.norm();
      if (!moved) break;
      V = tried;
      value = tried_value;
      gradient = std::move(tried_gradient);
    }
    if (!moved) break;
  }
  LinearClassifier result;
  result.W = V.leftCols(codes.rows());
  result.b = options.intercept ? Vector(V.rightCols(1)) : Vector(Vector::Zero(classes));
  result.objective = value;
  result.gradient_norm = gradient.norm();
  result.converged = result.gradient_norm <= std::max(enough, 1e-9);
  return result;
}

}  // namespace hyperatom
