#include "hyperatom/report/map_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "hyperatom/base/error.hpp"
#include "hyperatom/eval/confusion.hpp"
#include "hyperatom/eval/leakage.hpp"
#include "hyperatom/predict/classifier.hpp"
#include "hyperatom/report/composite.hpp"
#include "hyperatom/report/page.hpp"
#include "hyperatom/scene/neighborhoods.hpp"

namespace hyperatom {
namespace {

using Json = nlohmann::ordered_json;

// ---- Bytes

/// The nearest of 0 .. steps to share * steps.
std::uint8_t quantised(double share, int steps) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(share, 0.0, 1.0) * steps));
}

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

// ---- JSON

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json numbers(const Vector& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(number(value));
  return json;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string colour_text(const Colour& colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]);
}

Json interval(double value, const Interval& bounds) {
  return {{"value", number(value)}, {"low", number(bounds.low)}, {"high", number(bounds.high)}};
}

// ---- The map

/// What the classifier says of every pixel.
struct Map {
  std::vector<std::int32_t> ids;
  MatrixF scores, confidence, novelty;
  std::vector<PixelCode> codes;
  ClassifyReport report;
};

std::optional<Map> classify(const MapReport& report,
                            const std::function<bool(Index rows)>& progress) {
  Map map;
  const auto source = make_source(report.scene);
  bool goes_on = true;
  map.report = Classifier(report.model)
                   .classify(
                       *source, {.ram = std::numeric_limits<std::int32_t>::max(), .codes = true},
                       [&](const ClassifiedStrip& strip) {  // all rows at once: memory is no limit
                         map.ids = strip.ids;
                         map.scores = strip.scores;
                         map.confidence = strip.confidence;
                         map.novelty = strip.novelty;
                         map.codes = strip.codes;
                       },
                       [&](Index rows) { return goes_on = !progress || progress(rows); });
  return goes_on ? std::optional(std::move(map)) : std::nullopt;
}

class Writer {
 public:
  Writer(const MapReport& report, const Map& map)
      : report_(report),
        scene_(report.scene),
        model_(report.model),
        map_(map),
        classes_(std::max<Index>(model_.class_ids.back(),
                                 report.truth != nullptr ? report.truth->classes() : 0)) {
    if (classes_ > 255)
      throw DataError(
          fmt::format("{}: {} classes, a report shows at most 255", report.model_file, classes_));
  }

  ReportPage page(std::string_view viewer, size_t most_bytes) {
    Json json = document();
    std::vector<PageBlock> blocks = layers(json);
    const std::vector<PageBlock> codes = code_blocks();
    ReportPage result;
    // From all there is to maps alone.
    for (const auto& [where, with_codes] :
         {std::pair{"all", true}, {"labelled", true}, {"none", true}, {"none", false}}) {
      if (where == std::string("labelled") && report_.truth == nullptr) continue;
      json["spectra"]["pixels"] = where;
      std::vector<PageBlock> chosen = blocks;
      if (where == std::string("all")) chosen.push_back(spectra(true));
      if (where == std::string("labelled")) chosen.push_back(spectra(false));
      if (with_codes)
        chosen.insert(chosen.end(), codes.begin(), codes.end());
      else
        json["codes"] = json["scores"] = nullptr;
      result.reduced = reductions(where, with_codes);
      json["reduced"] = result.reduced;
      result.html = fill_page(viewer, json, chosen);
      if (result.html.size() <= most_bytes) return result;
    }
    throw DataError(fmt::format(
        "{}: a report of {} x {} pixels takes {:.1f} MB without spectra and codes, "
        "expected at most {:.1f}",
        scene_.info.path, scene_.info.rows, scene_.info.cols,
        static_cast<double>(result.html.size()) / 1e6, static_cast<double>(most_bytes) / 1e6));
  }

 private:
  bool coded() const { return model_.rule() != Model::Rule::votes; }
  Index pixels() const { return scene_.info.pixels(); }

