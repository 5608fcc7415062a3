// Every loss of the table against finite differences, and against its formula at a few points.
#include "hyperatom/learn/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hyperatom/base/error.hpp"
#include "tests/support/problems.hpp"

namespace hyperatom {
namespace {

constexpr Index classes = 5;

TEST(Loss, GradientAndCurvatureAgreeWithFiniteDifferences) {
  for (const Spec& spec : example_losses()) {
    const auto loss = make_loss(spec);
    EXPECT_EQ(loss->spec(), spec);
    test::Random random(3);
    for (int trial = 0; trial < 50; ++trial) {
      const Vector scores = 2 * random.normals(classes, 1), v = random.normals(classes, 1);
      const Index y = random.below(classes);
      if (((scores.array().abs() - 1).abs() < 1e-3).any()) continue;  // a kink of the hinge
      const double h = 1e-5;
      const double slope =
          (loss->value(scores + h * v, y) - loss->value(scores - h * v, y)) / (2 * h);
      EXPECT_NEAR(loss->gradient(scores, y).dot(v), slope, 1e-8 * (1 + std::abs(slope)));
      const Vector bend =
          (loss->gradient(scores + h * v, y) - loss->gradient(scores - h * v, y)) / (2 * h);
      EXPECT_LT((loss->curvature(scores, y, v) - bend).norm(), 1e-8 * (1 + bend.norm()))
          << spec.name;
    }
  }
}

TEST(Loss, IsConvexAndNeverNegative) {
  for (const Spec& spec : example_losses()) {
    const auto loss = make_loss(spec);
    test::Random random(4);
    for (int trial = 0; trial < 200; ++trial) {
      const Vector a = 3 * random.normals(classes, 1), b = 3 * random.normals(classes, 1);
      const Index y = random.below(classes);
      const double middle = loss->value(0.5 * (a + b), y);
      EXPECT_LE(middle, 0.5 * (loss->value(a, y) + loss->value(b, y)) + 1e-12) << spec.name;
      EXPECT_GE(middle, 0);
      EXPECT_GE(a.dot(loss->curvature(b, y, a)), -1e-12);
    }
  }
}

TEST(Loss, ARightAnswerCostsLessThanAWrongOne) {
  for (const Spec& spec : example_losses()) {
    const auto loss = make_loss(spec);
    const Vector scores = Vector::Unit(classes, 2);
    EXPECT_LT(loss->value(scores, 2), loss->value(scores, 0)) << spec.name;
  }
}

TEST(Loss, FormulasAtKnownPoints) {
  const Vector scores = (Vector(3) << 0.2, -0.5, 2).finished();
  EXPECT_NEAR(make_loss({"squared", {}})->value(scores, 0), 0.5 * (0.64 + 0.25 + 4), 1e-15);
  EXPECT_NEAR(make_loss({"squared-hinge", {}})->value(scores, 0), 0.5 * (0.64 + 0.25 + 9), 1e-15);
  EXPECT_NEAR(make_loss({"softmax", {}})->value(scores, 0),
              std::log(std::exp(0.2) + std::exp(-0.5) + std::exp(2)) - 0.2, 1e-15);
}

TEST(Loss, SoftmaxSurvivesHugeScores) {
  const auto loss = make_loss({"softmax", {}});
  const Vector scores = (Vector(3) << 1e4, -1e4, 0).finished();
  EXPECT_EQ(loss->value(scores, 0), 0);
  EXPECT_EQ(loss->value(scores, 1), 2e4);
  EXPECT_TRUE(loss->gradient(scores, 1).allFinite());
}

TEST(Loss, UnknownNamesAndParametersAreRefused) {
  try {
    make_loss({"hinge", {}});
    FAIL();
  } catch (const OptionError& error) {
    EXPECT_STREQ(error.what(), "unknown loss 'hinge'; known: squared, softmax, squared-hinge");
  }
  EXPECT_THROW(make_loss(Spec::parse("squared(scale=2)")), OptionError);
}

}  // namespace
}  // namespace hyperatom
