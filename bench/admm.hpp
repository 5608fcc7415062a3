// The honest rival: ADMM for the joint sparse coding problem, with its matrix inverted once for all
// windows, over-relaxed, each window started from the one before.
#pragma once

#include "hyperatom/coding/columns.hpp"

namespace hyperatom::bench {

/// A matrix as Admm takes it.
inline Eigen::Map<const Matrix> view(const Matrix& M) { return {M.data(), M.rows(), M.cols()}; }

/// (K + rho I)^-1, which ADMM multiplies by in every iteration.
Matrix admm_inverse(const Matrix& K, double rho);

class Admm {
 public:
  /// K and its inverse must outlive it.
  Admm(const Eigen::Map<const Matrix>& K, const Eigen::Map<const Matrix>& inverse, double lambda1,
       double rho);

  /// Continues from the previous window's state.
  void begin(const Columns& B);
  void iterate();
  /// The objective of the row-sparse iterate.
  double objective(double kappa) const;

 private:
  Eigen::Map<const Matrix> K_, inverse_;
  double lambda1_, rho_;
  Matrix B_, A_, Z_, U_, right_;
  Eigen::ArrayXd keep_;
};

}  // namespace hyperatom::bench