  std::vector<std::string> reductions(const std::string& where, bool with_codes) const {
    std::vector<std::string> sentences = {
        "Spectra are drawn from 8 bits a value, weights of atoms from 8 bits of the largest."};
    if (where == "labelled")
      sentences.push_back("To keep the page small, only labelled pixels have a spectrum.");
    if (where == "none") sentences.push_back("To keep the page small, pixels have no spectrum.");
    if (!with_codes)
      sentences.push_back("To keep the page small, pixels have no atoms and no class scores.");
    return sentences;
  }

  // ---- The document

  Json document() const {
    return {{"version", 1},
            {"title", report_.title},
            {"made",
             {{"program", report_.program},
              {"date", report_.date},
              {"command", report_.command},
              {"seed", or_null(report_.seed)}}},
            {"scene", scene_json()},
            {"classes", classes_json()},
            {"layers", Json::array()},
            {"split", split_json()},
            {"accuracy", accuracy_json()},
            {"areas", areas_json()},
            {"model", model_json()},
            {"spectra", spectra_json()},
            {"codes",
             coded() ? Json({{"weight", "i8"}, {"atom", wide() ? "u16" : "u8"}}) : Json(nullptr)},
            {"scores", scores_json()},
            {"offset", numbers(model_.normalizer.offset)},
            {"windows", model_.window},
            {"reduced", Json::array()},
            {"comparison", nullptr}};
  }

  Json scene_json() const {
    const SceneInfo& info = scene_.info;
    // Its name alone: a page is sent to others, whom the folders of this machine do not concern.
    Json json = {{"file", std::filesystem::path(info.path).filename().string()},
                 {"rows", info.rows},
                 {"cols", info.cols},
                 {"bands", info.bands},
                 {"wavelengths", nullptr},
                 {"crs", nullptr},
                 {"transform", nullptr},
                 {"composite", nullptr}};
    if (info.wavelengths.size() > 0) json["wavelengths"] = numbers(info.wavelengths);
    if (!info.georeference.crs.empty()) json["crs"] = info.georeference.crs;
    if (info.georeference.transform) json["transform"] = *info.georeference.transform;
    return json;
  }

  Json classes_json() const {
    Json json = Json::array();
    const std::vector<Colour> colours = default_colours(classes_);
    for (Index id = 1; id <= classes_; ++id) {
      std::string name = fmt::format("class {}", id), colour = colour_text(colours[at(id - 1)]);
      if (report_.truth != nullptr && id <= report_.truth->classes()) {
        name = report_.truth->names[at(id - 1)];
        colour = colour_text(report_.truth->colours[at(id - 1)]);
      }
      const auto known = std::ranges::find(model_.class_ids, id);
      if (known != model_.class_ids.end()) {
        const auto c = static_cast<size_t>(known - model_.class_ids.begin());
        name = model_.class_names[c];
        colour = colour_text(model_.class_colours[c]);
      }
      json.push_back({{"id", id}, {"name", name}, {"colour", colour}});
    }
    return json;
  }

  Json split_json() const {
    if (report_.split == nullptr) return nullptr;
    const double share = leakage(*report_.split, model_.window, scene_.data.valid);
    Json leaked = nullptr;
    if (std::isfinite(share))
      leaked = {{"adjacent", share},
                {"reach", Neighborhoods(model_.window).reach() / 2},
                {"text", fmt::format("{:.1f} % of the test pixels have a training pixel in their "
                                     "window of {}",
                                     100 * share, model_.window)}};
    return {{"rule", report_.split->rule},          {"seed", nullptr},
            {"train", report_.split->train.size()}, {"test", report_.split->test.size()},
            {"hash", report_.split->hash()},        {"leakage", leaked}};
  }

  /// The pixels that the map is judged by.
  std::vector<Index> judged() const {
    if (report_.truth == nullptr) return {};
    if (report_.split != nullptr) return report_.split->test;
    std::vector<Index> labelled;
    for (Index i = 0; i < pixels(); ++i)
      if (report_.truth->id(i) > 0) labelled.push_back(i);
    return labelled;
  }

