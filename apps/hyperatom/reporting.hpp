// Pages to look at, as `report`, `--report` and `demo` make them.
#pragma once

#include <string>

#include "apps/hyperatom/inputs.hpp"
#include "hyperatom/report/document.hpp"

namespace hyperatom::cli {

struct ReportRequest {
  SceneInput scene = {};
  std::string model = {};  ///< a model file or a run folder
  LabelInput labels = {};  ///< without a path: those of the run, if it was trained on this scene
  std::string split = {};  ///< a split file; empty: that of the run, or none
  std::string page = {};   ///< empty: report.html in the run folder
  double max_mb = 16;
  bool overwrite = false;

  size_t max_bytes() const { return static_cast<size_t>(max_mb * 1e6); }
};

/// Throws OptionError if this build has no viewer, so that nothing is begun in vain.
void expect_viewer();
/// The same of all that is wrong with the files of a request.
void expect_page(const ReportRequest& request);

Heading make_heading(const std::string& title, std::optional<std::uint64_t> seed,
                     const std::vector<std::string>& command);
Result save_page(const ReportPage& page, const std::filesystem::path& path);
/// Puts what was told of a page below what is told already.
void append_page(Result& result, const Result& page);

/// Training and test labels as one map.
Labels merged(const Labels& training, const Labels& test);

/// A model's map of a scene.
Result report(const ReportRequest& request, const Common& common, Console& console);

}  // namespace hyperatom::cli
