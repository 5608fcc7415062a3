// A scene to a map, as `classify` and `demo` make it.
#pragma once

#include <string>

#include "apps/hyperatom/inputs.hpp"

namespace hyperatom::cli {

struct MapRequest {
  SceneInput scene = {};
  std::string model = {};  ///< a model file or a run folder
  std::string map = {};
  std::string scores = {}, confidence = {}, novelty = {};  ///< further rasters; empty: none
  RasterOutput output = {};
  Index ram = 1024;        ///< megabytes
  std::string shard = {};  ///< "i/n": the i-th of n bands of rows; empty: all
};

/// Names of the classes 1, 2, ...; an empty name: no such class.
std::vector<std::string> names_by_number(const Model& model);

Result classify(const MapRequest& request, Console& console);

}  // namespace hyperatom::cli
