// A training from files to a run folder, as `train` and `demo` run it.
#pragma once

#include <set>
#include <string>

#include "apps/hyperatom/inputs.hpp"
#include "hyperatom/learn/train_options.hpp"

namespace hyperatom::cli {

struct TrainRequest {
  SceneInput scene = {};
  LabelInput labels = {};
  std::string test_labels = {};  ///< a second label map: the two are the split
  std::string split = {};        ///< a split file
  std::string method = "sdl-l12-k";
  Index window = 9;
  std::string normalize = "unit";
  TrainOptions options = {};
  std::set<std::string> given = {};  ///< options that were asked for; the others are chosen

  /// Those that are not files and not options of the trainer.
  Fields settings();
  /// All but `options`, for args.json.
  Fields fields();
};

/// Trains into the folder `run`. On an interrupt the folder can be gone on with.
Result train(TrainRequest request, const std::string& run, bool overwrite, const Common& common,
             Console& console);

/// Goes on with a run where its last checkpoint was taken.
Result resume(const std::string& run, Console& console);

}  // namespace hyperatom::cli
