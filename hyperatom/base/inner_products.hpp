// The inner products that every kernel starts from, and every normalisation that mixes bands.
#pragma once

#include "hyperatom/base/types.hpp"

namespace hyperatom {

/// K_ij = <x_i, y_j>. Each entry is summed in the same order whatever the block, so it depends on
/// its two columns alone, to the last bit.
void inner_products(const MatrixView& X, const MatrixView& Y, Eigen::Ref<Matrix> K);

/// <x_i, x_i>, bit-identical to the diagonal of inner_products(X, X).
Vector squared_norms(const MatrixView& X);

}  // namespace hyperatom
