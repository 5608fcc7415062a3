// What a window says about the class of its centre, by the method that made the model:
//
//   sdl   scores = W alpha + b, alpha the centre's code
//   src   score of class c = - ||Phi(X) - Phi(D_c) A_c||^2 / ||Phi(X)||^2, over the window: the
//   class
//         whose own atoms reconstruct it best
//   svm   share of the votes of the pairs of classes i < j, which vote for i where
//         sum_j w_j k(d_j, x) > rho_ij, the sum over the support vectors of both (LIBSVM's rule)
#pragma once

#include <memory>
#include <span>

#include "hyperatom/coding/coder.hpp"
#include "hyperatom/learn/model.hpp"

namespace hyperatom {

/// A window as a scorer sees it.
struct Evidence {
  const SparseCode* code = nullptr;             ///< null when the scorer needs none
  std::span<const double* const> columns = {};  ///< k(D, x) of its pixels, the centre first
  double kappa = 0;                             ///< sum of k(x, x) over its pixels
};

class Scorer {
 public:
  virtual ~Scorer() = default;
  virtual bool needs_code() const { return true; }
  /// One per class; the highest decides, the first of equals. They are written over `scores`, whose
  /// memory serves one window after the other.
  virtual void score(const Evidence& evidence, Vector& scores) const = 0;
};

/// `model` and `K` (k(D, D) with lambda2 on its diagonal) must outlive it.
std::unique_ptr<const Scorer> make_scorer(const Model& model, const AtomGram& K);

}  // namespace hyperatom
