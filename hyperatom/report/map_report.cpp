#include "hyperatom/report/map_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "hyperatom/base/error.hpp"
#include "hyperatom/report/whole_map.hpp"
#include "hyperatom/scene/neighborhoods.hpp"

namespace hyperatom {
namespace {

using Json = Document::Json;

// ---- Bytes

void put(std::string& bytes, std::uint8_t value) { bytes += static_cast<char>(value); }

template <class T>
void put_little_endian(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);  // of a little-endian machine, as all that we build for
  bytes.append(raw, sizeof value);
}

std::string floats(const Matrix& columns) {
  std::string bytes;
  for (Index j = 0; j < columns.cols(); ++j)
    for (Index i = 0; i < columns.rows(); ++i)
      put_little_endian(bytes, static_cast<float>(columns(i, j)));
  return bytes;
}

class Writer {
 public:
  Writer(const MapReport& report, const WholeMap& map)
      : report_(report),
        scene_(report.scene),
        model_(report.model),
        map_(map.all),
        unconverged_(map.report.unconverged),
        classes_(std::max<Index>(model_.class_ids.back(),
                                 report.truth != nullptr ? report.truth->classes() : 0)) {}

  ReportPage page(std::string_view viewer, size_t most_bytes) const {
    Document document(report_.heading, scene_.info, classes());
    Json& json = document.json;
    document.add_composite(scene_);
    document.add_classes("prediction", map_.ids);
    document.add_shares("confidence", map_.confidence);
    if (coded()) document.add_shares("novelty", map_.novelty);
    if (report_.truth != nullptr) add_truth(document);
    if (report_.split != nullptr)
      document.add_split(*report_.split, model_.window, scene_.data.valid);
    document.add_areas(map_.ids);
    json["model"] = model_json();
    if (coded()) json["codes"] = {{"weight", "i8"}, {"atom", wide() ? "u16" : "u8"}};
    json["scores"] = scores_json();
    json["offset"] = json_numbers(model_.normalizer.offset);
    json["windows"] = model_.window;
    document.blocks.push_back(make_block("window", window_offsets()));
    if (coded())
      document.blocks.push_back(
          make_block("atoms", floats(model_.normalizer.spectra(model_.dictionary))));
    return fit_page(std::move(document), scene_, report_.truth, code_blocks(), viewer, most_bytes);
  }

 private:
  bool coded() const { return model_.rule() != Model::Rule::votes; }
  Index pixels() const { return scene_.info.pixels(); }

  ClassList classes() const {
    ClassList list(classes_);
    if (report_.truth != nullptr) list.name_as(*report_.truth);
    for (size_t c = 0; c < model_.class_ids.size(); ++c) {
      const size_t place = at(model_.class_ids[c] - 1);
      list.names[place] = model_.class_names[c];
      list.colours[place] = model_.class_colours[c];
    }
    return list;
  }

  void add_truth(Document& document) const {
    document.add_classes("truth", report_.truth->ids);
    document.blocks.push_back(make_block("means", floats(mean_spectra())));
    Confusion confusion(classes_);
    for (const Index i : judged_pixels(*report_.truth, report_.split))
      if (report_.truth->id(i) > 0) confusion.add(report_.truth->id(i), map_.ids[at(i)]);
    document.add_accuracy(confusion, report_.split != nullptr);
  }

  Json model_json() const {
    Json json = {{"file", report_.model_file},
                 {"hash", report_.model_hash},
                 {"method", model_.method},
                 {"kernel", model_.kernel.to_string()},
                 {"loss", model_.loss.to_string()},
                 {"lambda1", model_.coding.lambda1},
                 {"lambda2", model_.coding.lambda2},
                 {"window", model_.window},
                 {"normalizer", model_.normalizer.kind},
                 {"bands", model_.bands()},
                 {"atoms", coded() ? model_.atoms() : 0},
                 {"atom_classes", Json::array()},
                 {"usage", Json::array()},
                 {"coherence", Json::array()},
                 {"training", training_json()},
                 {"certificate", certificate_json()}};
    if (!coded()) return json;
    std::vector<Index> usage(at(model_.atoms()), 0);
    for (const PixelCode& code : map_.codes)
      for (const std::int32_t atom : code.atoms) ++usage[static_cast<size_t>(atom)];
    for (const Index c : model_.atom_classes)
      json["atom_classes"].push_back(model_.class_ids[at(c)] - 1);
    json["usage"] = usage;
    json["coherence"] = json_numbers(coherence());
    return json;
  }

  Json training_json() const {
    if (report_.training.empty()) return nullptr;
    Json json = Json::array();
    for (const EpochRecord& line : report_.training) {
      Json epoch = {{"epoch", line.epoch},
                    {"loss", json_number(line.loss)},
                    {"accuracy", json_number(line.accuracy)}};
      if (line.validation_loss) epoch["validation_loss"] = json_number(*line.validation_loss);
      if (line.validation_accuracy)
        epoch["validation_accuracy"] = json_number(*line.validation_accuracy);
      json.push_back(epoch);
    }
    return json;
  }

  /// The largest cosine of every atom with another, in the space of the kernel.
  Vector coherence() const {
    Matrix K = make_kernel(model_.kernel)->gram(model_.dictionary, model_.dictionary);
    const Vector length = K.diagonal().cwiseSqrt().cwiseMax(std::numeric_limits<double>::min());
    K = length.cwiseInverse().asDiagonal() * K * length.cwiseInverse().asDiagonal();
    K.diagonal().setZero();
    return K.cwiseAbs().colwise().maxCoeff();
  }

