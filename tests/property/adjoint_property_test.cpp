// The structured adjoint solve against the dense system of the paper's step 7, and against what it
// is for: the derivative of the code.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hyperatom/coding/coder.hpp"
#include "hyperatom/kernel/kernel.hpp"
#include "tests/support/dense_adjoint.hpp"
#include "tests/support/problems.hpp"

namespace hyperatom::test {
namespace {

/// Only the first `rows` rows of a code: any set of rows makes an adjoint system.
void truncate(SparseCode& code, Index rows) {
  if (code.A.rows() <= rows) return;
  code.active.resize(at(rows));
  code.A = RowMatrix(code.A.topRows(rows));
}

/// A code with rows of any length and direction, which need not solve a coding problem.
SparseCode arbitrary_code(Random& random, Index atoms, Index rows, Index pixels) {
  SparseCode code;
  std::vector<Index> order = random.permutation(atoms);
  code.active.assign(order.begin(), order.begin() + rows);
  std::sort(code.active.begin(), code.active.end());
  code.A = random.normals(rows, pixels);
  for (Index i = 0; i < rows; ++i)
    code.A.row(i) *= random.log_uniform(1e-3, 1) / code.A.row(i).norm();
  return code;
}

Matrix active_gram(const Matrix& K, const SparseCode& code) {
  Matrix gram(code.A.rows(), code.A.rows());
  for (Index i = 0; i < gram.rows(); ++i)
    for (Index j = 0; j < gram.cols(); ++j) gram(i, j) = K(code.active[at(i)], code.active[at(j)]);
  return gram;
}

struct Tally {
  int problems = 0, well_posed = 0, judged = 0, dependent = 0;
  double worst_well_posed = 0, worst_relative = 0;
};

void compare(const Problem& p, const SparseCode& code, Random& random, Tally& tally) {
  const Coder coder(p.K, {.lambda1 = p.lambda1, .lambda2 = p.lambda2});
  const LongMatrix H = dense_adjoint_matrix(active_gram(p.K, code), code.A, p.lambda1, p.lambda2);
  const double condition = condition_number(H);
  const double allowed = condition <= 1e6 ? 1e-9 : 1e-13 * condition;
  for (const bool full : {false, true}) {
    SCOPED_TRACE(fmt::format("{} |L|={} g {} cond(H)={:.2g}", p.name, code.A.rows(),
                             full ? "full" : "in the first column", condition));
    RowMatrix g = RowMatrix::Zero(code.A.rows(), code.A.cols());
    for (Index i = 0; i < g.rows(); ++i)
      for (Index s = 0; s < (full ? g.cols() : 1); ++s) g(i, s) = random.normal();
    const Adjoint adjoint = coder.adjoint(code, g);
    ++tally.problems;
    ASSERT_EQ(adjoint.beta.rows(), g.rows());
    ASSERT_EQ(adjoint.beta.cols(), g.cols());
    EXPECT_TRUE(adjoint.beta.allFinite());
    EXPECT_GE(adjoint.condition, 1);
    EXPECT_TRUE(condition > 1e6 || adjoint.dependent == 0);
    if (adjoint.dependent > 0) ++tally.dependent;
    if (allowed >= 1) continue;  // as far as double can tell, H is singular
    const LongMatrix expected = dense_adjoint(H, g);
    const double difference =
        static_cast<double>((adjoint.beta.cast<long double>() - expected).norm() / expected.norm());
    EXPECT_LE(difference, allowed);
    ++tally.judged;
    tally.worst_relative = std::max(tally.worst_relative, difference / condition);
    if (condition > 1e6) continue;
    ++tally.well_posed;
    tally.worst_well_posed = std::max(tally.worst_well_posed, difference);
  }
}

TEST(AdjointProperty, EqualsTheDenseSystem) {
  Tally tally;
  std::uint64_t seed = 0;
  for (const Spec& spec : example_kernels())
    for (const Index pixels : {1, 2, 9, 25})
      for (const double lambda2 : {0.0, 1e-3})
        for (const Atoms kind : {Atoms::random, Atoms::coherent})
          for (const bool solved : {true, false}) {
            Random random(++seed);
            const Index atoms = 5 + random.below(12);
            const Matrix D = make_atoms(random, kind, 30, atoms);
            Problem p = make_problem(*make_kernel(spec), D, make_window(random, D, pixels));
            p.lambda1 = random.log_uniform(3e-3, 0.3) * p.largest_lambda1();
            p.lambda2 = lambda2;
            p.name = fmt::format("Random({}) {} {} S={} d={} l1={:.2g} l2={} {}", seed,
                                 spec.to_string(), name(kind), pixels, atoms, p.lambda1, lambda2,
                                 solved ? "solved" : "arbitrary");
            const Index most = std::min<Index>(atoms, pixels == 25 ? 6 : 12);
            SparseCode code = solved
                                  ? Coder(p.K, {.lambda1 = p.lambda1, .lambda2 = p.lambda2})
                                        .encode(p.B, p.kappa())
                                  : arbitrary_code(random, atoms, 1 + random.below(most), pixels);
            truncate(code, most);
            ASSERT_GE(code.A.rows(), 1) << p.name;
            compare(p, code, random, tally);
            if (HasFatalFailure()) return;
          }
  fmt::print(
      "{} systems, {} of cond(H) <= 1e6: worst relative difference {:.2g}; "
      "{} judged: worst difference over cond(H) {:.2g}; {} with dependent rows\n",
      tally.problems, tally.well_posed, tally.worst_well_posed, tally.judged, tally.worst_relative,
      tally.dependent);
  EXPECT_GE(tally.problems, 100);
  EXPECT_GE(tally.well_posed, 100);
  EXPECT_GE(tally.judged, tally.problems * 9 / 10);
}

/// Rows of very different length: what the scaling in the solver is for.
TEST(AdjointProperty, RowsOfVeryDifferentNorms) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const Index pixels = seed % 2 == 0 ? 3 : 9;
    const Matrix D = random_atoms(random, 20, 10);
    Problem p = make_problem(*make_kernel({"linear", {}}), D, make_window(random, D, pixels));
    p.lambda1 = 0.1;
    p.name = fmt::format("Random({}) S={}", seed, pixels);
    SparseCode code = arbitrary_code(random, 10, 8, pixels);
    for (Index i = 0; i < 8; ++i) code.A.row(i) *= random.log_uniform(1e-8, 1e3);
    compare(p, code, random, tally);
  }
  EXPECT_GE(tally.judged, 50);
}

