// The paper's ten methods: which classifier, on single pixels or on windows, in which feature
// space.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "hyperatom/learn/model.hpp"
#include "hyperatom/learn/samples.hpp"
#include "hyperatom/learn/train_options.hpp"

namespace hyperatom {

struct Method {
  enum class Family { svm, src, sdl };

  std::string name;  ///< as in the paper's tables
  Family family;
  bool joint;   ///< codes windows of more than one pixel together
  bool kernel;  ///< a kernel other than the linear one

  /// Names of the fields of TrainOptions that it heeds.
  std::set<std::string> options() const;
  /// Throws OptionError naming `--window` or `--kernel` where they contradict the method.
  void expect_fits(Index window, const Spec& kernel) const;
};

/// In the order of the paper's tables.
const std::vector<Method>& methods();
std::vector<std::string> method_names();
/// Throws OptionError for an unknown name.
const Method& find_method(const std::string& name);

/// Learns from samples. What they don't tell (normaliser, wavelengths, classes) is left to fill in.
/// `keep_going` is asked often during long trainings; when it says no, the model is unfinished.
Model fit(const Method& method, const Samples& samples, const TrainOptions& options,
          const std::function<bool()>& keep_going = {});

}  // namespace hyperatom