  /// How many codes have which gap: powers of ten, two bins each.
  Json certificate_json() const {
    if (!coded()) return nullptr;
    constexpr int lowest = -16, per_decade = 2, bins = 16 * per_decade;
    std::vector<Index> counts(bins, 0);
    for (const PixelCode& code : map_.codes) {
      if (code.atoms.empty()) continue;
      const double place = per_decade * (std::log10(std::max(code.gap, 1e-300)) - lowest);
      ++counts[static_cast<size_t>(std::clamp(place, 0.0, bins - 1.0))];
    }
    Json edges = Json::array();
    for (int i = 0; i <= bins; ++i) edges.push_back(lowest + static_cast<double>(i) / per_decade);
    return {{"edges", edges},
            {"counts", counts},
            {"tolerance", model_.coding.tolerance},
            {"unconverged", unconverged_}};
  }

  // ---- Blocks

  /// Of a window that no border and no invalid pixel disturbs: rows and columns from the pixel.
  std::string window_offsets() const {
    const Neighborhoods neighborhoods(model_.window);
    const Index reach = neighborhoods.reach(), side = 2 * reach + 1;
    const std::vector<char> valid(at(side * side), 1);
    std::vector<Index> window(at(model_.window));
    neighborhoods.gather(valid, side, side, reach, reach, window);
    std::string bytes;
    for (const Index i : window) {
      put_little_endian(bytes, static_cast<std::int16_t>(i / side - reach));
      put_little_endian(bytes, static_cast<std::int16_t>(i % side - reach));
    }
    return bytes;
  }

  /// Bands x classes: of the training pixels, or of all labelled ones without a split.
  Matrix mean_spectra() const {
    Matrix sums = Matrix::Zero(scene_.info.bands, classes_);
    Vector counts = Vector::Zero(classes_);
    const auto add = [&](Index i) {
      const std::int32_t id = report_.truth->id(i);
      if (id == 0 || !scene_.data.valid[at(i)]) return;
      sums.col(id - 1) += scene_.data.pixels.col(i).cast<double>();
      ++counts[id - 1];
    };
    if (report_.split != nullptr)
      for (const Index i : report_.split->train) add(i);
    else
      for (Index i = 0; i < pixels(); ++i) add(i);
    for (Index c = 0; c < classes_; ++c) sums.col(c) /= counts[c];  // NaN: there are none
    return sums;
  }

  bool wide() const { return model_.atoms() > 255; }

  Json scores_json() const {
    const auto [low, high] = score_range();
    return {{"low", low}, {"high", high}};
  }

  std::pair<double, double> score_range() const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const float score : map_.scores.reshaped()) {
      if (!std::isfinite(score)) continue;
      low = std::min<double>(low, score);
      high = std::max<double>(high, score);
    }
    return low <= high ? std::pair{low, high} : std::pair{0.0, 0.0};
  }

  std::vector<PageBlock> code_blocks() const {
    const auto [low, high] = score_range();
    std::string scores;
    for (Index i = 0; i < pixels(); ++i) {
      std::string line(at(classes_), '\0');
      for (Index c = 0; c < model_.classes(); ++c)
        if (std::isfinite(map_.scores(c, i)) && high > low)
          line[at(model_.class_ids[at(c)] - 1)] =
              static_cast<char>(quantised((map_.scores(c, i) - low) / (high - low), 255));
      scores += line;
    }
    std::vector<PageBlock> blocks = {make_block("scores", scores)};
    if (!coded()) return blocks;
    std::string codes, scales, offsets;
    for (Index i = 0; i < pixels(); ++i) put_code(map_.codes[at(i)], i, codes, scales, offsets);
    blocks.push_back(make_block("codes", codes));
    blocks.push_back(make_block("scales", scales));
    blocks.push_back(make_block("offsets", offsets));
    return blocks;
  }

  /// At most 255 atoms: those with the largest weights.
  void put_code(const PixelCode& code, Index pixel, std::string& codes, std::string& scales,
                std::string& offsets) const {
    std::vector<size_t> order(code.atoms.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    if (order.size() > 255) {
      std::ranges::stable_sort(order, [&](size_t a, size_t b) {
        return std::abs(code.weights[a]) > std::abs(code.weights[b]);
      });
      order.resize(255);
      std::ranges::sort(order);
    }
    const auto largest = [](const std::vector<float>& values) {
      float most = 0;
      for (const float value : values) most = std::max(most, std::abs(value));
      return most;
    };
    const auto share = [](float value, float most) {
      return static_cast<std::uint8_t>(std::lround(most > 0 ? 127 * value / most : 0));
    };
    const float weight = largest(code.weights), part = largest(code.parts);
    put(codes, static_cast<std::uint8_t>(order.size()));
    for (const size_t k : order) {
      put(codes, static_cast<std::uint8_t>(code.atoms[k] & 255));
      if (wide()) put(codes, static_cast<std::uint8_t>(code.atoms[k] >> 8));
      put(codes, share(code.weights[k], weight));
      put(codes, share(code.parts[k], part));
    }
    const Normalizer::Lengths lengths = model_.normalizer.lengths(scene_.data.pixels.col(pixel));
    put_little_endian(scales, weight);
    put_little_endian(scales, static_cast<float>(lengths.features * part));
    put_little_endian(offsets, static_cast<float>(lengths.offset));
  }

  const MapReport& report_;
  const Scene& scene_;
  const Model& model_;
  const ClassifiedStrip& map_;  // all rows
  const Index unconverged_;
  const Index classes_;
};

}  // namespace

ReportPage make_page(const MapReport& report, std::string_view viewer, size_t most_bytes,
                     const std::function<bool(Index rows)>& progress) {
  const auto map = map_of(report.model, report.scene, true, progress);
  return map ? Writer(report, *map).page(viewer, most_bytes) : ReportPage{};
}

}  // namespace hyperatom
