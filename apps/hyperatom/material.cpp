#include "apps/hyperatom/material.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "apps/hyperatom/interrupt.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/eval/leakage.hpp"
#include "hyperatom/predict/classifier.hpp"
#include "hyperatom/scene/neighborhoods.hpp"

namespace hyperatom::cli {
namespace {

namespace fs = std::filesystem;

/// Which pixels are for training: all that have a label, unless there is a split.
Split choose_split(const TrainRequest& request, const Labels& labels, const Labels& truth) {
  if (!request.test_labels.empty()) {
    try {
      return split_of(labels, truth);
    } catch (const DataError& error) {
      throw DataError(
          fmt::format("{}, {}: {}", request.labels.path, request.test_labels, error.what()));
    }
  }
  if (!request.split.empty()) return read_split(request.split, labels, request.labels.path);
  Split split{labels.rows, labels.cols, {}, {}, "all labelled pixels", {}};
  for (Index i = 0; i < labels.pixels(); ++i)
    if (labels.id(i) > 0) split.train.push_back(i);
  return split;
}

/// `path`: of the split.
void expect_labelled(const std::vector<Index>& pixels, const Labels& labels,
                     const std::string& path, const std::string& labels_path) {
  if (pixels.empty()) throw DataError(fmt::format("{}: has no training pixel", path));
  for (const Index i : pixels)
    if (labels.id(i) == 0)
      throw DataError(fmt::format("{}: pixel {},{} has no label in {}", path, i / labels.cols,
                                  i % labels.cols, labels_path));
}

/// The classes of the given pixels (ascending); rows without one of them are not classified.
Labels classify_pixels(const Classifier& classifier, SceneSource& source,
                       const std::vector<Index>& pixels, Index reach, Console& console) {
  const SceneInfo& scene = source.info();
  Labels map{scene.rows, scene.cols, std::vector<std::int32_t>(at(scene.pixels()), 0), {}, {}, {}};
  Progress progress(console, "testing", static_cast<double>(scene.rows), "rows");
  for (size_t next = 0; next < pixels.size();) {
    const Index first = pixels[next] / scene.cols;
    Index end = first + 1;
    // Rows closer than two windows are cheaper to classify than to skip.
    for (; next < pixels.size() && pixels[next] / scene.cols <= end + 2 * reach; ++next)
      end = pixels[next] / scene.cols + 1;
    classifier.classify(
        source, {.first = first, .count = end - first},
        [&](const ClassifiedStrip& strip) {
          std::copy(strip.ids.begin(), strip.ids.end(), map.ids.begin() + strip.first * scene.cols);
        },
        [&](Index rows) {
          progress.update(static_cast<double>(first + rows));
          return !interrupted();
        });
    if (interrupted()) throw Interrupted();
  }
  return map;
}

/// Which pixels can be used, known for all that windows of `pixels` may reach.
std::vector<char> valid_around(SceneSource& source, const std::vector<Index>& pixels, Index reach) {
  constexpr Index most = 64;  // rows read at a time
  const SceneInfo& scene = source.info();
  std::vector<char> valid(at(scene.pixels()), 1);
  Strip strip;
  Index known = 0;  // rows before are read, or not needed
  for (const Index pixel : pixels) {
    const Index row = pixel / scene.cols;
    known = std::max(known, row - reach);
    for (const Index end = std::min(scene.rows, row + reach + 1); known < end;) {
      const Index count = std::min(most, scene.rows - known);
      source.read(known, count, strip);
      std::copy(strip.valid.begin(), strip.valid.end(), valid.begin() + known * scene.cols);
      known += count;
    }
  }
  return valid;
}

/// The kind asked for; `unit` in place of the default where a scene does not show its noise.
Normalizer choose_normalizer(const TrainRequest& request, SceneSource& source, Console& console) {
  try {
    return fit_normalizer(request.normalize, source);
  } catch (const DataError& error) {
    if (request.given.contains("normalize")) throw;
    Normalizer unit = fit_normalizer("unit", source);
    console.warn(
        fmt::format("{}; pixels are scaled to length 1 instead (--normalize unit)", error.what()));
    return unit;
  }
}

}  // namespace

const SceneSamples& Material::samples(Index window) {
  const auto found = samples_.find(window);  // which threads may do at the same time
  if (found != samples_.end()) return found->second;
  return samples_.emplace(window, gather_samples(*source, labels, split.train, window, normalizer))
      .first->second;
}

void Material::use(Split other, const TrainRequest& request, const std::string& path) {
  expect_labelled(other.train, labels, path, request.labels.path);
  split = std::move(other);
  samples_.clear();
}

Material prepare(const TrainRequest& request, Console& console) {
  Material material;
  material.source = request.scene.open(console);
  material.labels = request.labels.read(material.source->info(), console).labels;
  material.truth = material.labels;
  if (!request.test_labels.empty()) {
    LabelInput test = request.labels;
    test.path = request.test_labels;
    material.truth = test.read(material.source->info(), console).labels;
    if (const auto note = match_classes(material.labels.names, material.truth)) console.warn(*note);
  }
  material.split = choose_split(request, material.labels, material.truth);
  expect_labelled(material.split.train, material.labels,
                  request.split.empty() ? request.labels.path : request.split, request.labels.path);
  for (const std::string& note : material.split.notes) console.say("split: " + note);
  material.normalizer = choose_normalizer(request, *material.source, console);
  return material;
}

void tell_classes(const SceneSamples& samples, const Material& material,
                  const TrainRequest& request, Console& console) {
  if (samples.not_valid > 0)
    console.warn(
        fmt::format("{} training pixels can't be used (no-data, masked, not finite or zero)",
                    grouped(samples.not_valid)));
  if (samples.class_ids.size() < 2)
    throw DataError(fmt::format(
        "{}: the training pixels are all of class {} ({}), expected at least two classes",
        request.labels.path, samples.class_ids[0],
        material.labels.names[at(samples.class_ids[0]) - 1]));
  std::vector<Index> counts(samples.class_ids.size(), 0);
  for (const Index label : samples.samples.labels) ++counts[at(label)];
  for (size_t c = 0; c < counts.size(); ++c)
    if (counts[c] < request.options.atoms_per_class)
      console.warn(fmt::format("class {} ({}) has only {} training pixel{}", samples.class_ids[c],
                               material.labels.names[at(samples.class_ids[c]) - 1], counts[c],
                               counts[c] == 1 ? "" : "s"));
}

void complete(Model& model, Material& material, const TrainRequest& request,
              const std::vector<std::string>& command) {
  const SceneSamples& samples = material.samples(model.window);
  model.normalizer = material.normalizer;
  model.wavelengths = material.source->info().wavelengths;
  name_classes(samples, material.labels, model);
  model.provenance = {{"version", HYPERATOM_VERSION},
                      {"command", fmt::format("hyperatom {}", fmt::join(command, " "))},
                      {"scene", fs::path(request.scene.path).filename().string()},
                      {"labels", fs::path(request.labels.path).filename().string()},
                      {"split", material.split.rule},
                      {"split_sha256", material.split.hash()},
                      {"seed", std::to_string(request.options.seed)},
                      {"training_pixels", std::to_string(samples.samples.size())}};
}

Tested test(const Model& model, Material& material, Console& console) {
  const Index reach = Neighborhoods(model.window).reach();
  const auto start = std::chrono::steady_clock::now();
  const Labels map =
      classify_pixels(Classifier(model), *material.source, material.split.test, reach, console);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  Accuracy accuracy{compare(map, material.truth, material.split.test), material.truth.names};
  for (const Index id : model.class_ids) accuracy.known.insert(static_cast<std::int32_t>(id));
  accuracy.window = model.window;
  accuracy.split = material.split;
  accuracy.leakage = leakage(material.split, model.window,
                             valid_around(*material.source, material.split.test, reach));
  return {std::move(accuracy), taken.count()};
}

}  // namespace hyperatom::cli
