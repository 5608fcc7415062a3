// The report of one map: a scene, a model, and what is known of the truth.
//
// It classifies the scene once more, in memory, to have every pixel's code, and writes layers,
// spectra and codes as blocks of bytes, coarsened to what a person can see: a spectrum has 8 bits a
// value (of its square root, from the lowest to the highest of its band), a weight 8 bits of the
// largest of its pixel. schemas/report.schema.json describes the document.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hyperatom/learn/model.hpp"
#include "hyperatom/scene/labels.hpp"
#include "hyperatom/scene/scene.hpp"
#include "hyperatom/scene/split.hpp"

namespace hyperatom {

/// A line of a training's record.
struct EpochRecord {
  Index epoch = 0;
  double loss = 0, accuracy = 0;
  std::optional<double> validation_loss = {}, validation_accuracy = {};
};

struct MapReport {
  std::string title;
  std::string program;  ///< and its version
  std::string date;     ///< and time, UTC
  std::string command;
  std::optional<std::uint64_t> seed = {};
  const Scene& scene;
  const Model& model;
  std::string model_file;
  std::string model_hash;
  const Labels* truth = nullptr;  ///< numbered as the model's classes; null: not known
  const Split* split = nullptr;   ///< null: all labelled pixels count
  std::vector<EpochRecord> training = {};
};

struct ReportPage {
  std::string html;
  std::vector<std::string> reduced;  ///< what was left out so that it fits, as sentences
};

/// A page of at most `most_bytes` around `viewer`. `progress` is told the rows done; false stops,
/// and the page is empty. Throws DataError where the scene does not fit the model, or the page
/// can't be made so small.
ReportPage make_page(const MapReport& report, std::string_view viewer, size_t most_bytes,
                     const std::function<bool(Index rows)>& progress = {});

}  // namespace hyperatom
