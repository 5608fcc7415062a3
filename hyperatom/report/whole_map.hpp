// A model's map of a scene that is held in memory.
#pragma once

#include <functional>
#include <optional>

#include "hyperatom/predict/classifier.hpp"

namespace hyperatom {

/// What the classifier says of every pixel.
struct WholeMap {
  ClassifiedStrip all;
  ClassifyReport report;
};

/// `progress` is told the rows done; nothing if it stops. Throws DataError where the scene does not
/// fit the model.
std::optional<WholeMap> map_of(const Model& model, const Scene& scene, bool codes,
                               const std::function<bool(Index rows)>& progress);

}  // namespace hyperatom
