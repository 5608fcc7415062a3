#include "bench/admm.hpp"

#include <Eigen/Cholesky>

#include <algorithm>

namespace hyperatom::bench {

Matrix admm_inverse(const Matrix& K, double rho) {
  const Matrix shifted = K + rho * Matrix::Identity(K.rows(), K.rows());
  return shifted.llt().solve(Matrix::Identity(K.rows(), K.rows()));
}

Admm::Admm(const Eigen::Map<const Matrix>& K, const Eigen::Map<const Matrix>& inverse,
           double lambda1, double rho)
    : K_(K), inverse_(inverse), lambda1_(lambda1), rho_(rho) {}

void Admm::begin(const Columns& B) {
  B_.resize(B.rows(), B.cols());
  for (Index s = 0; s < B.cols(); ++s) std::copy_n(B.col(s), B.rows(), &B_(0, s));
  if (Z_.size() != B_.size()) {
    Z_ = Matrix::Zero(B.rows(), B.cols());
    U_ = Z_;
    keep_.resize(B.rows());
  }
}

void Admm::iterate() {
  constexpr double relaxation = 1.7;
  right_.noalias() = B_ + rho_ * (Z_ - U_);
  A_.noalias() = inverse_ * right_;
  keep_.setZero();
  for (Index s = 0; s < Z_.cols(); ++s) {
    U_.col(s) += relaxation * A_.col(s) + (1 - relaxation) * Z_.col(s);
    keep_ += U_.col(s).array().square();
  }
  keep_ = (1 - lambda1_ / rho_ / keep_.sqrt()).max(0);
  for (Index s = 0; s < Z_.cols(); ++s) {
    Z_.col(s) = U_.col(s).array() * keep_;
    U_.col(s) -= Z_.col(s);
  }
}

double Admm::objective(double kappa) const {
  return 0.5 * kappa + 0.5 * Z_.cwiseProduct(K_ * Z_).sum() - B_.cwiseProduct(Z_).sum() +
         lambda1_ * Z_.rowwise().norm().sum();
}

}  // namespace hyperatom::bench
