// The exact gradient of the task loss through the sparse code (steps 5 to 7 and the brackets of
// step 9).
//
// For one window X with code A (active rows L, first column alpha), scores s = W alpha + b, slope v
// = dloss/ds:
//
//   grad_W = v alpha'        grad_b = v
//   H beta = g,  g = W_L' v in the first column, zero in the others     (the adjoint system,
//   coding/adjoint.cpp) grad_D = pullback(D, X, beta) - pullback(D, D, beta A' + A beta')
//
// beta and A vanish outside L, so a sample's share is computed and kept on its active atoms alone;
// the second pullback is linear in its last argument, so those are summed and pulled back once per
// batch.
#pragma once

#include <span>
#include <vector>

#include "hyperatom/coding/coder.hpp"
#include "hyperatom/kernel/kernel.hpp"
#include "hyperatom/learn/loss.hpp"
#include "hyperatom/learn/parameters.hpp"

namespace hyperatom {

/// One sample's share, on its active atoms.
struct SampleGradient {
  std::vector<Index> active;  ///< L
  Vector code;                ///< |L|: the centre's code alpha
  Vector slope;               ///< C: v
  Matrix atoms;               ///< bands x |L|: pullback(D_L, X, beta)
  Matrix pairs;               ///< |L| x |L|: beta A' + A beta'
  double loss = 0;
  bool correct = false;    ///< the true class has the highest score
  double gap = 0;          ///< duality gap of the code, relative to its objective
  bool converged = false;  ///< whether that gap met the tolerance
};

/// Scores of a code's centre pixel.
Vector class_scores(const Parameters& parameters, const SparseCode& code);

SampleGradient task_gradient(const Kernel& kernel, const Coder& coder, const Loss& loss,
                             const Parameters& parameters, const MatrixView& X, Index y,
                             const SparseCode& code);

/// The same for the unsupervised objective, 1/2 sum_s ||phi(x_s) - Phi(D) alpha_s||^2 + lambda1
/// ||A||_12 + ...: its minimum over A has the gradient -pullback(D, X, A) + pullback(D, D, A A') in
/// D. `slope` stays empty.
SampleGradient reconstruction_gradient(const Kernel& kernel, const Parameters& parameters,
                                       const MatrixView& X, const SparseCode& code);

/// sum_i weights_i parts_i, in the order of i: the same to the last bit for any number of threads.
Parameters sum_gradients(const Kernel& kernel, const Parameters& parameters,
                         std::span<const SampleGradient> parts, std::span<const double> weights);

}  // namespace hyperatom
