// G = B - K A, for A given by its active rows: the gradient of the smooth part, up to sign. Its row
// norms decide everything: a row may be zero only if its norm is at most lambda1, and their maximum
// is what the certificate needs.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "hyperatom/coding/atom_gram.hpp"
#include "hyperatom/coding/columns.hpp"
#include "hyperatom/coding/small_matrix.hpp"

namespace hyperatom {

/// squares[j] = ||B_j - K(j, rows) A||^2 for every row j. A has one row per entry of `rows` and
/// B.cols() columns. K and B are read in place, G is never stored. O(d |rows| S).
void residual_row_squares(const AtomGram& K, const Columns& B, std::span<const Index> rows,
                          const SmallMatrix& A, std::vector<double>& squares);

/// The duality gap in Gram form. With r the residual in feature space, ||r||^2 = kappa - <B,A> -
/// <A,G>,
///   objective = 1/2 ||r||^2 + lambda1 sum_j ||a_j||
///   gap = 1/2 (1-c)^2 ||r||^2 + lambda1 sum_j ||a_j|| - c <A,G>,   c = min(1, lambda1 / max_j
///   ||G_j||)
/// lambda2 is part of K. gap >= objective - optimum.
struct Certificate {
  double objective = 0;
  double gap = 0;
};

/// `norms` = lambda1 sum_j ||a_j||, `code_target` = <B,A>, `code_residual` = <A,G>,
/// `largest` = max_j ||G_j||.
inline Certificate certify(double kappa, double lambda1, double norms, double code_target,
                           double code_residual, double largest) {
  const double residual = std::max(0.0, kappa - code_target - code_residual);
  const double c = largest > lambda1 ? lambda1 / largest : 1.0;
  // Rounding may leave the gap of an exact solution below zero.
  return {0.5 * residual + norms,
          std::max(0.0, 0.5 * (1 - c) * (1 - c) * residual + (norms - c * code_residual))};
}

}  // namespace hyperatom
