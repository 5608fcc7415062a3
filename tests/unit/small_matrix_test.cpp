#include "hyperatom/coding/small_matrix.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/problems.hpp"
#include "tests/support/small_matrices.hpp"

namespace hyperatom::test {
namespace {

std::vector<Index> sizes() {
  std::vector<Index> all;
  for (Index n = 0; n <= 70; ++n) all.push_back(n);
  all.push_back(100);
  return all;
}

Matrix dense(const SmallMatrix& M) {
  Matrix result(M.rows(), M.cols());
  for (Index i = 0; i < M.rows(); ++i)
    for (Index j = 0; j < M.cols(); ++j) result(i, j) = M(i, j);
  return result;
}

void expect_zero_padding(const SmallMatrix& M) {
  for (Index i = 0; i < M.rows(); ++i)
    for (Index j = M.cols(); j < M.stride(); ++j) EXPECT_EQ(M(i, j), 0) << i << ',' << j;
}

/// Regular, with a condition number of about 10.
Matrix positive_definite(Random& random, Index n) {
  const Matrix F = random.normals(n, 2 * n + 1);
  return F * F.transpose() / static_cast<double>(2 * n + 1) + 0.1 * Matrix::Identity(n, n);
}

TEST(SmallMatrix, ReshapeClearsThePadding) {
  SmallMatrix M;
  for (const Index n : {5, 3, 9, 0, 4}) {
    M.reshape(n, n + 1);
    EXPECT_EQ(M.rows(), n);
    EXPECT_EQ(M.cols(), n + 1);
    EXPECT_EQ(M.stride() % 4, 0);
    EXPECT_GE(M.stride(), n + 1);
    EXPECT_LT(M.stride(), n + 5);
    expect_zero_padding(M);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < M.stride(); ++j) M(i, j) = 1;
  }
}

TEST(SmallMatrix, SelectAndAppendRows) {
  Random random(1);
  const Matrix M = random.normals(7, 5);
  SmallMatrix S = small(M);
  S.select_rows({1, 2, 5});
  ASSERT_EQ(S.rows(), 3);
  S.append_row();
  ASSERT_EQ(S.rows(), 4);
  Matrix expected = Matrix::Zero(4, 5);
  expected << M.row(1), M.row(2), M.row(5), Matrix::Zero(1, 5);
  EXPECT_EQ(dense(S), expected);
  S.select_rows({});
  EXPECT_EQ(S.rows(), 0);
  S.append_row();
  EXPECT_EQ(dense(S), Matrix::Zero(1, 5));
}

TEST(SmallMatrix, Dot) {
  Random random(2);
  for (const Index n : {0, 4, 8, 20, 100}) {
    const Vector x = random.normals(n, 1), y = random.normals(n, 1);
    EXPECT_NEAR(dot(x.data(), y.data(), n), x.dot(y), 1e-13 * static_cast<double>(n + 1));
  }
}

TEST(SmallMatrix, Multiply) {
  Random random(3);
  SmallMatrix C;
  for (const Index rows : sizes()) {
    const Index depth = random.below(71), cols = random.below(71);
    for (const auto& [d, c] : {std::pair{depth, cols}, {rows, rows}, {Index{1}, Index{1}}}) {
      const Matrix A = random.normals(rows, d), B = random.normals(d, c);
      multiply(small(A), small(B), C);
      ASSERT_EQ(C.rows(), rows);
      ASSERT_EQ(C.cols(), c);
      EXPECT_LT((dense(C) - A * B).norm(), 1e-14 * (1 + A.norm() * B.norm())) << rows;
      expect_zero_padding(C);
    }
  }
}

TEST(SmallMatrix, Transpose) {
  Random random(14);
  SmallMatrix B;
  for (const Index rows : sizes())
    for (const Index cols : {Index{0}, Index{1}, Index{9}, rows}) {
      const Matrix A = random.normals(rows, cols);
      transpose(small(A), B);
      ASSERT_EQ(B.rows(), simd::round_up(cols));
      ASSERT_EQ(B.cols(), rows);
      EXPECT_EQ(dense(B).topRows(cols), A.transpose()) << rows << " x " << cols;
      EXPECT_EQ(dense(B).bottomRows(B.rows() - cols).norm(), 0);
      expect_zero_padding(B);
    }
}

TEST(SmallMatrix, MultiplyByTranspose) {
  Random random(4);
  SmallMatrix scratch, C;
  for (const Index rows : sizes())
    for (const Index cols : {Index{0}, Index{1}, Index{9}, rows}) {
      const Matrix A = random.normals(rows, cols);
      multiply_by_transpose(small(A), scratch, C);
      ASSERT_EQ(C.rows(), rows);
      ASSERT_EQ(C.cols(), rows);
      EXPECT_LT((dense(C) - A * A.transpose()).norm(), 1e-14 * (1 + A.squaredNorm()))
          << rows << " x " << cols;
      expect_zero_padding(C);
    }
}

TEST(SmallMatrix, InvertPositiveDefinite) {
  Random random(5);
  for (const Index n : sizes()) {
    const Matrix M = positive_definite(random, n);
    SmallMatrix S = small(M);
    ASSERT_TRUE(invert_spd(S)) << n;
    EXPECT_LT((dense(S) - M.inverse()).norm(), 1e-12 * (1 + M.inverse().norm())) << n;
    expect_zero_padding(S);
  }
}

/// The matrices that are inverted in earnest: I + E K E with E from tiny to huge.
TEST(SmallMatrix, InvertBadlyScaled) {
  Random random(6);
  for (const Index n : sizes()) {
    const Matrix F = random.normals(n, n);
    Vector scale(n);
    for (Index i = 0; i < n; ++i) scale[i] = random.log_uniform(1e-6, 1e3);
    const Matrix M = scale.asDiagonal() * (F * F.transpose()) * scale.asDiagonal();
    const Matrix full = M + Matrix::Identity(n, n);
    SmallMatrix S = small(full);
    ASSERT_TRUE(invert_spd(S)) << n;
    // Backward stable for each column: the residual against the sizes of both factors.
    const Matrix inverse = dense(S);
    EXPECT_LT((full * inverse - Matrix::Identity(n, n)).norm(),
              1e-13 * static_cast<double>(n + 1) * (1 + full.norm() * inverse.norm()))
        << n;
  }
}

TEST(SmallMatrix, InvertRefusesWhatIsNotPositiveDefinite) {
  Random random(7);
  for (const Index n : {1, 2, 3, 5, 40, 64, 65, 70, 100}) {
    Matrix M = positive_definite(random, n);
    const Index k = random.below(n);
    Matrix negative = M;
    negative(k, k) = -1;
    SmallMatrix S = small(negative);
    EXPECT_FALSE(invert_spd(S)) << n;
    S = small(Matrix::Zero(n, n));
    EXPECT_FALSE(invert_spd(S)) << n;
    S = small(-M);
    EXPECT_FALSE(invert_spd(S)) << n;
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      Matrix broken = M;
      broken(k, k) = bad;
      S = small(broken);
      EXPECT_FALSE(invert_spd(S)) << n << ' ' << bad;
    }
  }
}

