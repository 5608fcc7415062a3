#include "hyperatom/report/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "hyperatom/base/error.hpp"
#include "hyperatom/eval/leakage.hpp"
#include "hyperatom/report/composite.hpp"

namespace hyperatom {
namespace {

using Json = Document::Json;

std::string colour_text(const Colour& colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]);
}

Json interval(double value, const Interval& bounds) {
  return {{"value", json_number(value)},
          {"low", json_number(bounds.low)},
          {"high", json_number(bounds.high)}};
}

Json scene_json(const SceneInfo& info) {
  // Its name alone: a page is sent to others, whom the folders of this machine do not concern.
  Json json = {{"file", std::filesystem::path(info.path).filename().string()},
               {"rows", info.rows},
               {"cols", info.cols},
               {"bands", info.bands},
               {"wavelengths", nullptr},
               {"crs", nullptr},
               {"transform", nullptr},
               {"composite", nullptr}};
  if (info.wavelengths.size() > 0) json["wavelengths"] = json_numbers(info.wavelengths);
  if (!info.georeference.crs.empty()) json["crs"] = info.georeference.crs;
  if (info.georeference.transform) json["transform"] = *info.georeference.transform;
  return json;
}

Json classes_json(const ClassList& classes) {
  Json json = Json::array();
  for (Index c = 0; c < classes.size(); ++c)
    json.push_back({{"id", c + 1},
                    {"name", classes.names[at(c)]},
                    {"colour", colour_text(classes.colours[at(c)])}});
  return json;
}

/// The lowest and highest valid value of a band; 0 where there is none.
std::pair<Vector, Vector> ranges(const Scene& scene) {
  Vector low = Vector::Constant(scene.info.bands, std::numeric_limits<double>::infinity());
  Vector high = -low;
  bool any = false;
  for (Index i = 0; i < scene.info.pixels(); ++i) {
    if (!scene.data.valid[at(i)]) continue;
    any = true;
    low = low.cwiseMin(scene.data.pixels.col(i).cast<double>());
    high = high.cwiseMax(scene.data.pixels.col(i).cast<double>());
  }
  if (!any) low.setZero(), high.setZero();
  return {low, high};
}

/// In the unit of a projected system of coordinates, given as WKT; 0 for others, which have
/// degrees. Its last unit is that of its axes: UNIT["US survey foot",0.3048...], in WKT 2
/// LENGTHUNIT.
double metres(const std::string& wkt) {
  if (!wkt.starts_with("PROJCS") && !wkt.starts_with("PROJCRS")) return 0;
  const size_t unit = wkt.rfind("UNIT[\"");
  const size_t comma = unit == std::string::npos ? unit : wkt.find("\",", unit);
  if (comma == std::string::npos) return 0;
  const double size = std::strtod(wkt.c_str() + comma + 2, nullptr);
  return std::isfinite(size) && size > 0 ? size : 0;
}

/// Every `step`-th band, and the last.
std::vector<Index> thinned(Index bands, Index step) {
  std::vector<Index> kept;
  for (Index b = 0; b < bands - 1; b += step) kept.push_back(b);
  if (bands > 0) kept.push_back(bands - 1);
  return kept;
}

/// Band by band, as differences to the band before, which compress better than values.
PageBlock spectra(const Scene& scene, const std::vector<Index>& pixels,
                  const std::vector<Index>& bands, const Vector& low, const Vector& high) {
  std::vector<std::uint8_t> before(pixels.size(), 0);
  std::string bytes;
  for (const Index b : bands) {
    const double range = high[b] - low[b];
    for (size_t k = 0; k < pixels.size(); ++k) {
      const double share = range > 0 && scene.data.valid[at(pixels[k])]
                               ? (scene.data.pixels(b, pixels[k]) - low[b]) / range
                               : 0;
      const std::uint8_t value = quantised(std::sqrt(std::max(0.0, share)), 255);
      bytes += static_cast<char>(value - before[k]);
      before[k] = value;
    }
  }
  return make_block("spectra", bytes);
}

/// What of spectra and codes is in a page.
struct Choice {
  const char* pixels;  ///< that have spectra: all, labelled, none
  Index step = 1;      ///< every how many bands
  bool codes = true;

  std::vector<std::string> sentences(bool coded) const {
    const std::string small = "To keep the page small, ", which = pixels;
    std::vector<std::string> said;
    if (which != "none" || codes)
      said.emplace_back(coded ? "Spectra are drawn from 8 bits a value, weights of atoms from 8 "
                                "bits of the largest."
                              : "Spectra are drawn from 8 bits a value.");
    if (which == "labelled") said.push_back(small + "only labelled pixels have a spectrum.");
    if (which == "none") said.push_back(small + "pixels have no spectrum.");
    if (step > 1) said.push_back(small + fmt::format("spectra have one band in {}.", step));
    if (!codes) said.push_back(small + "pixels have no atoms and no class scores.");
    return said;
  }
};

