// The classifier on fixed codes, solved exactly:
//
//   min over W, b   1/N sum_i w_i loss(W alpha_i + b, y_i) + nu/2 ||W||_F^2
//
// (the paper's initial W, with an intercept b that is not penalised). Convex: Newton's method, its
// equations solved by conjugate gradients with the ridge-regression matrix as preconditioner. For
// the squared loss that matrix IS the Hessian, so the first step is the closed-form solution.
#pragma once

#include <span>

#include "hyperatom/learn/loss.hpp"

namespace hyperatom {

struct LinearClassifier {
  Matrix W;  ///< C x d
  Vector b;  ///< C
  double objective = 0;
  double gradient_norm = 0;
  bool converged = false;
};

struct LinearClassifierOptions {
  double nu = 1e-4;
  bool intercept = true;
  double tolerance = 1e-12;  ///< of the gradient's norm, relative to that at W = 0
  int max_steps = 100;
};

/// codes: d x N; labels: N classes below `classes`; weights: N with mean 1, or empty for all ones.
LinearClassifier fit_linear_classifier(const Matrix& codes, std::span<const Index> labels,
                                       Index classes, std::span<const double> weights,
                                       const Loss& loss, const LinearClassifierOptions& options);

}  // namespace hyperatom
