// Multinomial logistic loss: log sum_c exp(s_c) - s_y.  With p the softmax of the scores: gradient
// p - e_y, second derivative diag(p) - p p'.
#include <cmath>

#include "hyperatom/learn/loss_table.hpp"

namespace hyperatom {
namespace {

Vector probabilities(const Vector& scores) {
  Vector p = (scores.array() - scores.maxCoeff()).exp();
  return p / p.sum();
}

class SoftmaxLoss final : public Loss {
 public:
  Spec spec() const override { return {"softmax", {}}; }

  double value(const Vector& scores, Index y) const override {
    const double largest = scores.maxCoeff();
    return std::log((scores.array() - largest).exp().sum()) + (largest - scores[y]);
  }

  Vector gradient(const Vector& scores, Index y) const override {
    Vector slope = probabilities(scores);
    slope[y] -= 1;
    return slope;
  }

  Vector curvature(const Vector& scores, Index /*y*/, const Vector& v) const override {
    const Vector p = probabilities(scores);
    return p.cwiseProduct(v) - p.dot(v) * p;
  }
};

}  // namespace

std::unique_ptr<const Loss> make_softmax_loss(SpecReader& /*parameters*/) {
  return std::make_unique<SoftmaxLoss>();
}

}  // namespace hyperatom