  Json accuracy_json() const {
    Confusion confusion(classes_);
    for (const Index i : judged())
      if (report_.truth->id(i) > 0) confusion.add(report_.truth->id(i), map_.ids[at(i)]);
    if (confusion.total() == 0) return nullptr;
    Json counts = Json::array(), per_class = Json::array();
    for (Index t = 0; t < classes_; ++t) {
      Json row = Json::array();
      for (Index m = 0; m < classes_; ++m) row.push_back(confusion.counts()(t, m));
      counts.push_back(row);
    }
    for (const ClassScore& score : confusion.per_class())
      per_class.push_back({{"producers", number(score.producers)},
                           {"users", number(score.users)},
                           {"f1", number(score.f1)},
                           {"support", score.truth},
                           {"predicted", score.predicted}});
    return {{"on", report_.split != nullptr ? "test pixels" : "labelled pixels, training included"},
            {"pixels", confusion.total()},
            {"correct", confusion.right()},
            {"oa", interval(confusion.overall(), confusion.overall_interval())},
            {"aa", interval(confusion.average(), confusion.average_interval())},
            {"kappa", interval(confusion.kappa(), confusion.kappa_interval())},
            {"confusion", counts},
            {"per_class", per_class}};
  }

  Json areas_json() const {
    std::vector<Index> counts(at(classes_ + 1), 0);
    for (const std::int32_t id : map_.ids) ++counts[static_cast<size_t>(id)];
    const auto& t = scene_.info.georeference.transform;
    // Only a projected system counts in metres; the others have degrees.
    const bool projected = scene_.info.georeference.crs.starts_with("PROJCS") ||
                           scene_.info.georeference.crs.starts_with("PROJCRS");
    const double square = t ? std::abs((*t)[1] * (*t)[5] - (*t)[2] * (*t)[4]) : 0;
    Json json = Json::array();
    for (Index id = 1; id <= classes_; ++id) {
      const auto n = static_cast<double>(counts[at(id)]);
      json.push_back(
          {{"pixels", counts[at(id)]},
           {"share", n / static_cast<double>(std::max<Index>(1, map_.report.classified))},
           {"square_metres", projected && square > 0 ? Json(n * square) : Json(nullptr)}});
    }
    return json;
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
    json["coherence"] = numbers(coherence());
    return json;
  }

  Json training_json() const {
    if (report_.training.empty()) return nullptr;
    Json json = Json::array();
    for (const EpochRecord& line : report_.training) {
      Json epoch = {
          {"epoch", line.epoch}, {"loss", number(line.loss)}, {"accuracy", number(line.accuracy)}};
      if (line.validation_loss) epoch["validation_loss"] = number(*line.validation_loss);
      if (line.validation_accuracy)
        epoch["validation_accuracy"] = number(*line.validation_accuracy);
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
            {"unconverged", map_.report.unconverged}};
  }

  // ---- Blocks

  std::vector<PageBlock> layers(Json& json) const {
    const Composite composite = make_composite(scene_);
    json["scene"]["composite"] = {{"kind", composite.kind}, {"bands", composite.bands}};
    std::vector<PageBlock> blocks;
    const auto add = [&](const char* name, const std::string& bytes) {
      json["layers"].push_back(name);
      blocks.push_back(make_block(name, bytes));
    };
    add("rgb", std::string(composite.rgb.begin(), composite.rgb.end()));
    add("prediction", ids(map_.ids));
    add("confidence", shares(map_.confidence));
    if (coded()) add("novelty", shares(map_.novelty));
    if (report_.truth != nullptr) add("truth", ids(report_.truth->ids));
    if (report_.split != nullptr) add("split", sides(*report_.split));
    std::string offsets;
    for (const auto& [row, col] : window_offsets()) {
      put_little_endian(offsets, static_cast<std::int16_t>(row));
      put_little_endian(offsets, static_cast<std::int16_t>(col));
    }
    blocks.push_back(make_block("window", offsets));
    if (report_.truth != nullptr) blocks.push_back(make_block("means", floats(mean_spectra())));
    if (coded())
      blocks.push_back(make_block("atoms", floats(model_.normalizer.spectra(model_.dictionary))));
    return blocks;
  }

