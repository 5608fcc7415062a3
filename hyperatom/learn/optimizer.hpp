// Steps 8 and 9: the learning rate and the update of D, W and b by a gradient.
//
//   sgd   theta <- theta - rate grad,           rate = min(rho, rho t0 / t)             (the
//   paper's) adam  theta <- theta - rate m / (sqrt(v) + 1e-8), m and v the bias-corrected running
//   means of grad and
//         grad^2,                                rate = rho (1 + cos(pi (t-1) / T)) / 2
//
// W and b move at `weight_rate` times the rate of D.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hyperatom/learn/parameters.hpp"

namespace hyperatom {

struct RateSchedule {
  enum class Rule { sgd, adam };
  Rule rule = Rule::adam;
  double rho = 3e-4;
  double t0 = 0;     ///< sgd: steps at the full rate
  double steps = 0;  ///< adam: T, the length of the run

  /// Of step t = 1, 2, ...
  double operator()(Index t) const {
    const auto step = static_cast<double>(t);
    if (rule == Rule::sgd) return std::min(rho, rho * t0 / step);
    return 0.5 * rho * (1 + std::cos(std::numbers::pi * (step - 1) / steps));
  }
};

/// The running means of Adam; all zero, and unused, for sgd.
struct Moments {
  Parameters first, second;
};

void sgd_update(Parameters& parameters, const Parameters& gradient, double rate,
                double weight_rate);

/// `t`: how many updates these moments will have seen, this one included.
void adam_update(Parameters& parameters, Moments& moments, const Parameters& gradient, double rate,
                 double weight_rate, Index t);

/// Every atom back into the ball of this radius (the paper's set of dictionaries has radius 1).
void project_atoms(Matrix& D, double radius);

}  // namespace hyperatom
