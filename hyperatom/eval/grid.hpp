// What to try when settings are tuned: the values of some options, all combinations of them.
//
// A value is what a user would type. `2x` is twice what the data suggest: for `lambda1` and the
// other automatic settings, their automatic value (learn/automatic.hpp); for `sigma`, the median
// squared distance between training pixels. Beside the fields of TrainOptions there are `window`
// and `sigma`, which is that of the Gaussian kernel.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hyperatom/baselines/method.hpp"
#include "hyperatom/learn/scene_samples.hpp"

namespace hyperatom {

struct Axis {
  std::string option;
  std::vector<std::string> values;

  /// "lambda1=0.5x,1x,2x". Throws OptionError.
  static Axis parse(const std::string& text);
};

using Grid = std::vector<Axis>;

/// What fits the normalisation to unit length and, by its scales, others: decision 014.
Grid default_grid(const Method& method);
/// That of the paper, as far as it says; C and gamma = 1 / sigma of the SVM from LIBSVM's guide.
Grid paper_grid(const Method& method);

/// Whether an axis of that name makes sense.
bool can_tune(const Method& method, const std::string& option);

/// Axes of `own` take the place of axes of `grid` with their name; the others are added. Throws
/// OptionError for an option that can't be tuned.
Grid with_axes(Grid grid, const Grid& own, const Method& method);

/// One combination, made definite by the data.
struct Candidate {
  std::vector<std::pair<std::string, std::string>> point;  ///< axis and value, as in the grid
  Index window = 1;
  TrainOptions options;

  /// The options of the axes as a command line would have them: {"window", "25"}, {"kernel",
  /// "gaussian(sigma=0.05)"}, ...
  std::vector<std::pair<std::string, std::string>> chosen() const;
  /// The same as text to type, each with a space before it.
  std::string flags() const;
};

/// The training samples with windows of that size.
using SamplesOf = std::function<const SceneSamples&(Index window)>;

/// All combinations, the last axis running fastest. `base` has the options that were `given`; what
/// is neither given nor on an axis is automatic. Throws OptionError for values out of range.
std::vector<Candidate> make_candidates(const Method& method, const Grid& grid, Index window,
                                       const TrainOptions& base, const std::set<std::string>& given,
                                       const SamplesOf& samples);

}  // namespace hyperatom
