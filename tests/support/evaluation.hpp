// A code judged by the definition of the problem.
#pragma once

#include <algorithm>
#include <vector>

#include "hyperatom/coding/coder.hpp"
#include "tests/support/problems.hpp"

namespace hyperatom::test {

using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

/// Everything that can be said of a code by the definition of the problem, in long double and from
/// the whole matrices.
struct Evaluation {
  Evaluation(const Problem& p, const SparseCode& code) {
    const Index d = p.atoms(), m = code.A.rows();
    LongMatrix columns(d, m);
    for (Index i = 0; i < m; ++i) {
      columns.col(i) = p.K.col(code.active[at(i)]).cast<long double>();
      columns(code.active[at(i)], i) += p.lambda2;
    }
    const LongMatrix A = code.A.cast<long double>();
    const LongMatrix G = p.B.cast<long double>() - columns * A;
    long double sum = p.kappa();
    for (Index i = 0; i < m; ++i) {
      const Index j = code.active[at(i)];
      const long double norm = A.row(i).norm();
      sum -= A.row(i).dot(p.B.row(j).cast<long double>() + G.row(j));
      norms.push_back(static_cast<double>(norm));
      along.push_back(static_cast<double>(A.row(i).dot(G.row(j))));
      penalty += p.lambda1 * static_cast<double>(norm);
    }
    objective = static_cast<double>(sum / 2) + penalty;
    for (Index j = 0; j < d; ++j) residuals.push_back(static_cast<double>(G.row(j).norm()));
    largest = *std::max_element(residuals.begin(), residuals.end());
  }

  double objective = 0;
  double penalty = 0;
  std::vector<double> norms;      // ||a_j|| of the active rows
  std::vector<double> along;      // <a_j, G_j> of the active rows
  std::vector<double> residuals;  // ||G_j|| of all rows, G = B - (K + lambda2 I) A
  double largest = 0;             // the largest of them
};

}  // namespace hyperatom::test