TEST(SmallMatrix, MultiplySymmetric) {
  Random random(10);
  for (const Index n : sizes()) {
    const Matrix M = positive_definite(random, n), F = random.normals(n, n);
    const Matrix left = F * M;
    SmallMatrix product;
    multiply_symmetric(small(left), small(F.transpose()), product);
    EXPECT_LT((dense(product) - left * F.transpose()).norm(), 1e-12 * (1 + left.norm() * F.norm()))
        << n;
    expect_zero_padding(product);
  }
}

TEST(SmallMatrix, FactorAndSolve) {
  Random random(8);
  for (const Index n : sizes()) {
    const Matrix M = positive_definite(random, n);
    SmallMatrix T = small(M);
    const Pivots pivots = factor_psd(T, 1e-13);
    EXPECT_EQ(pivots.dependent, 0) << n;
    EXPECT_GE(pivots.condition, 1);
    EXPECT_LT(pivots.condition, 1e3);
    const Vector right = random.normals(n, 1);
    Vector z = right;
    solve_factored(T, z.data());
    EXPECT_LT((z - M.ldlt().solve(right)).norm(), 1e-12 * (1 + z.norm())) << n;

    Matrix with_right(n, n + 1);
    with_right << M, right;
    SmallMatrix extended = small(with_right);
    factor_psd(extended, 1e-13);
    std::vector<double> back(static_cast<size_t>(extended.stride()), 7.0);
    substitute_back(extended, back.data());
    for (Index i = 0; i < n; ++i)
      EXPECT_NEAR(back[static_cast<size_t>(i)], z[i], 1e-12 * (1 + z.norm())) << n << ' ' << i;
  }
}

