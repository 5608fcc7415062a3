// Everything that decides the outcome of a training, with the samples.
#pragma once

#include "hyperatom/base/options.hpp"
#include "hyperatom/coding/coder.hpp"

namespace hyperatom {

struct TrainOptions {
  Spec kernel = {"gaussian", {{"sigma", 0.05}}};
  Spec loss = {"squared", {}};
  double lambda1 = 0.1;
  double lambda2 = 0;
  double tolerance = 1e-8;
  double nu = 1e-4;
  double cost = 100;

  std::string init = "samples";
  Index atoms_per_class = 5;
  Index init_epochs = 5;

  std::string optimizer = "adam";
  double rho = 3e-4;
  double weight_rate = 30;
  double t0 = 0;
  Index epochs = 60;
  Index batch = 50;
  double ball = 1;
  bool intercept = true;
  double balance = 0;
  bool refit = false;

  double validation = 0;
  Index patience = 10;
  std::uint64_t seed = 0;

  /// Algorithm 1 to the letter: one sample a step, its rates, no intercept.
  static TrainOptions paper();

  Fields fields();
  CoderOptions coding() const {
    return {.lambda1 = lambda1, .lambda2 = lambda2, .tolerance = tolerance};
  }
};

/// Throws OptionError for the first field that is out of range, specs included.
void validate(const TrainOptions& options);

}  // namespace hyperatom
