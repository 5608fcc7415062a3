// Matrices of Eigen as the coder's own.
#pragma once

#include "hyperatom/coding/small_matrix.hpp"

namespace hyperatom::test {

inline SmallMatrix small(const Matrix& M) {
  SmallMatrix result;
  result.reshape(M.rows(), M.cols());
  for (Index i = 0; i < M.rows(); ++i)
    for (Index j = 0; j < M.cols(); ++j) result(i, j) = M(i, j);
  return result;
}

}  // namespace hyperatom::test