/// Nearly identical atoms: as accurate as the condition number allows.
TEST(AdjointProperty, NearlyDuplicatedActiveAtoms) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const Index pixels = seed % 2 == 0 ? 1 : 4;
    Matrix D = random_atoms(random, 20, 8);
    duplicate_atoms(random, D, 0.6, random.log_uniform(1e-5, 1e-2));
    Problem p = make_problem(*make_kernel({"linear", {}}), D, make_window(random, D, pixels));
    p.lambda1 = 0.1;
    p.name = fmt::format("Random({}) S={}", seed, pixels);
    SparseCode code = arbitrary_code(random, 8, 8, pixels);
    // Rows in one direction: sparsity does not tell the atoms apart.
    for (Index i = 1; i < 8; ++i) code.A.row(i) = random.uniform(0.2, 1) * code.A.row(0);
    compare(p, code, random, tally);
  }
  fmt::print("{} systems, {} judged, {} of cond(H) <= 1e6: worst difference over cond(H) {:.2g}\n",
             tally.problems, tally.judged, tally.well_posed, tally.worst_relative);
  EXPECT_GE(tally.judged - tally.well_posed, 30);
}

/// Two identical atoms active with parallel rows: H is singular, and the solve says so.
TEST(AdjointProperty, DuplicatedActiveAtoms) {
  for (const Spec& spec : example_kernels())
    for (const Index pixels : {1, 2, 9, 25})
      for (const double lambda1 : {0.1, 1e-2, 1e-3, 1e-4})
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
          SCOPED_TRACE(fmt::format("Random({}) {} S={} lambda1={}", seed, spec.to_string(), pixels,
                                   lambda1));
          Random random(seed);
          Matrix D = random_atoms(random, 30, 8);
          D.col(5) = D.col(2);
          const auto kernel = make_kernel(spec);
          const Coder coder(kernel->gram(D, D), {.lambda1 = lambda1});
          SparseCode code;
          code.active = {1, 2, 5, 6};
          code.A = random.normals(4, pixels);
          code.A.rowwise().normalize();
          code.A.row(2) = 0.7 * code.A.row(1);
          RowMatrix g = RowMatrix::Zero(4, pixels);
          for (Index i = 0; i < 4; ++i) g(i, 0) = random.normal();
          // A classifier that treats the two atoms differently asks for what does not exist.
          const Adjoint without_solution = coder.adjoint(code, g);
          EXPECT_TRUE(without_solution.beta.allFinite());
          EXPECT_GE(without_solution.dependent, 1);
          EXPECT_LT(without_solution.beta.norm(), 100 * g.norm() / lambda1);

          // One that treats them alike gets what it would get were the atoms one.
          g(2, 0) = g(1, 0);
          const Adjoint adjoint = coder.adjoint(code, g);
          EXPECT_TRUE(adjoint.beta.allFinite());
          EXPECT_GE(adjoint.dependent, 1);
          SparseCode single;
          single.active = {1, 2, 6};
          single.A.resize(3, pixels);
          single.A.row(0) = code.A.row(0);
          single.A.row(1) = code.A.row(1) + code.A.row(2);
          single.A.row(2) = code.A.row(3);
          RowMatrix h(3, pixels);
          h.row(0) = g.row(0);
          h.row(1) = g.row(1);
          h.row(2) = g.row(3);
          const RowMatrix beta = coder.adjoint(single, h).beta;
          EXPECT_LT((adjoint.beta.row(0) - beta.row(0)).norm(), 1e-6 * beta.norm());
          EXPECT_LT((adjoint.beta.row(1) + adjoint.beta.row(2) - beta.row(1)).norm(),
                    1e-6 * beta.norm());
          EXPECT_LT((adjoint.beta.row(3) - beta.row(2)).norm(), 1e-6 * beta.norm());
        }
}

