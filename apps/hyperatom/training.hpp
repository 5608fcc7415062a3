// A training from files to a run folder, as `train` and `demo` run it.
#pragma once

#include <string>

#include "apps/hyperatom/request.hpp"

namespace hyperatom::cli {

/// Trains into the folder `run`. On an interrupt the folder can be gone on with.
Result train(TrainRequest request, const std::string& run, bool overwrite, const Common& common,
             Console& console);

/// Goes on with a run where its last checkpoint was taken.
Result resume(const std::string& run, Console& console);

}  // namespace hyperatom::cli
