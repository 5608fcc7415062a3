// The adjoint system of step 7, H beta = g with H = K (x) I + lambda1 Delta (lambda2 is in K),
// without forming H.
//
// With n_j = ||a_j||, C = diag(lambda1/n_j) and U the unit rows, H = (K + C) (x) I - U C U': a
// matrix that treats all S columns alike, minus one rank per row. Woodbury's formula, scaled by E =
// diag(sqrt(n_j/lambda1)) so that rows of small norm cause no cancellation, gives
//
//   P = (I + E K E)^-1      T = (I - P) o (U U')      q = T^-1 (u_j . (P E g)_j)_j
//   beta = E P (E g + diag(q) U)
//
// For S = 1, or lambda1 = 0, Delta plays no part and beta = K^-1 g.
#include <algorithm>
#include <cmath>

#include "hyperatom/base/error.hpp"
#include "hyperatom/coding/coder.hpp"
#include "hyperatom/coding/small_matrix.hpp"

namespace hyperatom {
namespace {

/// A pivot that has shrunk to this, relative to its diagonal entry, is rounding.
constexpr double dependent = 1e-13;

void copy(const RowMatrix& from, SmallMatrix& to) {
  to.reshape(from.rows(), from.cols());
  for (Index i = 0; i < from.rows(); ++i) std::copy_n(&from(i, 0), from.cols(), to.row(i));
}

/// H beta = g, factored.
class AdjointSystem {
 public:
  AdjointSystem(const AtomGram& K, const SparseCode& code, double lambda1)
      : rows_(code.A.rows()), plain_(code.A.cols() == 1 || lambda1 == 0) {
    gram_.reshape(rows_, rows_);
    for (Index i = 0; i < rows_; ++i)
      for (Index j = 0; j < rows_; ++j)
        gram_(i, j) = K(code.active[static_cast<size_t>(i)], code.active[static_cast<size_t>(j)]);
    if (plain_) {
      T_ = gram_;
      pivots_ = factor_psd(T_, dependent);
      return;
    }
    scale_.resize(rows_);
    weight_.resize(rows_);
    copy(code.A, U_);
    for (Index i = 0; i < rows_; ++i) {
      const double norm = code.A.row(i).norm();
      scale_[i] = std::sqrt(norm / lambda1);
      weight_[i] = lambda1 / norm;
      for (Index s = 0; s < U_.stride(); ++s) U_(i, s) /= norm;
    }
    P_.reshape(rows_, rows_);
    double trace =
        1;  // bounds the condition of P, and so what rounding leaves of a vanishing pivot of T
    for (Index i = 0; i < rows_; ++i) {
      for (Index j = 0; j < rows_; ++j) P_(i, j) = scale_[i] * scale_[j] * gram_(i, j);
      trace += P_(i, i);
      P_(i, i) += 1;
    }
    if (!invert_spd(P_))
      throw NumericalError("the adjoint system of a code has no finite solution");
    multiply_by_transpose(U_, scratch_, T_);
    for (Index i = 0; i < rows_; ++i)
      for (Index j = 0; j < rows_; ++j) T_(i, j) *= (i == j) - P_(i, j);
    pivots_ = factor_psd(T_, std::max(dependent, 1e-15 * trace));
  }

  const Pivots& pivots() const { return pivots_; }

  RowMatrix solve(const RowMatrix& g) {
    RowMatrix beta(g.rows(), g.cols());
    if (plain_) {
      Vector column(rows_);
      for (Index s = 0; s < g.cols(); ++s) {
        column = g.col(s);
        solve_factored(T_, column.data());
        beta.col(s) = column;
      }
      return beta;
    }
    copy(g, right_);
    for (Index i = 0; i < rows_; ++i)
      for (Index s = 0; s < right_.stride(); ++s) right_(i, s) *= scale_[i];
    multiply(P_, right_, product_);
    Vector q(rows_);
    for (Index i = 0; i < rows_; ++i) q[i] = dot(U_.row(i), product_.row(i), U_.stride());
    solve_factored(T_, q.data());
    for (Index i = 0; i < rows_; ++i)
      for (Index s = 0; s < right_.stride(); ++s) right_(i, s) += q[i] * U_(i, s);
    multiply(P_, right_, product_);
    for (Index i = 0; i < rows_; ++i)
      for (Index s = 0; s < g.cols(); ++s) beta(i, s) = scale_[i] * product_(i, s);
    return beta;
  }

  /// g - H beta.
  RowMatrix residual(const RowMatrix& g, const RowMatrix& beta) {
    copy(beta, right_);
    multiply(gram_, right_, product_);
    RowMatrix rest(g.rows(), g.cols());
    for (Index i = 0; i < rows_; ++i) {
      const double along = plain_ ? 0 : dot(U_.row(i), right_.row(i), right_.stride());
      for (Index s = 0; s < g.cols(); ++s) {
        rest(i, s) = g(i, s) - product_(i, s);
        if (!plain_) rest(i, s) -= weight_[i] * (beta(i, s) - along * U_(i, s));
      }
    }
    return rest;
  }

 private:
  Index rows_;
  bool plain_;
  SmallMatrix gram_, U_, P_, T_, scratch_, right_, product_;
  Vector scale_, weight_;
  Pivots pivots_;
};

}  // namespace

Adjoint Coder::adjoint(const SparseCode& code, const RowMatrix& g) const {
  eigen_assert(g.rows() == code.A.rows() && g.cols() == code.A.cols());
  Adjoint result;
  result.beta = RowMatrix::Zero(g.rows(), g.cols());
  if (g.rows() == 0) return result;
  AdjointSystem system(gram_, code, options_.lambda1);
  result.dependent = system.pivots().dependent;
  result.condition = system.pivots().condition;
  result.beta = system.solve(g);
  // One step of iterative refinement: coherent atoms cost a few digits, and this gives them back.
  // Not with redundant rows, whose residual is not meant to vanish.
  if (result.dependent == 0) {
    const RowMatrix correction = system.solve(system.residual(g, result.beta));
    if (correction.allFinite()) result.beta += correction;
  }
  return result;
}

}  // namespace hyperatom
