#include "hyperatom/learn/optimizer.hpp"

namespace hyperatom {
namespace {

constexpr double decay_first = 0.9;
constexpr double decay_second = 0.999;
constexpr double small = 1e-8;

template <class Array>
void adam_step(Array& theta, Array& first, Array& second, const Array& gradient, double rate,
               double t) {
  first = decay_first * first + (1 - decay_first) * gradient;
  second = decay_second * second + (1 - decay_second) * gradient.cwiseAbs2();
  const double correct_first = 1 / (1 - std::pow(decay_first, t));
  const double correct_second = 1 / (1 - std::pow(decay_second, t));
  theta.array() -=
      rate * (correct_first * first.array()) / ((correct_second * second.array()).sqrt() + small);
}

}  // namespace

void sgd_update(Parameters& parameters, const Parameters& gradient, double rate,
                double weight_rate) {
  parameters.W -= rate * weight_rate * gradient.W;
  parameters.b -= rate * weight_rate * gradient.b;
  parameters.D -= rate * gradient.D;
}

void adam_update(Parameters& parameters, Moments& moments, const Parameters& gradient, double rate,
                 double weight_rate, Index t) {
  const auto step = static_cast<double>(t);
  adam_step(parameters.W, moments.first.W, moments.second.W, gradient.W, rate * weight_rate, step);
  adam_step(parameters.b, moments.first.b, moments.second.b, gradient.b, rate * weight_rate, step);
  adam_step(parameters.D, moments.first.D, moments.second.D, gradient.D, rate, step);
}

void project_atoms(Matrix& D, double radius) {
  for (Index j = 0; j < D.cols(); ++j) {
    const double norm = D.col(j).norm();
    if (norm > radius) D.col(j) *= radius / norm;
  }
}

}  // namespace hyperatom
