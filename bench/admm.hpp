// The honest rival: ADMM for the joint sparse coding problem, with its matrix inverted once for all
// windows, over-relaxed, each window started from the one before.
#pragma once

#include "hyperatom/coding/columns.hpp"

namespace hyperatom::bench {

class Admm {
 public:
  Admm(const Matrix& K, double lambda1, double rho);

  /// Continues from the previous window's state.
  void begin(const Columns& B);
  void iterate();
  /// The objective of the row-sparse iterate.
  double objective(double kappa) const;

 private:
  const Matrix& K_;
  double lambda1_;
  double rho_;
  Matrix inverse_;
  Matrix B_, A_, Z_, U_, right_;
};

}  // namespace hyperatom::bench