/// From all there is to maps alone. Spectra of all pixels with fewer bands tell more than whole
/// ones of some.
std::vector<Choice> choices(Index bands, bool labelled, bool coded) {
  std::vector<Choice> all = {{"all"}};
  constexpr Index fewest = 20;
  for (const Index step : {2, 4, 8})
    if (bands / step >= fewest) all.push_back({"all", step});
  if (labelled) all.push_back({"labelled"});
  all.push_back({"none"});
  if (coded) all.push_back({"none", 1, false});
  return all;
}

[[noreturn]] void too_large(const Json& json, const std::string& path, size_t size, size_t most) {
  throw DataError(
      fmt::format("{}: a report of {} x {} pixels takes {:.1f} MB without spectra and codes, "
                  "expected at most {:.1f}",
                  path, json["scene"]["rows"].get<Index>(), json["scene"]["cols"].get<Index>(),
                  static_cast<double>(size) / 1e6, static_cast<double>(most) / 1e6));
}

}  // namespace

ClassList::ClassList(Index classes) : colours(default_colours(classes)) {
  for (Index id = 1; id <= classes; ++id) names.push_back(fmt::format("class {}", id));
}

void ClassList::name_as(const Labels& labels) {
  for (size_t c = 0; c < std::min(names.size(), labels.names.size()); ++c) {
    if (labels.names[c].empty()) continue;
    names[c] = labels.names[c];
    colours[c] = labels.colours[c];
  }
}

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json json_numbers(const Vector& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(json_number(value));
  return json;
}

std::uint8_t quantised(double share, int steps) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(share, 0.0, 1.0) * steps));
}

std::string class_bytes(const std::vector<std::int32_t>& ids) {
  std::string bytes;
  for (const std::int32_t id : ids) bytes += static_cast<char>(id);
  return bytes;
}

std::vector<Index> judged_pixels(const Labels& truth, const Split* split) {
  if (split != nullptr) return split->test;
  std::vector<Index> labelled;
  for (Index i = 0; i < truth.pixels(); ++i)
    if (truth.id(i) > 0) labelled.push_back(i);
  return labelled;
}

Document::Document(const Heading& heading, const SceneInfo& scene, const ClassList& classes)
    : json({{"version", 1},
            {"title", heading.title},
            {"made",
             {{"program", heading.program},
              {"date", heading.date},
              {"command", heading.command},
              {"seed", heading.seed ? Json(*heading.seed) : Json(nullptr)}}},
            {"scene", scene_json(scene)},
            {"classes", classes_json(classes)},
            {"layers", Json::array()},
            {"split", nullptr},
            {"accuracy", nullptr},
            {"areas", Json::array()},
            {"model", nullptr},
            {"spectra",
             {{"pixels", "none"},
              {"bands", Json::array()},
              {"low", Json::array()},
              {"high", Json::array()}}},
            {"codes", nullptr},
            {"scores", nullptr},
            {"offset", nullptr},
            {"windows", 0},
            {"reduced", Json::array()},
            {"comparison", nullptr}}),
      rows_(scene.rows),
      cols_(scene.cols),
      classes_(classes.size()),
      georeference_(scene.georeference) {
  if (classes_ > 255)
    throw DataError(
        fmt::format("{}: {} classes, a report shows at most 255", scene.path, classes_));
}

void Document::add_layer(const std::string& name, const std::string& bytes) {
  json["layers"].push_back(name);
  blocks.push_back(make_block(name, bytes));
}

void Document::add_classes(const std::string& name, const std::vector<std::int32_t>& ids) {
  add_layer(name, class_bytes(ids));
}

void Document::add_shares(const std::string& name, const MatrixF& shares) {
  std::string bytes;
  for (const float share : shares.reshaped())
    bytes += static_cast<char>(std::isfinite(share) ? quantised(share, 254) : 255);
  add_layer(name, bytes);
}

void Document::add_composite(const Scene& scene) {
  const Composite composite = make_composite(scene);
  json["scene"]["composite"] = {{"kind", composite.kind}, {"bands", composite.bands}};
  add_layer("rgb", std::string(composite.rgb.begin(), composite.rgb.end()));
}

