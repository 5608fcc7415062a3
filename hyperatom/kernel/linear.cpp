// k(x, y) = <x, y>;   dk/dy = x.
#include "hyperatom/base/inner_products.hpp"
#include "hyperatom/kernel/table.hpp"

namespace hyperatom {
namespace {

class LinearKernel final : public Kernel {
 public:
  using Kernel::gram;

  Spec spec() const override { return {"linear", {}}; }

  void gram(const MatrixView& X, const MatrixView& Y, Eigen::Ref<Matrix> K) const override {
    inner_products(X, Y, K);
  }

  Vector diagonal(const MatrixView& X) const override { return squared_norms(X); }

  Matrix pullback(const MatrixView& /*D*/, const MatrixView& X,
                  const MatrixView& C) const override {
    return X * C.transpose();
  }

  Vector preimage(const Vector& a, const Vector&, double) const override { return a; }
};

}  // namespace

std::unique_ptr<const Kernel> make_linear_kernel(SpecReader& /*parameters*/) {
  return std::make_unique<LinearKernel>();
}

}  // namespace hyperatom
