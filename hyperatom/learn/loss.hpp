// What the classifier is trained for: a convex loss of the C class scores of one pixel whose true
// class is y.
#pragma once

#include <memory>
#include <vector>

#include "hyperatom/base/spec.hpp"
#include "hyperatom/base/types.hpp"

namespace hyperatom {

class Loss {
 public:
  virtual ~Loss() = default;

  virtual Spec spec() const = 0;
  virtual double value(const Vector& scores, Index y) const = 0;
  virtual Vector gradient(const Vector& scores, Index y) const = 0;
  /// H v, with H the second derivative at `scores` (an element of the generalised one at a kink).
  virtual Vector curvature(const Vector& scores, Index y, const Vector& v) const = 0;
};

/// The loss that a spec names. Throws OptionError.
std::unique_ptr<const Loss> make_loss(const Spec& spec);

/// One valid spec of every loss there is: what the contract tests and the help texts iterate over.
std::vector<Spec> example_losses();

}  // namespace hyperatom
