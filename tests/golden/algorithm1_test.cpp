// Algorithm 1 against an independent NumPy implementation with its own solver
// (scripts/make_golden.py).
#include <gtest/gtest.h>

#include "hyperatom/learn/linear_classifier.hpp"
#include "hyperatom/learn/trainer.hpp"
#include "tests/support/golden.hpp"

namespace hyperatom {
namespace {

using test::golden;
using test::rows_of;
using test::vector_of;
using test::window_of;
using Json = nlohmann::json;

Samples samples_of(const Json& json) {
  Samples samples;
  const Index bands = json.at("bands").get<Index>(), window = json.at("window").get<Index>();
  const auto count = static_cast<Index>(json.at("pixels").size());
  samples.classes = json.at("classes").get<Index>();
  samples.labels = json.at("labels").get<std::vector<Index>>();
  samples.pixels.resize(bands, window * count);
  samples.windows.resize(window, count);
  for (Index i = 0; i < count; ++i) {
    samples.pixels.middleCols(i * window, window) =
        window_of(json.at("pixels").at(static_cast<size_t>(i)), bands);
    for (Index s = 0; s < window; ++s) samples.windows(s, i) = i * window + s;
  }
  return samples;
}

TrainOptions options_of(const Json& json) {
  TrainOptions options = TrainOptions::paper();
  options.kernel = Spec::parse(json.at("kernel").get<std::string>());
  options.lambda1 = json.at("lambda1").get<double>();
  options.lambda2 = json.at("lambda2").get<double>();
  options.nu = json.at("nu").get<double>();
  options.rho = json.at("rho").get<double>();
  options.t0 = json.at("t0").get<double>();
  options.tolerance = 1e-12;
  return options;
}

Parameters initial_of(const Json& json) {
  const Matrix W = rows_of(json.at("W0"));
  return {rows_of(json.at("D0")).transpose(), W, Vector::Zero(W.rows())};
}

double relative(const Matrix& found, const Matrix& expected) {
  return (found - expected).norm() / expected.norm();
}

class Algorithm1 : public testing::TestWithParam<std::string> {};

TEST_P(Algorithm1, CodeAndAdjointOfTheFirstStep) {
  const Json json = golden("algorithm1_" + GetParam() + ".json");
  const Samples samples = samples_of(json);
  const TrainOptions options = options_of(json);
  const Parameters theta = initial_of(json);
  const auto kernel = make_kernel(options.kernel);
  const auto loss = make_loss(options.loss);
  const Coder coder(kernel->gram(theta.D, theta.D), options.coding());
  const Index drawn = json.at("order").at(0).get<Index>();
  const Matrix X = samples.window_pixels(drawn);
  const SparseCode code = coder.encode(kernel->gram(theta.D, X), kernel->diagonal(X).sum());

  EXPECT_TRUE(code.converged);
  EXPECT_EQ(code.active, json.at("active").get<std::vector<Index>>());
  EXPECT_LT(relative(code.dense(theta.atoms()), rows_of(json.at("codes"))), 1e-9);

  const Vector slope = loss->gradient(class_scores(theta, code), samples.label(drawn));
  RowMatrix g = RowMatrix::Zero(code.A.rows(), code.A.cols());
  for (size_t i = 0; i < code.active.size(); ++i)
    g(static_cast<Index>(i), 0) = theta.W.col(code.active[i]).dot(slope);
  SparseCode beta = code;
  beta.A = coder.adjoint(code, g).beta;
  EXPECT_LT(relative(beta.dense(theta.atoms()), rows_of(json.at("beta"))), 1e-8);
}

TEST_P(Algorithm1, OneAndTenSteps) {
  const Json json = golden("algorithm1_" + GetParam() + ".json");
  const Samples samples = samples_of(json);
  const Parameters initial = initial_of(json);
  Trainer trainer(samples, options_of(json), initial,
                  std::vector<Index>(static_cast<size_t>(initial.atoms()), 0));
  const auto order = json.at("order").get<std::vector<Index>>();
  ASSERT_EQ(order.size(), 10u);
  for (size_t t = 1; t <= order.size(); ++t) {
    trainer.step(std::span(&order[t - 1], 1));
    if (!json.at("steps").contains(std::to_string(t))) continue;
    const Json& expected = json.at("steps").at(std::to_string(t));
    EXPECT_LT(relative(trainer.parameters().D, rows_of(expected.at("D")).transpose()), 1e-8) << t;
    EXPECT_LT(relative(trainer.parameters().W, rows_of(expected.at("W"))), 1e-8) << t;
    EXPECT_EQ(trainer.parameters().b.norm(), 0);
  }
  EXPECT_EQ(trainer.checkpoint().step, 10);
}

INSTANTIATE_TEST_SUITE_P(Cases, Algorithm1,
                         testing::Values("linear_s1_l2_0", "linear_s1_l2_0p01", "linear_s4_l2_0",
                                         "linear_s4_l2_0p01", "gaussian_s1_l2_0",
                                         "gaussian_s1_l2_0p01", "gaussian_s4_l2_0",
                                         "gaussian_s4_l2_0p01", "polynomial_s1_l2_0",
                                         "polynomial_s1_l2_0p01", "polynomial_s4_l2_0",
                                         "polynomial_s4_l2_0p01"),
                         [](const auto& test) { return test.param; });

TEST(Unsupervised, ValueAndGradient) {
  const Json file = golden("unsupervised.json");
  for (const Json& json : file.at("cases")) {
    const auto kernel = make_kernel(Spec::parse(json.at("kernel").get<std::string>()));
    const Matrix X = window_of(json.at("pixels"), json.at("bands").get<Index>());
    Parameters theta;
    theta.D = rows_of(json.at("D")).transpose();
    theta.W = Matrix::Zero(1, theta.D.cols());
    theta.b = Vector::Zero(1);
    const Coder coder(kernel->gram(theta.D, theta.D), {.lambda1 = json.at("lambda1").get<double>(),
                                                       .lambda2 = json.at("lambda2").get<double>(),
                                                       .tolerance = 1e-12});
    const SparseCode code = coder.encode(kernel->gram(theta.D, X), kernel->diagonal(X).sum());
    EXPECT_NEAR(code.objective, json.at("value").get<double>(), 1e-11);
    const SampleGradient part = reconstruction_gradient(*kernel, theta, X, code);
    const double weight = 1;
    const Parameters gradient =
        sum_gradients(*kernel, theta, std::span(&part, 1), std::span(&weight, 1));
    EXPECT_LT((gradient.D - rows_of(json.at("gradient")).transpose()).cwiseAbs().maxCoeff(), 1e-7);
  }
}

struct Fit {
  const char* key;
  const char* loss;
  bool intercept;
  bool weighted;
};

class Ridge : public testing::TestWithParam<Fit> {};

TEST_P(Ridge, ExactConvexSolve) {
  const Json json = golden("ridge.json");
  const Fit fit = GetParam();
  const Matrix codes = rows_of(json.at("codes")).transpose();
  const auto labels = json.at("labels").get<std::vector<Index>>();
  const auto weights = json.at("weights").get<std::vector<double>>();
  const auto loss = make_loss(Spec::parse(fit.loss));
  const LinearClassifier found = fit_linear_classifier(
      codes, labels, json.at("classes").get<Index>(),
      fit.weighted ? std::span<const double>(weights) : std::span<const double>(), *loss,
      {.nu = json.at("nu").get<double>(), .intercept = fit.intercept});
  EXPECT_TRUE(found.converged);
  const Json& expected = json.at(fit.key);
  EXPECT_LT((found.W - rows_of(expected.at("W"))).cwiseAbs().maxCoeff(), 1e-9);
  if (expected.contains("b")) {
    EXPECT_LT((found.b - vector_of(expected.at("b"))).cwiseAbs().maxCoeff(), 1e-9);
  } else if (expected.contains("centred_scores")) {
    Matrix scores = (found.W * codes).colwise() + found.b;
    scores.rowwise() -= scores.colwise().mean();
    EXPECT_LT((scores.transpose() - rows_of(expected.at("centred_scores"))).cwiseAbs().maxCoeff(),
              1e-9);
  } else {
    EXPECT_EQ(found.b.norm(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Losses, Ridge,
    testing::Values(Fit{"squared", "squared", true, false},
                    Fit{"squared_weighted", "squared", true, true},
                    Fit{"squared_no_intercept", "squared", false, false},
                    Fit{"squared_no_intercept_weighted", "squared", false, true},
                    Fit{"softmax", "softmax", true, false},
                    Fit{"softmax_weighted", "softmax", true, true},
                    Fit{"squared_hinge", "squared-hinge", true, false},
                    Fit{"squared_hinge_weighted", "squared-hinge", true, true}),
    [](const auto& test) { return test.param.key; });

}  // namespace
}  // namespace hyperatom
