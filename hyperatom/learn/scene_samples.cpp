#include "hyperatom/learn/scene_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "hyperatom/base/error.hpp"
#include "hyperatom/scene/neighborhoods.hpp"

namespace hyperatom {
namespace {

constexpr Index strip_rows = 32;

/// Numbers the classes that occur from 0, in order.
void number_classes(SceneSamples& result) {
  std::vector<Index>& labels = result.samples.labels;
  std::vector<Index>& ids = result.class_ids;
  ids = labels;
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (Index& label : labels) label = std::lower_bound(ids.begin(), ids.end(), label) - ids.begin();
  result.samples.classes = static_cast<Index>(ids.size());
}

}  // namespace

SceneSamples gather_samples(SceneSource& source, const Labels& labels,
                            std::span<const Index> pixels, Index window,
                            const Normalizer& normalizer) {
  const SceneInfo& scene = source.info();
  const Neighborhoods neighborhoods(window);
  SceneSamples result;
  std::vector<Index> windows, members(at(window));  // windows: places in `spectra`
  std::unordered_map<Index, Index> place;           // of a scene's pixel in `spectra`
  std::vector<float> spectra;
  Strip strip;
  for (size_t next = 0; next < pixels.size();) {
    const Index first = pixels[next] / scene.cols;
    const Index from = std::max<Index>(0, first - neighborhoods.reach());
    const Index to = std::min(scene.rows, first + strip_rows + neighborhoods.reach());
    source.read(from, to - from, strip);
    for (; next < pixels.size() && pixels[next] / scene.cols < first + strip_rows; ++next) {
      const Index row = pixels[next] / scene.cols - from, col = pixels[next] % scene.cols;
      if (!strip.valid[at(row * scene.cols + col)]) {
        ++result.not_valid;
        continue;
      }
      neighborhoods.gather(strip.valid, to - from, scene.cols, row, col, members);
      for (const Index member : members) {
        const auto [found, is_new] =
            place.try_emplace(from * scene.cols + member, static_cast<Index>(place.size()));
        windows.push_back(found->second);
        if (!is_new) continue;
        const float* values = strip.pixels.data() + member * scene.bands;
        spectra.insert(spectra.end(), values, values + scene.bands);
      }
      result.pixels.push_back(pixels[next]);
      result.samples.labels.push_back(labels.id(pixels[next]));
    }
  }
  if (result.pixels.empty())
    throw DataError(fmt::format(
        "{}: none of the {} labelled pixels can be used: no-data, masked, not finite or zero",
        scene.path, pixels.size()));
  const Eigen::Map<const MatrixF> raw(spectra.data(), scene.bands,
                                      static_cast<Index>(place.size()));
  result.samples.pixels = normalizer.apply(raw);
  result.samples.windows = Eigen::Map<const Eigen::MatrixX<Index>>(
      windows.data(), window, static_cast<Index>(result.pixels.size()));
  number_classes(result);
  return result;
}

void name_classes(const SceneSamples& samples, const Labels& labels, Model& model) {
  model.class_ids = samples.class_ids;
  for (const Index id : model.class_ids) {
    model.class_names.push_back(labels.names[at(id) - 1]);
    model.class_colours.push_back(labels.colours[at(id) - 1]);
  }
}

namespace {

/// Valid pixels of a scene, two rows at a time, and which of them are neighbours.
struct PixelSample {
  Index bands;
  std::vector<float> values;
  std::vector<Normalizer::Pair> pairs;

  Index size() const { return static_cast<Index>(values.size()) / bands; }

  void add(const Strip& strip, Index cols) {
    const Index rows = static_cast<Index>(strip.valid.size()) / cols;
    std::vector<Index> place(strip.valid.size(), -1);
    for (Index i = 0; i < rows * cols; ++i) {
      if (!strip.valid[at(i)]) continue;
      place[at(i)] = size();
      values.insert(values.end(), strip.pixels.data() + i * bands,
                    strip.pixels.data() + (i + 1) * bands);
      if (i % cols > 0 && place[at(i - 1)] >= 0) pairs.push_back({place[at(i - 1)], place[at(i)]});
      if (i >= cols && place[at(i - cols)] >= 0)
        pairs.push_back({place[at(i - cols)], place[at(i)]});
    }
  }
};

}  // namespace

Normalizer fit_normalizer(std::string_view kind, SceneSource& source) {
  const SceneInfo& scene = source.info();
  const bool noise = learns_from_noise(kind), one_will_do = !learns_from_pixels(kind);
  const Index enough = noise ? 100000 : 1000000, height = noise ? 2 : 1;  // pixels, rows at once
  const Index step = height * std::max<Index>(1, scene.pixels() / enough);
  PixelSample sample{scene.bands, {}, {}};
  Strip strip;
  for (Index row = 0; row < scene.rows && !(one_will_do && sample.size() > 0); row += step) {
    source.read(row, std::min(height, scene.rows - row), strip);
    sample.add(strip, scene.cols);
  }
  if (sample.size() == 0)
    throw DataError(fmt::format(
        "{}: no pixel can be used: all are no-data, masked, not finite or zero", scene.path));
  try {
    return Normalizer::fit(
        kind, Eigen::Map<const MatrixF>(sample.values.data(), scene.bands, sample.size()),
        sample.pairs);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", scene.path, error.what()));
  }
}

}  // namespace hyperatom
