// The report of one map: a scene, a model, and what is known of the truth.
//
// It classifies the scene once more, in memory, to have every pixel's code, and writes layers,
// spectra and codes as blocks of bytes, coarsened to what a person can see: a spectrum has 8 bits a
// value (of its square root, from the lowest to the highest of its band), a weight 8 bits of the
// largest of its pixel.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hyperatom/learn/model.hpp"
#include "hyperatom/report/document.hpp"

namespace hyperatom {

/// A line of a training's record.
struct EpochRecord {
  Index epoch = 0;
  double loss = 0, accuracy = 0;
  std::optional<double> validation_loss = {}, validation_accuracy = {};
};

struct MapReport {
  Heading heading;
  const Scene& scene;
  const Model& model;
  std::string model_file;
  std::string model_hash;
  const Labels* truth = nullptr;  ///< numbered as the model's classes; null: not known
  const Split* split = nullptr;   ///< null: all labelled pixels count
  std::vector<EpochRecord> training = {};
};

/// A page of at most `most_bytes` around `viewer`. `progress` is told the rows done; false stops,
/// and the page is empty. Throws DataError where the scene does not fit the model, or the page
/// can't be made so small.
ReportPage make_page(const MapReport& report, std::string_view viewer, size_t most_bytes,
                     const std::function<bool(Index rows)>& progress = {});

}  // namespace hyperatom
