// One against all: 1/2 sum_c max(0, 1 - t_c s_c)^2 with t_c = +1 for the true class, -1 for the
// others.
#include <algorithm>

#include "hyperatom/learn/loss_table.hpp"

namespace hyperatom {
namespace {

class SquaredHingeLoss final : public Loss {
 public:
  Spec spec() const override { return {"squared-hinge", {}}; }

  double value(const Vector& scores, Index y) const override {
    return 0.5 * gradient(scores, y).squaredNorm();
  }

  Vector gradient(const Vector& scores, Index y) const override {
    Vector slope(scores.size());
    for (Index c = 0; c < scores.size(); ++c) {
      const double t = c == y ? 1 : -1;
      slope[c] = -t * std::max(0.0, 1 - t * scores[c]);
    }
    return slope;
  }

  Vector curvature(const Vector& scores, Index y, const Vector& v) const override {
    return (gradient(scores, y).array() != 0).select(v, 0);
  }
};

}  // namespace

std::unique_ptr<const Loss> make_squared_hinge_loss(SpecReader& /*parameters*/) {
  return std::make_unique<SquaredHingeLoss>();
}

}  // namespace hyperatom
