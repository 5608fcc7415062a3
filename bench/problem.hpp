// The problems that the benchmarks solve: pixels of a synthetic scene, in raster order, over a
// dictionary of its pixels, at the sizes of the paper's two scenes.
#pragma once

#include <string>
#include <vector>

#include "hyperatom/coding/coder.hpp"
#include "hyperatom/kernel/kernel.hpp"
#include "hyperatom/learn/samples.hpp"

namespace hyperatom::bench {

struct Size {
  const char* name;
  Index atoms;
  Index bands;
  Index classes;
};

/// 16 classes of Indian Pines and 9 of Pavia University, 5 atoms each.
inline constexpr Size sizes[] = {{"80x200", 80, 200, 16}, {"45x103", 45, 103, 9}};

class Problem {
 public:
  /// S = `window` pixels: a square.
  Problem(const Size& size, Index window, const Spec& kernel);

  const Kernel& kernel() const { return *kernel_; }
  const Matrix& D() const { return D_; }
  const Matrix& K() const { return K_; }
  /// Of every pixel of the scene, in raster order.
  const Matrix& pixels() const { return samples_.pixels; }
  /// All windows that fit the scene, in raster order.
  const Samples& samples() const { return samples_; }
  Index windows() const { return samples_.size(); }
  /// The kernel columns of window i; valid until the next call.
  Columns columns(Index i);
  double kappa() const {
    return static_cast<double>(samples_.window());
  }  // a Gaussian kernel is 1 on the diagonal

 private:
  std::unique_ptr<const Kernel> kernel_;
  Samples samples_;
  Matrix D_, K_, kernel_columns_;
  std::vector<const double*> pointers_;
};

}  // namespace hyperatom::bench
