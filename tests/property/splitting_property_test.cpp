// The solver of dense codes against the slow oracle: its codes, its certificate, what it forgets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "hyperatom/coding/coder.hpp"
#include "hyperatom/coding/splitting_solver.hpp"
#include "hyperatom/kernel/kernel.hpp"
#include "tests/support/evaluation.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/slow_coder.hpp"

namespace hyperatom::test {
namespace {

/// Windows that follow one another, over one dictionary, with dense codes.
std::vector<Problem> dense_sequence(std::uint64_t seed, Index atoms, Index pixels, int count) {
  Random random(seed);
  const Matrix D = random_atoms(random, 40, atoms);
  const auto kernel = make_kernel({"gaussian", {{"sigma", random.log_uniform(0.3, 3)}}});
  const double part = random.log_uniform(2e-4, 3e-3);
  Matrix X = make_window(random, D, pixels, 1);
  std::vector<Problem> problems;
  for (int i = 0; i < count; ++i) {
    Problem p = make_problem(*kernel, D, X);
    p.lambda1 = i == 0 ? part * p.largest_lambda1() : problems.front().lambda1;
    p.name = fmt::format("Random({}) S={} d={} window {}", seed, pixels, atoms, i);
    problems.push_back(std::move(p));
    for (Index s = 0; s < pixels; ++s)
      X.col(s) = (X.col(s) + 0.1 * random.normals(40, 1).col(0).normalized()).normalized();
  }
  return problems;
}

CoderOptions options_of(const Problem& p, double tolerance) {
  return {.lambda1 = p.lambda1, .lambda2 = p.lambda2, .tolerance = tolerance};
}

/// Steps of Newton's method that make it the dearer one, whatever the sizes.
constexpr int slow_newton = 1000000;

std::vector<double> norms_of(const Problem& p, const SparseCode& code) {
  const Vector norms = code.dense(p.atoms()).rowwise().norm();
  return {norms.begin(), norms.end()};
}

/// Loose tolerances show the certificate of codes that are far from solved.
TEST(SplittingProperty, CertificateHoldsAgainstTheOracle) {
  int total = 0, certified = 0, judged = 0;
  double tightest = 1e300, loosest = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    constexpr Index sizes[] = {6, 12, 25, 45}, windows[] = {2, 3, 9, 20, 30};
    constexpr double tolerances[] = {1e-6, 1e-1, 1e-3, 1e-8};
    const double tolerance = tolerances[seed / 2 % 4];
    const std::vector<Problem> problems =
        dense_sequence(seed, sizes[seed % 4], windows[seed % 5], 6);
    const Coder coder(problems[0].K, options_of(problems[0], tolerance));
    SplittingSolver solver(coder.gram(), coder.options());
    SparseCode code = coder.encode(problems[0].B, problems[0].kappa());
    code.steps = slow_newton;
    for (int i = 0; i < 2; ++i) solver.follow(MatrixColumns(problems[0].B).view(), code);
    std::vector<double> norms = norms_of(problems[0], code);
    for (size_t i = 1; i < problems.size(); ++i) {
      const Problem& p = problems[i];
      SCOPED_TRACE(p.name);
      ++total;
      if (!solver.solve(MatrixColumns(p.B).view(), p.kappa(), norms, code)) continue;
      ++certified;
      EXPECT_TRUE(code.converged);
      EXPECT_LE(code.gap, tolerance * code.objective);
      ASSERT_EQ(code.A.rows(), static_cast<Index>(code.active.size()));
      const std::vector<double> expected = norms_of(p, code);
      for (Index j = 0; j < p.atoms(); ++j) EXPECT_NEAR(norms[at(j)], expected[at(j)], 1e-12);
      const Evaluation e(p, code);
      EXPECT_NEAR(code.objective, e.objective, 1e-12 * p.kappa());
      const SlowCode slow = slow_code(p);
      if (slow.gap > 1e-9 * slow.objective) continue;
      ++judged;
      const double suboptimality = e.objective - slow.objective;
      EXPECT_GE(code.gap, suboptimality - 1e-12 * p.kappa());
      if (suboptimality < 1e-8 * slow.objective) continue;  // the oracle's own error
      tightest = std::min(tightest, code.gap / suboptimality);
      loosest = std::max(loosest, code.gap / suboptimality);
    }
  }
  fmt::print("{} of {} certified, {} judged; gap over suboptimality {:.3g} to {:.3g}\n", certified,
             total, judged, tightest, loosest);
  EXPECT_GE(certified, 0.97 * total);
  EXPECT_GE(judged, 0.9 * total);
  EXPECT_GE(tightest, 1);
  EXPECT_LT(loosest, 10);
}

/// The coder hands over to this solver and takes back from it: same objectives, to the tolerance.
TEST(SplittingProperty, SequencesAgreeWithSingleWindows) {
  for (std::uint64_t seed = 100; seed < 112; ++seed)
    for (const double tolerance : {1e-4, 1e-8, 1e-10}) {
      const std::vector<Problem> problems = dense_sequence(seed, 30, seed % 2 == 0 ? 9 : 20, 8);
      const Coder coder(problems[0].K, options_of(problems[0], tolerance));
      WindowCoder worker(coder);
      for (const Problem& p : problems) {
        SCOPED_TRACE(fmt::format("{} tolerance {}", p.name, tolerance));
        const SparseCode& code = worker.encode(MatrixColumns(p.B).view(), p.kappa());
        EXPECT_TRUE(code.converged);
        const SparseCode alone = coder.encode(p.B, p.kappa());
        EXPECT_LE(std::abs(Evaluation(p, code).objective - Evaluation(p, alone).objective),
                  tolerance * alone.objective);
      }
    }
}

TEST(SplittingProperty, StartForgetsAllThatWasBefore) {
  const std::vector<Problem> problems = dense_sequence(7, 45, 9, 12);
  const Coder coder(problems[0].K, options_of(problems[0], 1e-6));
  const auto last_of = [&](WindowCoder& worker, size_t first) {
    worker.start();
    SparseCode code;
    for (size_t i = first; i < problems.size(); ++i)
      code = worker.encode(MatrixColumns(problems[i].B).view(), problems[i].kappa());
    return code;
  };
  WindowCoder fresh(coder), used(coder);
  const SparseCode expected = last_of(fresh, 5);
  last_of(used, 0);
  const SparseCode again = last_of(used, 5);
  EXPECT_EQ(again.active, expected.active);
  EXPECT_EQ(again.A, expected.A);
  EXPECT_EQ(again.gap, expected.gap);
}

/// Whether the solver takes over after p, solved by so many of Newton's steps.
bool takes_over(const Problem& p, int steps) {
  const Coder coder(p.K, options_of(p, 1e-6));
  SplittingSolver solver(coder.gram(), coder.options());
  SparseCode code = coder.encode(p.B, p.kappa());
  std::vector<double> norms = norms_of(p, code);
  code.steps = steps;
  for (int i = 0; i < 2; ++i) solver.follow(MatrixColumns(p.B).view(), code);
  return solver.solve(MatrixColumns(p.B).view(), p.kappa(), norms, code);
}

TEST(SplittingProperty, TakesOverWhereItIsFasterAndThereIsACertificate) {
  Problem p = dense_sequence(3, 12, 9, 1)[0];
  EXPECT_TRUE(takes_over(p, slow_newton));
  EXPECT_FALSE(takes_over(p, 1));
  // Two equal atoms: no K^-1.
  p.K.col(3) = p.K.col(7);
  p.K.row(3) = p.K.row(7);
  p.B.row(3) = p.B.row(7);
  EXPECT_FALSE(takes_over(p, slow_newton));
}

/// One that nothing precedes is for the other solver, and so are windows of another size.
TEST(SplittingProperty, NeedsAWindowToFollow) {
  const Problem p = dense_sequence(3, 12, 9, 1)[0];
  const Coder coder(p.K, options_of(p, 1e-6));
  SplittingSolver solver(coder.gram(), coder.options());
  SparseCode code = coder.encode(p.B, p.kappa());
  code.steps = slow_newton;
  std::vector<double> norms = norms_of(p, code);
  EXPECT_FALSE(solver.solve(MatrixColumns(p.B).view(), p.kappa(), norms, code));
  for (int i = 0; i < 2; ++i) solver.follow(MatrixColumns(p.B).view(), code);
  EXPECT_FALSE(solver.solve(MatrixColumns(p.B.leftCols(4)).view(), p.kappa(), norms, code));
  EXPECT_TRUE(solver.solve(MatrixColumns(p.B).view(), p.kappa(), norms, code));
}

}  // namespace
}  // namespace hyperatom::test
