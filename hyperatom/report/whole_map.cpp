#include "hyperatom/report/whole_map.hpp"

namespace hyperatom {

std::optional<WholeMap> map_of(const Model& model, const Scene& scene, bool codes,
                               const std::function<bool(Index rows)>& progress) {
  const Index cols = scene.info.cols, pixels = scene.info.pixels();
  WholeMap map;
  ClassifiedStrip& all = map.all;
  all.count = scene.info.rows;
  all.scores.resize(model.classes(), pixels);
  all.confidence.resize(1, pixels);
  all.novelty.resize(1, pixels);
  const auto source = make_source(scene);
  bool goes_on = true;
  map.report = Classifier(model).classify(
      *source, {.codes = codes},
      [&](const ClassifiedStrip& strip) {
        const Index first = strip.first * cols, count = strip.count * cols;
        all.ids.insert(all.ids.end(), strip.ids.begin(), strip.ids.end());
        all.scores.middleCols(first, count) = strip.scores;
        all.confidence.middleCols(first, count) = strip.confidence;
        all.novelty.middleCols(first, count) = strip.novelty;
        all.codes.insert(all.codes.end(), strip.codes.begin(), strip.codes.end());
      },
      [&](Index rows) { return goes_on = !progress || progress(rows); });
  return goes_on ? std::optional(std::move(map)) : std::nullopt;
}

}  // namespace hyperatom
