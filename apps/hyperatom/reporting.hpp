// A model's map of a scene as a page, as `report`, `train --report` and `demo` make it.
#pragma once

#include <string>

#include "apps/hyperatom/inputs.hpp"

namespace hyperatom::cli {

struct ReportRequest {
  SceneInput scene = {};
  std::string model = {};  ///< a model file or a run folder
  LabelInput labels = {};  ///< without a path: those of the run, if it was trained on this scene
  std::string split = {};  ///< a split file; empty: that of the run, or none
  std::string page = {};   ///< empty: report.html in the run folder
  double max_mb = 16;
  bool overwrite = false;
};

/// Throws OptionError if this build has no viewer, so that nothing is begun in vain.
void expect_viewer();

Result report(const ReportRequest& request, const Common& common, Console& console);

}  // namespace hyperatom::cli
