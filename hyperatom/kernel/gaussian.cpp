// k(x, y) = exp(-||x - y||^2 / sigma), sigma as in the paper (not squared, no 2);
// dk/dy = (2 / sigma) k(x, y) (x - y).
#include "hyperatom/base/inner_products.hpp"
#include "hyperatom/base/simd.hpp"
#include "hyperatom/kernel/table.hpp"

namespace hyperatom {
namespace {

class GaussianKernel final : public Kernel {
 public:
  explicit GaussianKernel(double sigma) : sigma_(sigma) {}

  using Kernel::gram;

  Spec spec() const override { return {"gaussian", {{"sigma", sigma_}}}; }

  void gram(const MatrixView& X, const MatrixView& Y, Eigen::Ref<Matrix> K) const override {
    inner_products(X, Y, K);
    const Vector x = squared_norms(X);
    const Vector y = squared_norms(Y);
    const double scale = -1 / sigma_;
    // Of a pack of X and one of Y, by their inner products and squared norms.
    const auto entries = [scale](simd::Pack products, simd::Pack squares, double square) {
      simd::Pack distance = (squares + square) - 2 * products;
      distance =
          distance < 0 ? simd::Pack{} : distance;  // rounding may leave it there; a NaN stays
      return simd::exp_of_nonpositive(scale * distance);
    };
    const Index rows = K.rows(), whole = rows / simd::width * simd::width;
    for (Index j = 0; j < K.cols(); ++j) {
      double* const column = K.data() + j * K.outerStride();
      for (Index i = 0; i < whole; i += simd::width)
        simd::store(column + i, entries(simd::load(column + i), simd::load(&x[i]), y[j]));
      if (const Index rest = rows - whole; rest > 0)
        simd::store_part(
            column + whole,
            entries(simd::load_part(column + whole, rest), simd::load_part(&x[whole], rest), y[j]),
            rest);
    }
  }

  Vector diagonal(const MatrixView& X) const override { return Vector::Ones(X.cols()); }

  Matrix pullback(const MatrixView& D, const MatrixView& X, const MatrixView& C) const override {
    const Matrix weights = (2 / sigma_) * C.cwiseProduct(gram(D, X));
    Matrix result = X * weights.transpose();
    result.noalias() -= D * weights.rowwise().sum().asDiagonal();
    return result;
  }

  Vector preimage(const Vector& a, const Vector& cross, double) const override {
    const Vector pulls = a.cwiseProduct(cross);
    const double sum = pulls.sum();
    // What explains nothing of x has no place in the space of pixels.
    return sum > 1e-6 ? Vector(pulls / sum) : Vector::Zero(a.size());
  }

 private:
  double sigma_;
};

}  // namespace

std::unique_ptr<const Kernel> make_gaussian_kernel(SpecReader& parameters) {
  const double sigma = parameters.require("sigma");
  parameters.expect(sigma > 1e-300, "sigma",
                    "greater than 0 (1e-300)");  // 1 / sigma must not overflow
  return std::make_unique<GaussianKernel>(sigma);
}

}  // namespace hyperatom
