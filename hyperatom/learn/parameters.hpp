// What is learned: the dictionary D and the classifier (W, b) on its codes.
#pragma once

#include "hyperatom/base/types.hpp"

namespace hyperatom {

struct Parameters {
  Matrix D;  ///< bands x d
  Matrix W;  ///< C x d
  Vector b;  ///< C; stays zero without an intercept

  Index atoms() const { return D.cols(); }
  Index classes() const { return W.rows(); }
};

}  // namespace hyperatom