TEST(AdjointProperty, NoActiveRows) {
  const Coder coder(Matrix::Identity(4, 4), {.lambda1 = 0.1});
  for (const Index pixels : {1, 5}) {
    SparseCode code;
    code.A.resize(0, pixels);
    const Adjoint adjoint = coder.adjoint(code, RowMatrix::Zero(0, pixels));
    EXPECT_EQ(adjoint.beta.rows(), 0);
    EXPECT_EQ(adjoint.beta.cols(), pixels);
    EXPECT_EQ(adjoint.dependent, 0);
  }
}

/// lambda1 = 0 leaves K_LL + lambda2 I alone, for every S.
TEST(AdjointProperty, WithoutSparsity) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const Index pixels = 1 + random.below(9);
    const Matrix D = random_atoms(random, 20, 8);
    Problem p = make_problem(*make_kernel({"linear", {}}), D, make_window(random, D, pixels));
    p.lambda2 = seed % 2 == 0 ? 0 : 0.1;
    p.name = fmt::format("Random({}) S={}", seed, pixels);
    compare(p, arbitrary_code(random, 8, 6, pixels), random, tally);
  }
  EXPECT_EQ(tally.well_posed, 24);
}

/// beta is the derivative of <g, A> in the targets B: d<g, A> = <beta, dB> on the active rows.
TEST(AdjointProperty, IsTheDerivativeOfTheCode) {
  constexpr double h = 1e-5;
  int tested = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const std::vector<Spec> specs = example_kernels();
    const Spec& spec = specs[seed % specs.size()];
    const Index pixels = seed % 2 == 0 ? 1 : 5;
    const Matrix D = random_atoms(random, 30, 10);
    Problem p = make_problem(*make_kernel(spec), D, make_window(random, D, pixels));
    p.lambda1 = random.log_uniform(0.03, 0.3) * p.largest_lambda1();
    const Coder coder(p.K, {.lambda1 = p.lambda1, .lambda2 = 0.01, .tolerance = 1e-14});
    const SparseCode code = coder.encode(p.B, p.kappa());
    const Matrix direction = random.normals(10, pixels);
    const SparseCode forward = coder.encode(p.B + h * direction, p.kappa());
    const SparseCode backward = coder.encode(p.B - h * direction, p.kappa());
    // Where a row appears or vanishes, the code has no derivative.
    if (forward.active != code.active || backward.active != code.active) continue;
    if (code.A.rowwise().norm().minCoeff() < 0.01 * code.A.rowwise().norm().maxCoeff()) continue;
    ++tested;
    const RowMatrix g = random.normals(code.A.rows(), pixels);
    const RowMatrix beta = coder.adjoint(code, g).beta;
    double predicted = 0;
    for (Index i = 0; i < code.A.rows(); ++i)
      predicted += beta.row(i).dot(direction.row(code.active[at(i)]));
    const double measured = g.cwiseProduct(forward.A - backward.A).sum() / (2 * h);
    EXPECT_NEAR(measured, predicted, 1e-4 * beta.norm() * direction.norm())
        << "Random(" << seed << ") " << spec.to_string() << " S=" << pixels;
  }
  EXPECT_GE(tested, 30);
}

}  // namespace
}  // namespace hyperatom::test
