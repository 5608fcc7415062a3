#include "apps/hyperatom/mapping.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "apps/hyperatom/interrupt.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/learn/model_file.hpp"
#include "hyperatom/predict/classifier.hpp"

namespace hyperatom::cli {
namespace {

/// Rows [first, first + count).
struct Rows {
  Index first = 0;
  Index count = 0;
};

/// The i-th of n shares whose sizes differ by at most one row.
Rows shard_rows(const std::string& shard, Index rows) {
  if (shard.empty()) return {0, rows};
  const std::vector<Index> numbers = whole_numbers(shard, '/');
  if (numbers.size() != 2 || numbers[0] < 1 || numbers[0] > numbers[1])
    throw OptionError(
        fmt::format("--shard must be i/n with i from 1 to n, for example 2/8, not '{}'", shard));
  const Index i = numbers[0], n = numbers[1];
  if (n > rows)
    throw OptionError(fmt::format("--shard {}: the scene has only {} rows", shard, rows));
  const Index first = (i - 1) * rows / n;
  return {first, i * rows / n - first};
}

Georeference moved_down(Georeference georeference, Index rows) {
  if (georeference.transform) {
    auto& t = *georeference.transform;
    t[0] += t[2] * static_cast<double>(rows);
    t[3] += t[5] * static_cast<double>(rows);
  }
  return georeference;
}

RasterContent map_content(const Model& model) {
  RasterContent content;
  const auto largest = static_cast<size_t>(model.class_ids.back());
  content.class_names = names_by_number(model);
  content.class_colours = default_colours(static_cast<Index>(largest));
  for (size_t c = 0; c < model.class_ids.size(); ++c) {
    const auto place = static_cast<size_t>(model.class_ids[c]) - 1;
    content.class_colours[place] = model.class_colours[c];
  }
  content.metadata = {{"HYPERATOM_METHOD", model.method},
                      {"HYPERATOM_WINDOW", std::to_string(model.window)},
                      {"HYPERATOM_CLASSES", fmt::format("{}", fmt::join(model.class_ids, " "))},
                      {"HYPERATOM_MODEL_SHA256", model_hash(model)}};
  return content;
}

/// The rasters that were asked for, all of the same rows.
class Outputs {
 public:
  Outputs(const MapRequest& request, const Model& model, const SceneInfo& scene, const Rows& rows)
      : first_(rows.first) {
    const Georeference place = moved_down(scene.georeference, rows.first);
    const auto open = [&](const std::string& path, const RasterContent& content) {
      return RasterWriter(path, rows.count, scene.cols, place, content, request.output.options());
    };
    const auto values = [](std::vector<std::string> bands) {
      return RasterContent{.type = RasterContent::Type::values, .bands = std::move(bands)};
    };
    map_.emplace(open(request.map, map_content(model)));
    if (!request.scores.empty()) scores_.emplace(open(request.scores, values(model.class_names)));
    if (!request.confidence.empty())
      confidence_.emplace(open(request.confidence, values({"confidence"})));
    if (!request.novelty.empty()) novelty_.emplace(open(request.novelty, values({"novelty"})));
  }

  void write(const ClassifiedStrip& strip) {
    const Index first = strip.first - first_;
    map_->write(first, strip.count, strip.ids);
    if (scores_) scores_->write(first, strip.count, strip.scores);
    if (confidence_) confidence_->write(first, strip.count, strip.confidence);
    if (novelty_) novelty_->write(first, strip.count, strip.novelty);
  }

  void finish() {
    for (auto* writer : {&scores_, &confidence_, &novelty_, &map_})
      if (*writer) (*writer)->finish();
  }

 private:
  Index first_;
  std::optional<RasterWriter> map_, scores_, confidence_, novelty_;
};

void expect_outputs_apart(const MapRequest& request, const std::filesystem::path& model) {
  const bool envi = request.output.format == "ENVI";
  expect_apart({{"--output", request.map, envi, true},
                {"--scores", request.scores, envi},
                {"--confidence", request.confidence, envi},
                {"--novelty", request.novelty, envi}},
               {request.scene.path, request.scene.mask, model.string()});
}

Json class_areas(const Model& model, const std::vector<Index>& counts) {
  Json json = Json::array();
  for (size_t c = 0; c < model.class_ids.size(); ++c)
    json.push_back({{"id", model.class_ids[c]},
                    {"name", model.class_names[c]},
                    {"pixels", counts[static_cast<size_t>(model.class_ids[c])]}});
  return json;
}

}  // namespace

std::vector<std::string> names_by_number(const Model& model) {
  std::vector<std::string> names(at(model.class_ids.back()));
  for (size_t c = 0; c < model.class_ids.size(); ++c)
    names[at(model.class_ids[c] - 1)] = model.class_names[c];
  return names;
}

Result classify(const MapRequest& request, Console& console) {
  const auto start = std::chrono::steady_clock::now();
  const std::filesystem::path model_file = model_path(request.model);
  expect_outputs_apart(request, model_file);
  const Model model = load_model(model_file);
  const auto source = request.scene.open(console);
  const SceneInfo& scene = source->info();
  const Classifier classifier(model);
  classifier.expect_fits(scene);
  if ((scene.wavelengths.size() == 0) != (model.wavelengths.size() == 0))
    console.warn(fmt::format("{}: the {} has no wavelengths, so bands are matched by their order",
                             request.scene.path,
                             model.wavelengths.size() == 0 ? "model" : "scene"));
  const Rows rows = shard_rows(request.shard, scene.rows);
  Outputs outputs(request, model, scene, rows);
  std::vector<Index> counts(static_cast<size_t>(model.class_ids.back()) + 1, 0);
  Progress progress(console, "classifying", static_cast<double>(rows.count * scene.cols), "pixels");
  const ClassifyReport report = classifier.classify(
      *source, {.ram = request.ram, .first = rows.first, .count = rows.count},
      [&](const ClassifiedStrip& strip) {
        outputs.write(strip);
        for (const std::int32_t id : strip.ids) ++counts[static_cast<size_t>(id)];
      },
      [&](Index done) {
        progress.update(static_cast<double>(done * scene.cols));
        return !interrupted();
      });
  if (interrupted()) throw Interrupted();
  outputs.finish();
  if (report.classified == 0)
    console.warn(fmt::format(
        "{}: no pixel can be used: all are no-data, masked, not finite or zero; the map is empty",
        request.scene.path));
  if (report.unconverged > 0)
    console.warn(fmt::format("{} of {} codes did not reach the tolerance",
                             grouped(report.unconverged), grouped(report.classified)));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Json json = {{"map", request.map},
               {"rows", rows.count},
               {"cols", scene.cols},
               {"first_row", rows.first},
               {"classified", report.classified},
               {"not_classified", report.not_valid},
               {"unconverged", report.unconverged},
               {"active_atoms", report.active},
               {"seconds", seconds},
               {"classes", class_areas(model, counts)}};
  for (const auto& [name, path] : {std::pair{"scores", request.scores},
                                   {"confidence", request.confidence},
                                   {"novelty", request.novelty}})
    if (!path.empty()) json[name] = path;
  return {json, fmt::format("{}: {} pixels classified, {} left out, in {:.1f} s\n", request.map,
                            grouped(report.classified), grouped(report.not_valid), seconds)};
}

}  // namespace hyperatom::cli
