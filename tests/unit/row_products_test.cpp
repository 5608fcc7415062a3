#include "hyperatom/coding/row_products.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tests/support/problems.hpp"
#include "tests/support/small_matrices.hpp"

namespace hyperatom::test {
namespace {

Matrix rows_of(const Matrix& M, const std::vector<Index>& rows) {
  Matrix result(static_cast<Index>(rows.size()), M.cols());
  for (Index i = 0; i < result.rows(); ++i) result.row(i) = M.row(rows[at(i)]);
  return result;
}

/// Sizes that fill blocks and packs, and that do not.
TEST(RowProducts, AreThoseOfTheDenseMatrices) {
  Random random(1);
  for (const Index d : {1, 3, 4, 7, 8, 9, 45, 80})
    for (const Index S : {1, 13, 81})
      for (const Index most : {0, 1, 5, 6, 7, 13, 40}) {
        SCOPED_TRACE(fmt::format("d={} S={} rows={}", d, S, std::min(most, d)));
        const Matrix F = random_atoms(random, d + 2, d), B = random_atoms(random, d, S);
        const Matrix K = F.transpose() * F;
        std::vector<Index> rows = random.permutation(d);
        rows.resize(at(std::min(most, d)));
        const Index m = static_cast<Index>(rows.size());
        const Matrix half = random_atoms(random, m + 1, std::max<Index>(m, 1)).leftCols(m);
        const Matrix M = half.transpose() * half;

        RowProducts products;
        const MatrixColumns columns(B);
        const Columns view = columns.view();
        products.begin(view);
        products.require(std::span(rows).first(at(m / 2)));
        products.require(rows);
        const Matrix C = B * B.transpose();
        for (const Index row : rows)
          for (Index j = 0; j < d; ++j) EXPECT_NEAR(products.row(row)[j], C(row, j), 1e-12);

        const Matrix B_W = rows_of(B, rows), K_W = rows_of(K, rows);
        const Matrix G = B - K_W.transpose() * (M * B_W);
        const AtomGram gram(K, 0);
        std::vector<double> squares;
        const double size = products.residual_row_squares(gram, rows, small(M),
                                                          small(B_W * B_W.transpose()), squares);
        ASSERT_EQ(squares.size(), at(d));
        const double bound = products.rounding() * size * size;
        double largest = 1;
        for (Index j = 0; j < d; ++j) {
          EXPECT_NEAR(squares[at(j)], G.row(j).squaredNorm(), bound);
          largest = std::max(largest, 1 + (M * K_W.col(j)).cwiseAbs().sum());
        }
        EXPECT_NEAR(size, largest, 1e-12 * largest);
        EXPECT_GE(products.rounding(),
                  0.99 * std::numeric_limits<double>::epsilon() * C.diagonal().maxCoeff());
      }
}

TEST(RowProducts, ForgetTheWindowBefore) {
  Random random(2);
  RowProducts products;
  for (const Index S : {20, 5, 30}) {
    const Matrix B = random_atoms(random, 11, S);
    const MatrixColumns columns(B);
    const Columns view = columns.view();
    products.begin(view);
    const std::vector<Index> rows = {7, 2};
    products.require(rows);
    for (const Index row : rows)
      for (Index j = 0; j < 11; ++j)
        EXPECT_NEAR(products.row(row)[j], B.row(row).dot(B.row(j)), 1e-13);
  }
}

}  // namespace
}  // namespace hyperatom::test
