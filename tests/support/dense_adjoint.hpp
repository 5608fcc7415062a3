// Step 7 of Algorithm 1 as the paper writes it: the |L|S x |L|S matrix formed entry by entry and
// solved by elimination with full pivoting, in long double. The oracle of the structured solve.
#pragma once

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <limits>

#include "hyperatom/base/types.hpp"

namespace hyperatom::test {

using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

/// H = K_LL (x) I_S + lambda1 Delta + lambda2 I, with entry (j, s) of beta at place j S + s and
/// Delta_j = I / ||a_j|| - a_j' a_j / ||a_j||^3.
inline LongMatrix dense_adjoint_matrix(const Matrix& K_LL, const RowMatrix& A, double lambda1,
                                       double lambda2) {
  const Index rows = A.rows(), S = A.cols();
  LongMatrix H = LongMatrix::Zero(rows * S, rows * S);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < rows; ++j)
      for (Index s = 0; s < S; ++s) H(i * S + s, j * S + s) += K_LL(i, j);
  for (Index j = 0; j < rows; ++j) {
    const Eigen::Matrix<long double, 1, Eigen::Dynamic> a = A.row(j).cast<long double>();
    const long double norm = a.norm();
    for (Index s = 0; s < S; ++s) {
      for (Index t = 0; t < S; ++t)
        H(j * S + s, j * S + t) +=
            lambda1 * ((s == t ? 1 / norm : 0) - a[s] * a[t] / (norm * norm * norm));
      H(j * S + s, j * S + s) += lambda2;
    }
  }
  return H;
}

inline LongMatrix dense_adjoint(const LongMatrix& H, const RowMatrix& g) {
  const Index S = g.cols();
  LongMatrix right(g.size(), 1);
  for (Index j = 0; j < g.rows(); ++j)
    for (Index s = 0; s < S; ++s) right(j * S + s, 0) = g(j, s);
  const LongMatrix solution = H.fullPivLu().solve(right);
  LongMatrix beta(g.rows(), S);
  for (Index j = 0; j < g.rows(); ++j)
    for (Index s = 0; s < S; ++s) beta(j, s) = solution(j * S + s, 0);
  return beta;
}

/// Largest over smallest eigenvalue of a symmetric matrix; infinite where rounding hides the
/// smallest.
inline double condition_number(const LongMatrix& H) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(H.cast<double>(), Eigen::EigenvaluesOnly);
  const double smallest = eigen.eigenvalues().minCoeff();
  return smallest > 0 ? eigen.eigenvalues().maxCoeff() / smallest
                      : std::numeric_limits<double>::infinity();
}

}  // namespace hyperatom::test
