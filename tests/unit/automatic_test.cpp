// Settings chosen from the data: what is given stays, what is not gets better than a blunder, and
// nothing depends on threads.
#include "hyperatom/learn/automatic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hyperatom/base/parallel.hpp"
#include "hyperatom/learn/trainer.hpp"
#include "tests/support/small_scene.hpp"

namespace hyperatom {
namespace {

using test::small_scene;

std::string value_of(const std::vector<Choice>& choices, const std::string& option) {
  for (const Choice& choice : choices)
    if (choice.option == option) return choice.value;
  return "not chosen";
}

TEST(Automatic, ChoosesWhatIsNotGivenAndSaysWhy) {
  const Samples samples = small_scene(1, 8, 9);
  TrainOptions options;
  const auto choices = choose_settings(samples, {}, options);
  std::set<std::string> chosen;
  for (const Choice& choice : choices) {
    chosen.insert(choice.option);
    EXPECT_GT(choice.reason.size(), 10u) << choice.option;
  }
  EXPECT_EQ(chosen, automatic_settings());
  EXPECT_EQ(value_of(choices, "kernel"), options.kernel.to_string());
  EXPECT_DOUBLE_EQ(options.lambda1, 0.12);  // 0.04 sqrt(9), pixels of length 1
  EXPECT_EQ(options.epochs, 300);           // 36 samples
  EXPECT_DOUBLE_EQ(options.ball, 1);
  EXPECT_DOUBLE_EQ(options.rho, 3e-4);
  EXPECT_DOUBLE_EQ(options.weight_rate, 30);
  EXPECT_NO_THROW(validate(options));
}

TEST(Automatic, WhatIsGivenStays) {
  const Samples samples = small_scene(1, 7, 9);
  TrainOptions options;
  options.kernel = Spec::parse("polynomial(degree=2,offset=1)");
  options.epochs = 3;
  const auto choices = choose_settings(samples, {"kernel", "epochs"}, options);
  EXPECT_EQ(options.kernel.name, "polynomial");
  EXPECT_EQ(options.epochs, 3);
  EXPECT_EQ(value_of(choices, "kernel"), "not chosen");
  EXPECT_NEAR(options.lambda1, 0.12 * 4, 1e-9);  // k(x, x) = (1 + 1)^2
}

TEST(Automatic, AGaussianWithoutSigmaGetsOne) {
  const Samples samples = small_scene(1, 7, 1);
  TrainOptions options;
  options.kernel = {"gaussian", {}};
  choose_settings(samples, {"kernel"}, options);
  ASSERT_EQ(options.kernel.parameters.size(), 1u);
  EXPECT_EQ(options.kernel.parameters[0].first, "sigma");
}

TEST(Automatic, FollowsTheScaleOfThePixels) {
  Samples samples = small_scene(1, 7, 4);
  TrainOptions one, hundred;
  choose_settings(samples, {}, one);
  samples.pixels *= 100;
  choose_settings(samples, {}, hundred);
  const auto sigma = [](const TrainOptions& options) {
    return options.kernel.parameters[0].second;
  };
  EXPECT_NEAR(sigma(hundred) / sigma(one), 1e4, 200);  // three digits are kept
  EXPECT_NEAR(hundred.ball, 100, 1e-3);
  EXPECT_NEAR(hundred.rho, 0.03, 1e-9);
  EXPECT_EQ(hundred.lambda1, one.lambda1);  // k(x, x) = 1 for both
}

TEST(Automatic, TheSameForAnyNumberOfThreads) {
  const Samples samples = small_scene(3, 7, 9, 0.2);
  TrainOptions one, five;
  {
    const ThreadLimit limit(1);
    choose_settings(samples, {}, one);
  }
  {
    const ThreadLimit limit(5);
    choose_settings(samples, {}, five);
  }
  EXPECT_EQ(to_json(one.fields()), to_json(five.fields()));
}

TEST(Automatic, SmallestSetsAndEqualPixelsGetSomething) {
  Samples samples = small_scene(1, 7, 1);
  samples.pixels.colwise() = Vector::Ones(samples.bands()).eval();
  TrainOptions options;
  choose_settings(samples, {}, options);
  EXPECT_NO_THROW(validate(options));
  Samples two;  // one sample of each of two classes: nothing can be held out
  two.pixels = Matrix::Identity(3, 2);
  two.windows.resize(1, 2);
  two.windows << 0, 1;
  two.labels = {0, 1};
  two.classes = 2;
  choose_settings(two, {}, options);
  EXPECT_NO_THROW(validate(options));
}

TEST(Automatic, StopsWhenTold) {
  const Samples samples = small_scene(1, 7, 1);
  TrainOptions options;
  Index calls = 0;
  choose_settings(samples, {}, options, [&](Index done, Index trials) {
    ++calls;
    EXPECT_EQ(done, calls);
    EXPECT_EQ(trials, 12);
    return calls < 3;
  });
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace hyperatom
