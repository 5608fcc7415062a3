// Matrices and indices used everywhere.
//
// Layout, once for the whole library: pixels, atoms and kernel columns are COLUMNS of column-major
// matrices (a spectrum is contiguous). Codes are the exception: the solvers read them by rows, so
// they are row-major.
#pragma once

#include <Eigen/Core>

#include <cstddef>

namespace hyperatom {

using Index = Eigen::Index;
using Matrix = Eigen::MatrixXd;
using MatrixF = Eigen::MatrixXf;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

/// A read-only matrix argument: accepts blocks and maps of column-major data without a copy.
using MatrixView = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

/// An index of the standard containers.
constexpr size_t at(Index i) { return static_cast<size_t>(i); }

}  // namespace hyperatom
