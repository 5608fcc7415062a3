// A textbook solver of the coding problem, slow and plain, that shares neither code nor method nor
// formula with hyperatom/coding: the oracle of the property tests.
//
// It works in feature space. With Phi = [Phi_D, Phi_X] any factor of the joint Gram matrix of atoms
// and pixels, Phi' Phi = [K + lambda2 I, B; B', C], the problem is the group lasso
//
//   primal(A)    = 1/2 ||Phi_X - Phi_D A||_F^2 + lambda1 sum_j ||a_j||
//   dual(Theta)  = 1/2 ||Phi_X||_F^2 - 1/2 ||Phi_X - Theta||_F^2,   ||(Phi_D' Theta)_j|| <= lambda1
//
// solved by ADMM, and every number reported is computed from those vectors.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/problems.hpp"

namespace hyperatom::test {

struct SlowCode {
  Matrix A;              ///< d x S
  double objective = 0;  ///< with the constant kappa/2
  double gap = 0;        ///< primal minus the best dual value found
  int iterations = 0;
};

/// The problem as explicit vectors.
class FeatureSpace {
 public:
  explicit FeatureSpace(const Problem& p) : lambda1_(p.lambda1) {
    const Index d = p.atoms();
    Matrix joint(d + p.pixels(), d + p.pixels());
    joint << p.K + p.lambda2 * Matrix::Identity(d, d), p.B, p.B.transpose(), p.C;
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(joint);
    // Rounding leaves eigenvalues of a semidefinite matrix slightly below zero.
    const Matrix features =
        eigen.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal() * eigen.eigenvectors().transpose();
    atoms_ = features.leftCols(d);
    pixels_ = features.rightCols(p.pixels());
  }

  double primal(const Matrix& A) const {
    return 0.5 * (pixels_ - atoms_ * A).squaredNorm() + lambda1_ * A.rowwise().norm().sum();
  }

  /// The largest dual value on the ray through the residual of A.
  double dual(const Matrix& A) const {
    const Matrix residual = pixels_ - atoms_ * A;
    const double largest = (atoms_.transpose() * residual).rowwise().norm().maxCoeff();
    const double square = residual.squaredNorm();
    if (square == 0) return 0;
    const double best = pixels_.cwiseProduct(residual).sum() / square;
    const double limit = largest > 0 ? lambda1_ / largest : std::numeric_limits<double>::infinity();
    const Matrix theta = std::clamp(best, -limit, limit) * residual;
    return 0.5 * pixels_.squaredNorm() - 0.5 * (pixels_ - theta).squaredNorm();
  }

 private:
  double lambda1_;
  Matrix atoms_, pixels_;
};

/// Z with every row shortened by `by`.
inline Matrix shrink_rows(const Matrix& Z, double by) {
  Matrix shrunk = Z;
  for (Index j = 0; j < Z.rows(); ++j) {
    const double norm = Z.row(j).norm();
    shrunk.row(j) *= norm > by ? 1 - by / norm : 0.0;
  }
  return shrunk;
}

/// ADMM on A = Z: over-relaxed, with the penalty rho that keeps both residuals of one size. Runs
/// until its gap is below `tolerance` times its objective.
inline SlowCode slow_code(const Problem& p, double tolerance = 1e-10, int limit = 50000) {
  constexpr double relaxation = 1.7;
  constexpr int between_checks = 25;
  const Index d = p.atoms();
  const FeatureSpace features(p);
  const Matrix K = p.K + p.lambda2 * Matrix::Identity(d, d);
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(K);

  double rho = std::max(K.trace() / static_cast<double>(d), 1e-12);
  Matrix inverse;
  const auto factor = [&] {
    const Vector shifted = (eigen.eigenvalues().cwiseMax(0).array() + rho).inverse();
    inverse = eigen.eigenvectors() * shifted.asDiagonal() * eigen.eigenvectors().transpose();
  };
  factor();

  SlowCode best;
  best.A = Matrix::Zero(d, p.pixels());
  best.objective = features.primal(best.A);
  double lower = features.dual(best.A);
  best.gap = best.objective - lower;

  Matrix Z = best.A, U = best.A;
  for (int i = 1; i <= limit && best.gap > tolerance * best.objective; ++i) {
    const Matrix A = inverse * (p.B + rho * (Z - U));
    const Matrix relaxed = relaxation * A + (1 - relaxation) * Z;
    const Matrix previous = Z;
    Z = shrink_rows(relaxed + U, p.lambda1 / rho);
    U += relaxed - Z;
    best.iterations = i;
    if (i % between_checks != 0) continue;

    lower = std::max(lower, features.dual(Z));
    const double objective = features.primal(Z);
    if (objective < best.objective) {
      best.A = Z;
      best.objective = objective;
    }
    best.gap = best.objective - lower;
    // Ever more rarely, so that it comes to rest.
    if ((i / between_checks & (i / between_checks - 1)) == 0 || i % 1000 == 0) {
      const double off = (A - Z).norm();
      const double moved = rho * (Z - previous).norm();
      const double ratio = std::sqrt((off / std::max(A.norm(), 1e-300)) /
                                     std::max(moved / std::max(rho * U.norm(), 1e-300), 1e-300));
      const double next = rho * std::clamp(ratio, 0.1, 10.0);
      if (next > 1.5 * rho || next < rho / 1.5) {
        U *= rho / next;
        rho = next;
        factor();
      }
    }
  }
  return best;
}

}  // namespace hyperatom::test
