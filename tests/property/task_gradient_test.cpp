// The task gradient against central finite differences of the loss, through a coder that solves
// every perturbed problem anew: every kernel x loss x S x lambda2, on random and on coherent
// dictionaries.
#include <gtest/gtest.h>

#include <tuple>

#include "hyperatom/learn/gradient.hpp"
#include "tests/support/problems.hpp"

namespace hyperatom {
namespace {

struct Case {
  Spec kernel, loss;
  Index window;
  double lambda2;
  test::Atoms atoms;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Spec& kernel : example_kernels())
    for (const Spec& loss : example_losses())
      for (const Index window : {Index{1}, Index{9}})
        for (const double lambda2 : {0.0, 1e-3})
          for (const auto atoms : {test::Atoms::random, test::Atoms::coherent})
            cases.push_back({kernel, loss, window, lambda2, atoms});
  return cases;
}

/// One sample, and the loss as a function of D, W, b.
struct Task {
  std::unique_ptr<const Kernel> kernel;
  std::unique_ptr<const Loss> loss;
  Parameters theta;
  Matrix X;
  Index y = 0;
  CoderOptions coding;

  SparseCode encode(const Matrix& D) const {
    const Coder coder(kernel->gram(D, D), coding);
    return coder.encode(kernel->gram(D, X), kernel->diagonal(X).sum());
  }

  double value(const Parameters& p) const { return loss->value(class_scores(p, encode(p.D)), y); }
};

Task make_task(const Case& c, std::uint64_t seed) {
  constexpr Index bands = 15, atoms = 12, classes = 4;
  test::Random random(seed);
  Task task;
  task.kernel = make_kernel(c.kernel);
  task.loss = make_loss(c.loss);
  task.theta.D = test::make_atoms(random, c.atoms, bands, atoms);
  task.theta.W = random.normals(classes, atoms);
  task.theta.b = random.normals(classes, 1);
  // Every pixel near its own mixture of two atoms, so that a few atoms are active.
  task.X.resize(bands, c.window);
  const Index first = random.below(atoms), second = random.below(atoms);
  for (Index s = 0; s < c.window; ++s) {
    const double share = random.uniform(0.2, 0.8);
    task.X.col(s) = share * task.theta.D.col(first) + (1 - share) * task.theta.D.col(second) +
                    0.02 * random.normals(bands, 1).col(0);
    task.X.col(s).normalize();
  }
  task.y = random.below(classes);
  const Matrix B = task.kernel->gram(task.theta.D, task.X);
  task.coding = {.lambda1 = random.uniform(0.02, 0.2) * B.rowwise().norm().maxCoeff(),
                 .lambda2 = c.lambda2,
                 .tolerance = 1e-12};
  return task;
}

/// The derivative is one-sided where a row is about to enter or leave: such tasks are drawn anew.
bool is_smooth(const Task& task, double margin) {
  const SparseCode code = task.encode(task.theta.D);
  if (code.active.size() < 2) return false;
  const Matrix& D = task.theta.D;
  Matrix K = task.kernel->gram(D, D);
  K.diagonal().array() += task.coding.lambda2;
  const Matrix G = task.kernel->gram(D, task.X) - K * code.dense(D.cols());
  std::vector<char> active(static_cast<size_t>(D.cols()), 0);
  for (const Index j : code.active) active[static_cast<size_t>(j)] = 1;
  const double typical = code.A.rowwise().norm().maxCoeff();
  for (Index j = 0; j < D.cols(); ++j) {
    if (active[static_cast<size_t>(j)]) continue;
    if (G.row(j).norm() > margin * task.coding.lambda1) return false;
  }
  return code.A.rowwise().norm().minCoeff() > 0.05 * typical;
}

/// Central differences of order 6: their step can be large, so that the rounding errors of the
/// coder don't matter.
template <class Shift>
double derivative(const Task& task, double step, const Shift& shift) {
  constexpr double weights[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
  double sum = 0;
  for (int k = 1; k <= 3; ++k) {
    Parameters plus = task.theta, minus = task.theta;
    shift(plus, k * step);
    shift(minus, -k * step);
    sum += weights[k - 1] * (task.value(plus) - task.value(minus));
  }
  return sum / step;
}

class TaskGradient : public testing::TestWithParam<Case> {};

TEST_P(TaskGradient, AgreesWithFiniteDifferences) {
  const bool coherent = GetParam().atoms == test::Atoms::coherent;
  int checked = 0;
  double worst = 0;
  for (std::uint64_t seed = 1; checked < 3; ++seed) {
    ASSERT_LT(seed, 3000u) << "no smooth task found";
    const Task task = make_task(GetParam(), seed);
    if (!is_smooth(task, coherent ? 0.99 : 0.9)) continue;
    ++checked;
    const Coder coder(task.kernel->gram(task.theta.D, task.theta.D), task.coding);
    const SparseCode code = task.encode(task.theta.D);
    const SampleGradient part =
        task_gradient(*task.kernel, coder, *task.loss, task.theta, task.X, task.y, code);
    const double one = 1;
    const Parameters found =
        sum_gradients(*task.kernel, task.theta, std::span(&part, 1), std::span(&one, 1));

    Parameters expected = task.theta;
    // beta, and with it the curvature in D, is large where atoms are coherent: the step follows.
    const double step = coherent ? 1e-5 : 1e-3;
    for (Index i = 0; i < expected.D.size(); ++i)
      expected.D.data()[i] =
          derivative(task, step, [&](Parameters& p, double h) { p.D.data()[i] += h; });
    for (Index i = 0; i < expected.W.size(); ++i)
      expected.W.data()[i] =
          derivative(task, 1e-3, [&](Parameters& p, double h) { p.W.data()[i] += h; });
    for (Index i = 0; i < expected.b.size(); ++i)
      expected.b.data()[i] =
          derivative(task, 1e-3, [&](Parameters& p, double h) { p.b.data()[i] += h; });

    ASSERT_GT(expected.D.norm(), 1e-6) << "nothing to compare";
    const double error_D = (found.D - expected.D).norm() / expected.D.norm();
    EXPECT_LE(error_D, 1e-6) << "seed " << seed;
    EXPECT_LE((found.W - expected.W).norm() / expected.W.norm(), 1e-6) << "seed " << seed;
    EXPECT_LE((found.b - expected.b).norm() / expected.b.norm(), 1e-6) << "seed " << seed;
    EXPECT_DOUBLE_EQ(part.loss, task.value(task.theta));
    worst = std::max(worst, error_D);
  }
  RecordProperty("worst_relative_error", std::to_string(worst));
  if (std::getenv("HYPERATOM_VERBOSE")) std::printf("worst %.2e\n", worst);
}

std::string name_of(const Case& c) {
  std::string name = c.kernel.name + "_" + c.loss.name + "_S" + std::to_string(c.window) +
                     (c.lambda2 > 0 ? "_elastic_" : "_") + test::name(c.atoms);
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return name;
}

void PrintTo(const Case& c, std::ostream* stream) { *stream << name_of(c); }

INSTANTIATE_TEST_SUITE_P(All, TaskGradient, testing::ValuesIn(all_cases()),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace hyperatom
