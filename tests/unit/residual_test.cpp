#include "hyperatom/coding/residual.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/problems.hpp"
#include "tests/support/small_matrices.hpp"

namespace hyperatom::test {
namespace {

/// Sizes that fill blocks and registers, and that do not. A row's sum has the same bits where atoms
/// after it are missing, so that it is in another block.
TEST(Residual, SquaresAreThoseOfTheDenseMatrices) {
  Random random(1);
  for (const Index d : {1, 7, 8, 15, 16, 17, 31, 45, 80})
    for (const Index S : {1, 2, 9, 12, 13, 25, 49})
      for (const Index active : {0, 1, 6}) {
        SCOPED_TRACE(fmt::format("d={} S={} active={}", d, S, active));
        const Matrix F = random_atoms(random, d + 2, d), B = random_atoms(random, d, S);
        const Matrix K = F.transpose() * F;
        std::vector<Index> rows = random.permutation((d + 1) / 2);
        rows.resize(at(std::min<Index>(active, (d + 1) / 2)));
        const Matrix A = random.normals(static_cast<Index>(rows.size()), S);

        const auto squares_of_first = [&](Index atoms) {
          const Matrix part = B.topRows(atoms);
          const MatrixColumns columns(part);
          std::vector<double> squares;
          residual_row_squares(AtomGram(K.topLeftCorner(atoms, atoms), 0), columns.view(), rows,
                               small(A), squares);
          return squares;
        };
        const std::vector<double> squares = squares_of_first(d);
        ASSERT_EQ(squares.size(), at(d));
        Matrix G = B;
        for (size_t i = 0; i < rows.size(); ++i) G -= K.col(rows[i]) * A.row(static_cast<Index>(i));
        for (Index j = 0; j < d; ++j)
          EXPECT_NEAR(squares[at(j)], G.row(j).squaredNorm(), 1e-12 * (1 + squares[at(j)]));
        for (Index atoms = (d + 1) / 2; atoms < d; ++atoms) {
          const std::vector<double> first = squares_of_first(atoms);
          EXPECT_TRUE(std::equal(first.begin(), first.end(), squares.begin())) << atoms << " atoms";
        }
      }
}

}  // namespace
}  // namespace hyperatom::test
