// `hyperatom info`: what a scene and its labels are, and what a later step would trip over.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "apps/hyperatom/inputs.hpp"
#include "apps/hyperatom/interrupt.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/io/crs.hpp"

namespace hyperatom::cli {
namespace {

/// What the pixels say, from evenly spaced rows when there are many.
struct Census {
  Index rows = 0;  ///< looked at
  Index valid = 0;
  Index not_valid = 0;
  Eigen::VectorXf lowest = {}, highest = {};  ///< per band

  std::vector<Index> constant_bands() const {
    std::vector<Index> bands;
    for (Index b = 0; b < lowest.size(); ++b)
      if (valid > 0 && lowest[b] == highest[b]) bands.push_back(b + 1);
    return bands;
  }
};

Census take_census(SceneSource& source, Console& console) {
  constexpr Index enough = 50'000'000;  // values
  const SceneInfo& info = source.info();
  const Index step = std::max<Index>(1, info.pixels() * info.bands / enough);
  Census census;
  census.lowest.setConstant(info.bands, std::numeric_limits<float>::infinity());
  census.highest = -census.lowest;
  Progress progress(console, "reading", static_cast<double>(info.rows), "rows");
  Strip strip;
  for (Index row = 0; row < info.rows; row += step) {
    source.read(row, 1, strip);
    ++census.rows;
    for (Index i = 0; i < info.cols; ++i) {
      if (!strip.valid[static_cast<size_t>(i)]) {
        ++census.not_valid;
        continue;
      }
      ++census.valid;
      census.lowest = census.lowest.cwiseMin(strip.pixels.col(i));
      census.highest = census.highest.cwiseMax(strip.pixels.col(i));
    }
    progress.update(static_cast<double>(row));
    if (interrupted()) throw Interrupted();
  }
  return census;
}

std::vector<std::string> scene_warnings(const SceneInfo& info, const Census& census) {
  std::vector<std::string> warnings;
  if (census.valid == 0) {
    warnings.push_back("no pixel can be used: all are no-data, not finite, or zero");
    return warnings;
  }
  if (census.not_valid > census.valid)
    warnings.push_back("more than half of the pixels can't be used; is the no-data value right?");
  if (const auto bands = census.constant_bands(); !bands.empty())
    warnings.push_back(fmt::format("band{} {} the same in all pixels: {}",
                                   bands.size() == 1 ? "" : "s", bands.size() == 1 ? "is" : "are",
                                   fmt::join(bands, ", ")));
  if (info.wavelengths.size() == 0)
    warnings.push_back("no wavelengths: a model can tell other bands by their number alone");
  if (info.georeference.crs.empty())
    warnings.push_back("no CRS: maps will have none, and vector labels can't be placed by theirs");
  return warnings;
}

std::vector<std::string> label_warnings(const Labels& labels) {
  std::vector<std::string> warnings;
  const std::vector<Index> counts = labels.counts();
  Index present = 0;
  for (size_t c = 0; c < counts.size(); ++c) {
    present += counts[c] > 0;
    if (counts[c] > 0 && counts[c] < 10)
      warnings.push_back(fmt::format("class {} ({}) has only {} labelled pixel{}", c + 1,
                                     labels.names[c], counts[c], counts[c] == 1 ? "" : "s"));
  }
  if (present < 2) warnings.push_back("the labels have only one class; training needs two");
  return warnings;
}

class Info final : public Verb {
 public:
  std::string name() const override { return "info"; }
  std::string summary() const override {
    return "Tells what a scene is and what a later step would trip over.";
  }
  std::string example() const override {
    return "hyperatom info scene.bsq --labels fields.gpkg --class-field crop";
  }

  void declare(Arguments& arguments) override {
    scene_.declare(arguments);
    labels_.declare(arguments, Arguments::Need::optional);
  }

  Result run(const Common&, Console& console) override {
    const auto source = open_scene(scene_.path, {.variable = scene_.variable, .mask = scene_.mask});
    const SceneInfo& info = source->info();
    const Census census = take_census(*source, console);
    std::vector<std::string> warnings = scene_warnings(info, census);
    std::optional<LabelsRead> labels;
    if (!labels_.path.empty()) {
      labels = labels_.read(info, console);
      const auto more = label_warnings(labels->labels);
      warnings.insert(warnings.end(), more.begin(), more.end());
    }
    return {to_json(info, census, labels, warnings), to_text(info, census, labels, warnings)};
  }

 private:
  Json to_json(const SceneInfo& info, const Census& census, const std::optional<LabelsRead>& labels,
               const std::vector<std::string>& warnings) const {
    Json json = {
        {"scene", scene_.path},
        {"format", info.format},
        {"rows", info.rows},
        {"cols", info.cols},
        {"bands", info.bands},
        {"source_bands", info.source_bands},
        {"wavelengths_um", std::vector<double>(info.wavelengths.begin(), info.wavelengths.end())},
        {"no_data", nullptr},
        {"crs", nullptr},
        {"transform", nullptr},
        {"rows_looked_at", census.rows},
        {"usable_pixels", census.valid},
        {"unusable_pixels", census.not_valid},
        {"lowest", nullptr},
        {"highest", nullptr},
        {"constant_bands", census.constant_bands()},
        {"notes", info.notes},
        {"warnings", warnings},
        {"labels", nullptr}};
    if (info.no_data && std::isfinite(*info.no_data)) json["no_data"] = *info.no_data;
    if (!info.georeference.crs.empty()) json["crs"] = name_of_crs(info.georeference.crs);
    if (info.georeference.transform) json["transform"] = *info.georeference.transform;
    if (census.valid > 0) {
      json["lowest"] = census.lowest.minCoeff();
      json["highest"] = census.highest.maxCoeff();
    }
    if (labels) json["labels"] = labels_json(*labels);
    return json;
  }

  Json labels_json(const LabelsRead& read) const {
    return {{"path", labels_.path}, {"notes", read.notes}, {"classes", class_list(read.labels)}};
  }

  std::string to_text(const SceneInfo& info, const Census& census,
                      const std::optional<LabelsRead>& labels,
                      const std::vector<std::string>& warnings) const {
    std::string text = fmt::format("{}: {}, {} x {} pixels (rows x columns), {} bands", scene_.path,
                                   info.format, info.rows, info.cols, info.bands);
    if (info.wavelengths.size() > 0)
      text += fmt::format(" {:.3f} to {:.3f} um", info.wavelengths.minCoeff(),
                          info.wavelengths.maxCoeff());
    if (info.no_data) text += fmt::format(", no-data {}", *info.no_data);
    if (!info.georeference.crs.empty()) text += ", " + name_of_crs(info.georeference.crs);
    text += "\n";
    for (const std::string& note : info.notes) text += "  " + note + "\n";
    if (census.valid > 0)
      text +=
          fmt::format("  values {} to {}\n", census.lowest.minCoeff(), census.highest.maxCoeff());
    text +=
        fmt::format("  {} usable pixels, {} not", grouped(census.valid), grouped(census.not_valid));
    text += census.rows < info.rows ? fmt::format(" ({} of {} rows looked at)\n",
                                                  grouped(census.rows), grouped(info.rows))
                                    : "\n";
    if (labels) text += fmt::format("{}: {}\n", labels_.path, class_counts(labels->labels));
    for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
    return text;
  }

  SceneInput scene_;
  LabelInput labels_;
};

}  // namespace

std::unique_ptr<Verb> make_info() { return std::make_unique<Info>(); }

}  // namespace hyperatom::cli
