// A Mercer kernel k(x, y), on blocks of pixels.
//
//   gram(X, Y)        K_ij = k(x_i, y_j)                                   m x n    O(bands m n)
//   diagonal(X)       k(x_i, x_i)                                          m
//   pullback(D, X, C) column j = sum_s C_js * dk(x_s, d_j)/d(d_j)          bands x d
//   preimage(a, k, k) sum_j c_j d_j, c the result, is near x in the space of pixels if
//                     sum_j a_j phi(d_j) is near phi(x) in that of the kernel          d
//
// X, Y, D hold pixels as columns (bands x m). In pullback the derivative is in d_j with the OTHER
// argument held, also where X is D itself: that is what the task gradient needs
// (learn/gradient.hpp).
//
// Each entry of gram() depends on its two pixels alone, to the last bit: not on the size of the
// block, nor on its place in it. Whoever adds a kernel keeps that (tests/unit/kernel_test.cpp
// checks every kernel of the table), because maps that don't change with the tile size rest on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hyperatom/base/spec.hpp"
#include "hyperatom/base/types.hpp"

namespace hyperatom {

class Kernel {
 public:
  virtual ~Kernel() = default;

  virtual Spec spec() const = 0;
  virtual void gram(const MatrixView& X, const MatrixView& Y, Eigen::Ref<Matrix> K) const = 0;
  virtual Vector diagonal(const MatrixView& X) const = 0;
  virtual Matrix pullback(const MatrixView& D, const MatrixView& X, const MatrixView& C) const = 0;
  /// One step, from x, of the fixed-point iteration for the z whose phi(z) is closest to
  /// sum_j a_j phi(d_j); `cross` has k(x, d_j), `own` is k(x, x).
  virtual Vector preimage(const Vector& a, const Vector& cross, double own) const = 0;

  Matrix gram(const MatrixView& X, const MatrixView& Y) const {
    Matrix K(X.cols(), Y.cols());
    gram(X, Y, K);
    return K;
  }
};

/// The kernel that a spec names, e.g. `gaussian(sigma=0.05)`. Throws OptionError.
std::unique_ptr<const Kernel> make_kernel(const Spec& spec);

/// One valid spec of every kernel there is: what the contract tests and the help texts iterate
/// over.
std::vector<Spec> example_kernels();

}  // namespace hyperatom
