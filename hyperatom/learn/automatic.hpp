// Settings that fit the data, found on training samples alone.
//
//   sigma     2^q times the median squared distance between pixels, q = -1 .. 4: short trainings on
//             three quarters of the samples, judged on the rest, twice
//   lambda1   0.04 sqrt(S) times the mean of k(x, x): a row of S codes is sqrt(S) times as long
//   epochs    as many as see 60,000 samples, from 30 to 300
//   ball      the length of the longest pixel, so that no atom drawn from pixels is shortened
//   rho       3e-4 times the mean length of a pixel; weight-rate undoes that for W and b
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "hyperatom/learn/samples.hpp"
#include "hyperatom/learn/train_options.hpp"

namespace hyperatom {

/// One setting that was chosen, and the reason in words.
struct Choice {
  std::string option;  ///< name of the field of TrainOptions
  std::string value;
  std::string reason;
};

/// The fields that choose_settings may set.
const std::set<std::string>& automatic_settings();

/// To three significant digits: a choice that can be typed.
double rounded(double value);

/// Between the centres of random pairs of samples: the scale of sigma. 0 when all are alike.
double median_squared_distance(const Samples& samples, std::uint64_t seed);

/// Told the trials done and how many there will be; false stops.
using TrialProgress = std::function<bool(Index done, Index trials)>;

/// Sets what is not in `given` (names of fields). A kernel that is given without its sigma, as
/// `gaussian`, gets one. When `progress` stops it, the choices are incomplete.
std::vector<Choice> choose_settings(const Samples& samples, const std::set<std::string>& given,
                                    TrainOptions& options, const TrialProgress& progress = {});

}  // namespace hyperatom