TEST(SmallMatrix, PivotsAreThoseOfElimination) {
  // T = L D L' with D = (4, 1, 9).
  Matrix L = Matrix::Identity(3, 3);
  L(1, 0) = 0.5;
  L(2, 0) = -0.25;
  L(2, 1) = 2;
  const Vector D = Vector{{4, 1, 9}};
  SmallMatrix T = small(L * D.asDiagonal() * L.transpose());
  const Pivots pivots = factor_psd(T, 1e-13);
  EXPECT_EQ(pivots.dependent, 0);
  EXPECT_NEAR(pivots.condition, 9, 1e-12);
  const Matrix DL = D.asDiagonal() * L.transpose();
  for (Index i = 0; i < 3; ++i)
    for (Index j = i; j < 3; ++j) EXPECT_NEAR(T(i, j), i == j ? 1 / D[i] : DL(i, j), 1e-14);
}

/// Rows that are copies of others, or zero: counted, given z = 0, and the rest solved.
TEST(SmallMatrix, FactorSemidefinite) {
  Random random(9);
  for (const Index n : sizes()) {
    if (n < 2) continue;
    Matrix F = random.normals(n, n + 3);
    Index copies = 0;
    std::vector<char> copied(static_cast<size_t>(n), 0);
    for (Index i = 1; i < n; ++i) {
      if (i != n / 2 && random.uniform() > 0.3) continue;
      F.row(i) = random.uniform() < 0.2 ? Matrix::Zero(1, n + 3) : Matrix(F.row(random.below(i)));
      copied[static_cast<size_t>(i)] = 1;
      ++copies;
    }
    const Matrix M = F * F.transpose();
    SmallMatrix T = small(M);
    const Pivots pivots = factor_psd(T, 1e-13);
    EXPECT_EQ(pivots.dependent, copies) << n;
    const Vector right = M * random.normals(n, 1);  // in the range: M z = right has solutions
    Vector z = right;
    solve_factored(T, z.data());
    EXPECT_TRUE(z.allFinite());
    EXPECT_LT((M * z - right).norm(), 1e-9 * (1 + right.norm())) << n;
    for (Index i = 0; i < n; ++i)
      EXPECT_TRUE(z[i] == 0 || copied[static_cast<size_t>(i)] == 0) << n << ' ' << i;
  }
}

TEST(SmallMatrix, FactorZeroAndEmpty) {
  SmallMatrix T = small(Matrix::Zero(4, 4));
  const Pivots pivots = factor_psd(T, 1e-13);
  EXPECT_EQ(pivots.dependent, 4);
  EXPECT_EQ(pivots.condition, 1);
  double z[4] = {1, 2, 3, 4};
  solve_factored(T, z);
  for (const double value : z) EXPECT_EQ(value, 0);
  SmallMatrix empty;
  empty.reshape(0, 0);
  EXPECT_EQ(factor_psd(empty, 1e-13).dependent, 0);
  solve_factored(empty, nullptr);
}

}  // namespace
}  // namespace hyperatom::test
