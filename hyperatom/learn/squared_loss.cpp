// The paper's quadratic loss: 1/2 ||e_y - scores||^2, e_y the indicator of the true class.
#include "hyperatom/learn/loss_table.hpp"

namespace hyperatom {
namespace {

class SquaredLoss final : public Loss {
 public:
  Spec spec() const override { return {"squared", {}}; }

  double value(const Vector& scores, Index y) const override {
    return 0.5 * gradient(scores, y).squaredNorm();
  }

  Vector gradient(const Vector& scores, Index y) const override {
    Vector slope = scores;
    slope[y] -= 1;
    return slope;
  }

  Vector curvature(const Vector& /*scores*/, Index /*y*/, const Vector& v) const override {
    return v;
  }
};

}  // namespace

std::unique_ptr<const Loss> make_squared_loss(SpecReader& /*parameters*/) {
  return std::make_unique<SquaredLoss>();
}

}  // namespace hyperatom