  static std::string ids(const std::vector<std::int32_t>& ids) {
    std::string bytes;
    for (const std::int32_t id : ids) put(bytes, static_cast<std::uint8_t>(id));
    return bytes;
  }

  static std::string shares(const MatrixF& values) {
    std::string bytes;
    for (const float value : values.reshaped())
      put(bytes, std::isfinite(value) ? quantised(value, 254) : 255);
    return bytes;
  }

  std::string sides(const Split& split) const {
    std::string bytes(at(pixels()), '\0');
    for (const Index i : split.train) bytes[at(i)] = 1;
    for (const Index i : split.test) bytes[at(i)] = 2;
    return bytes;
  }

  /// Of a window that no border and no invalid pixel disturbs.
  std::vector<std::pair<Index, Index>> window_offsets() const {
    const Neighborhoods neighborhoods(model_.window);
    const Index reach = neighborhoods.reach(), side = 2 * reach + 1;
    const std::vector<char> valid(at(side * side), 1);
    std::vector<Index> window(at(model_.window));
    neighborhoods.gather(valid, side, side, reach, reach, window);
    std::vector<std::pair<Index, Index>> offsets;
    for (const Index i : window) offsets.emplace_back(i / side - reach, i % side - reach);
    return offsets;
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

  /// The lowest and highest valid value of a band.
  std::pair<Vector, Vector> ranges() const {
    Vector low = Vector::Constant(scene_.info.bands, std::numeric_limits<double>::infinity());
    Vector high = -low;
    for (Index i = 0; i < pixels(); ++i) {
      if (!scene_.data.valid[at(i)]) continue;
      low = low.cwiseMin(scene_.data.pixels.col(i).cast<double>());
      high = high.cwiseMax(scene_.data.pixels.col(i).cast<double>());
    }
    if (map_.report.classified == 0) low.setZero(), high.setZero();
    return {low, high};
  }

  Json spectra_json() const {
    const auto [low, high] = ranges();
    return {{"pixels", "all"}, {"low", numbers(low)}, {"high", numbers(high)}};
  }

  /// Band by band, as differences to the band before, which compress better than values.
  PageBlock spectra(bool all) const {
    const auto [low, high] = ranges();
    std::vector<Index> shown;
    for (Index i = 0; i < pixels(); ++i)
      if (all || (report_.truth != nullptr && report_.truth->id(i) > 0)) shown.push_back(i);
    std::vector<std::uint8_t> before(shown.size(), 0);
    std::string bytes;
    for (Index b = 0; b < scene_.info.bands; ++b) {
      const double range = high[b] - low[b];
      for (size_t k = 0; k < shown.size(); ++k) {
        const double share = range > 0 && scene_.data.valid[at(shown[k])]
                                 ? (scene_.data.pixels(b, shown[k]) - low[b]) / range
                                 : 0;
        const std::uint8_t value = quantised(std::sqrt(std::max(0.0, share)), 255);
        put(bytes, static_cast<std::uint8_t>(value - before[k]));
        before[k] = value;
      }
    }
    return make_block("spectra", bytes);
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
  const Map& map_;
  const Index classes_;
};

}  // namespace

ReportPage make_page(const MapReport& report, std::string_view viewer, size_t most_bytes,
                     const std::function<bool(Index rows)>& progress) {
  const std::optional<Map> map = classify(report, progress);
  return map ? Writer(report, *map).page(viewer, most_bytes) : ReportPage{};
}

}  // namespace hyperatom
