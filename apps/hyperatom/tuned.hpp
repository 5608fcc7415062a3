// Settings tuned by cross-validation, as `tune`, `compare` and `train` do it, with a file of trials
// to go on from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/hyperatom/material.hpp"
#include "hyperatom/eval/tuning.hpp"

namespace hyperatom::cli {

struct TuneSettings {
  std::vector<std::string> grid = {};  ///< "default", "paper", or axes like lambda1=0.01,0.1
  FoldRule folds = {};
  Index jobs = 0;  ///< 0: as many as there are threads

  /// --grid --folds --fold-blocks --fold-buffer --jobs
  void declare(Arguments& arguments);
  /// All but the grid and the jobs, for args.json.
  Fields fields();
  Json json();
  /// The reverse. Throws OptionError.
  void read(const Json& json);
  bool anything() const;

  /// What to try for this request: what was given is not tried. Axes of options that the method
  /// does not heed are an OptionError, unless `others` says that they are meant for other methods.
  Grid grid_for(const TrainRequest& request, bool others = false) const;
};

struct Tuned {
  std::vector<Candidate> candidates;
  Tuning tuning;
  double seconds = 0;  ///< of all trials, added up

  const Candidate& best() const { return candidates[static_cast<size_t>(tuning.best())]; }
  /// All that was tried, the best first.
  std::string csv() const;
  Json json() const;
  /// "best of 75 by cross-validation (3 random folds): OA 96.1 %, AA 95.3 %"
  std::string reason(const FoldRule& folds) const;
};

/// Throws what tune_settings would throw of the grid and the folds, before anything is made.
void expect_tunable(const TrainRequest& request, const Grid& grid, const TuneSettings& settings,
                    Material& material);

/// Trials are added to the file `trials`, those that are there are taken over; an empty path: none.
/// Throws Interrupted.
Tuned tune_settings(const TrainRequest& request, const Grid& grid, const TuneSettings& settings,
                    Material& material, const std::filesystem::path& trials, Console& console);

/// The request with what was chosen.
TrainRequest with(TrainRequest request, const Candidate& candidate);

}  // namespace hyperatom::cli