void Document::add_split(const Split& split, Index window, const std::vector<char>& valid) {
  Json leaked = nullptr;
  if (window > 0) {
    const double share = leakage(split, window, valid);
    if (std::isfinite(share))
      leaked = {{"adjacent", share},
                {"text", fmt::format("{:.1f} % of the test pixels have a training pixel in their "
                                     "window of {}",
                                     100 * share, window)}};
  }
  json["split"] = {{"rule", split.rule},
                   {"train", split.train.size()},
                   {"test", split.test.size()},
                   {"hash", split.hash()},
                   {"leakage", leaked}};
  std::string sides(at(rows_ * cols_), '\0');
  for (const Index i : split.train) sides[at(i)] = 1;
  for (const Index i : split.test) sides[at(i)] = 2;
  add_layer("split", sides);
}

void Document::add_accuracy(const Confusion& confusion, bool split) {
  if (confusion.total() == 0) return;
  Json counts = Json::array(), per_class = Json::array();
  for (Index t = 0; t < confusion.classes(); ++t) {
    Json row = Json::array();
    for (Index m = 0; m < confusion.classes(); ++m) row.push_back(confusion.counts()(t, m));
    counts.push_back(row);
  }
  for (const ClassScore& score : confusion.per_class())
    per_class.push_back({{"producers", json_number(score.producers)},
                         {"users", json_number(score.users)},
                         {"f1", json_number(score.f1)},
                         {"support", score.truth},
                         {"predicted", score.predicted}});
  json["accuracy"] = {{"on", split ? "test pixels" : "labelled pixels, training included"},
                      {"pixels", confusion.total()},
                      {"correct", confusion.right()},
                      {"oa", interval(confusion.overall(), confusion.overall_interval())},
                      {"aa", interval(confusion.average(), confusion.average_interval())},
                      {"kappa", interval(confusion.kappa(), confusion.kappa_interval())},
                      {"confusion", counts},
                      {"per_class", per_class}};
}

void Document::add_areas(const std::vector<std::int32_t>& ids) {
  std::vector<Index> counts(at(classes_ + 1), 0);
  for (const std::int32_t id : ids) ++counts[static_cast<size_t>(id)];
  const Index mapped = std::max<Index>(1, rows_ * cols_ - counts[0]);
  const auto& t = georeference_.transform;
  const double unit = metres(georeference_.crs);
  const double square = t ? unit * unit * std::abs((*t)[1] * (*t)[5] - (*t)[2] * (*t)[4]) : 0;
  for (Index id = 1; id <= classes_; ++id) {
    const auto n = static_cast<double>(counts[at(id)]);
    json["areas"].push_back({{"pixels", counts[at(id)]},
                             {"share", n / static_cast<double>(mapped)},
                             {"square_metres", square > 0 ? Json(n * square) : Json(nullptr)}});
  }
}

ReportPage fit_page(Document document, const Scene& scene, const Labels* truth,
                    const std::vector<PageBlock>& codes, std::string_view viewer,
                    size_t most_bytes) {
  Json& json = document.json;
  const auto [low, high] = ranges(scene);
  std::vector<Index> all, labelled;
  for (Index i = 0; i < scene.info.pixels(); ++i) {
    all.push_back(i);
    if (truth != nullptr && truth->id(i) > 0) labelled.push_back(i);
  }
  ReportPage result;
  for (const Choice& choice : choices(scene.info.bands, truth != nullptr, !codes.empty())) {
    const std::string which = choice.pixels;
    std::vector<Index> bands;
    if (which != "none") bands = thinned(scene.info.bands, choice.step);
    const std::vector<Index>& shown = which == "all" ? all : labelled;
    // What would not fit if it shrank to a twentieth is not tried.
    if (which != "none" && shown.size() * bands.size() / 20 > most_bytes) continue;
    json["spectra"] = {{"pixels", which},
                       {"bands", bands},
                       {"low", json_numbers(low)},
                       {"high", json_numbers(high)}};
    std::vector<PageBlock> blocks = document.blocks;
    if (which != "none") blocks.push_back(spectra(scene, shown, bands, low, high));
    if (choice.codes)
      blocks.insert(blocks.end(), codes.begin(), codes.end());
    else
      json["codes"] = json["scores"] = nullptr;
    result.reduced = choice.sentences(!codes.empty());
    json["reduced"] = result.reduced;
    result.html = fill_page(viewer, json, blocks);
    if (result.html.size() <= most_bytes) return result;
  }
  too_large(json, scene.info.path, result.html.size(), most_bytes);
}

ReportPage fit_page(const Document& document, const std::string& path, std::string_view viewer,
                    size_t most_bytes) {
  ReportPage result{fill_page(viewer, document.json, document.blocks), {}};
  if (result.html.size() > most_bytes)
    too_large(document.json, path, result.html.size(), most_bytes);
  return result;
}

}  // namespace hyperatom
