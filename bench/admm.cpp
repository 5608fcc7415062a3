#include "bench/admm.hpp"

#include <Eigen/Cholesky>

#include <algorithm>

namespace hyperatom::bench {

Admm::Admm(const Matrix& K, double lambda1, double rho) : K_(K), lambda1_(lambda1), rho_(rho) {
  const Matrix shifted = K + rho * Matrix::Identity(K.rows(), K.rows());
  inverse_ = shifted.llt().solve(Matrix::Identity(K.rows(), K.rows()));
}

void Admm::begin(const Columns& B) {
  B_.resize(B.rows(), B.cols());
  for (Index s = 0; s < B.cols(); ++s) std::copy_n(B.col(s), B.rows(), &B_(0, s));
  if (Z_.size() != B_.size()) {
    Z_ = Matrix::Zero(B.rows(), B.cols());
    U_ = Z_;
  }
}

void Admm::iterate() {
  constexpr double relaxation = 1.7;
  right_.noalias() = B_ + rho_ * (Z_ - U_);
  A_.noalias() = inverse_ * right_;
  U_ += relaxation * A_ + (1 - relaxation) * Z_;
  for (Index j = 0; j < Z_.rows(); ++j) {
    const double norm = U_.row(j).norm();
    const double keep = std::max(0.0, 1 - lambda1_ / (rho_ * norm));
    Z_.row(j) = keep * U_.row(j);
  }
  U_ -= Z_;
}

double Admm::objective(double kappa) const {
  return 0.5 * kappa + 0.5 * Z_.cwiseProduct(K_ * Z_).sum() - B_.cwiseProduct(Z_).sum() +
         lambda1_ * Z_.rowwise().norm().sum();
}

}  // namespace hyperatom::bench
