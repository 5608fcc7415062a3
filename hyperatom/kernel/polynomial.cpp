// k(x, y) = (<x, y> + offset)^degree;   dk/dy = degree (<x, y> + offset)^(degree-1) x.
#include <cmath>

#include "hyperatom/base/inner_products.hpp"
#include "hyperatom/kernel/table.hpp"

namespace hyperatom {
namespace {

/// By repeated multiplication: exact order of operations, also for a negative base.
double power(double base, int exponent) {
  double result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

class PolynomialKernel final : public Kernel {
 public:
  PolynomialKernel(int degree, double offset) : degree_(degree), offset_(offset) {}

  using Kernel::gram;

  Spec spec() const override {
    return {"polynomial", {{"degree", static_cast<double>(degree_)}, {"offset", offset_}}};
  }

  void gram(const MatrixView& X, const MatrixView& Y, Eigen::Ref<Matrix> K) const override {
    inner_products(X, Y, K);
    for (Index j = 0; j < K.cols(); ++j)
      for (Index i = 0; i < K.rows(); ++i) K(i, j) = power(K(i, j) + offset_, degree_);
  }

  Vector diagonal(const MatrixView& X) const override {
    return squared_norms(X).unaryExpr([this](double t) { return power(t + offset_, degree_); });
  }

  Matrix pullback(const MatrixView& D, const MatrixView& X, const MatrixView& C) const override {
    Matrix weights(D.cols(), X.cols());
    inner_products(D, X, weights);
    for (Index s = 0; s < weights.cols(); ++s)
      for (Index j = 0; j < weights.rows(); ++j)
        weights(j, s) = C(j, s) * degree_ * power(weights(j, s) + offset_, degree_ - 1);
    return X * weights.transpose();
  }

  Vector preimage(const Vector& a, const Vector& cross, double own) const override {
    if (!(own > 0)) return Vector::Zero(a.size());
    // (<x, d> + offset) / (<x, x> + offset); its sign is lost where the degree is even.
    const Vector base = (cross / own).unaryExpr([this](double ratio) {
      const double root = std::pow(std::abs(ratio), 1.0 / degree_);
      return ratio < 0 ? -root : root;
    });
    return a.binaryExpr(base, [this](double w, double b) { return w * power(b, degree_ - 1); });
  }

 private:
  int degree_;
  double offset_;
};

}  // namespace

std::unique_ptr<const Kernel> make_polynomial_kernel(SpecReader& parameters) {
  const double degree = parameters.require("degree");
  const double offset = parameters.get("offset", 0);
  parameters.expect(degree >= 1 && degree <= 16 && degree == std::floor(degree), "degree",
                    "a whole number from 1 to 16");
  // A negative offset makes the kernel indefinite: the coding problem would have no minimum.
  parameters.expect(offset >= 0, "offset", "0 or greater");
  return std::make_unique<PolynomialKernel>(static_cast<int>(degree), offset);
}

}  // namespace hyperatom
