#include "apps/hyperatom/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/hyperatom/inputs.hpp"

namespace hyperatom::cli {
namespace {

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.2f}", 100 * share) : "-";
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted(1, '"');
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  quoted.push_back('"');
  return quoted;
}

std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

Json summary(const Confusion& confusion) {
  const Interval interval = confusion.overall_interval();
  return {{"pixels", confusion.total()},
          {"right", confusion.right()},
          {"overall", number(confusion.overall())},
          {"overall_interval", {number(interval.low), number(interval.high)}},
          {"average", number(confusion.average())},
          {"kappa", number(confusion.kappa())}};
}

}  // namespace

std::string Accuracy::name(Index c) const {
  return at(c) < names.size() ? names[at(c)] : fmt::format("class {}", c + 1);
}

std::optional<Confusion> Accuracy::confusion_of_known() const {
  if (known.empty()) return std::nullopt;
  Confusion part = confusion;
  for (std::int32_t c = 1; c <= confusion.classes(); ++c)
    if (!known.contains(c)) part.leave_out(c);
  const bool all = part.total() == confusion.total();
  return all || part.total() == 0 ? std::nullopt : std::optional(part);
}

Json Accuracy::json() const {
  Json json = summary(confusion);
  if (const auto part = confusion_of_known()) json["known_classes"] = summary(*part);
  if (leakage) json["leakage"] = *leakage;
  if (window) json["window"] = *window;
  if (split)
    json["split"] = {{"rule", split->rule},
                     {"sha256", split->hash()},
                     {"train", split->train.size()},
                     {"test", split->test.size()}};
  json["classes"] = Json::array();
  const std::vector<ClassScore> scores = confusion.per_class();
  for (Index c = 0; c < confusion.classes(); ++c) {
    const ClassScore& score = scores[at(c)];
    json["classes"].push_back({{"id", c + 1},
                               {"name", name(c)},
                               {"truth", score.truth},
                               {"predicted", score.predicted},
                               {"producers", number(score.producers)},
                               {"users", number(score.users)},
                               {"f1", number(score.f1)}});
  }
  json["confusion"] = Json::array();
  const auto& counts = confusion.counts();
  for (Index t = 0; t < counts.rows(); ++t) {
    Json row = Json::array();
    for (Index p = 0; p < counts.cols(); ++p) row.push_back(counts(t, p));
    json["confusion"].push_back(row);
  }
  return json;
}

std::string Accuracy::text() const {
  std::string text;
  size_t width = 5;
  for (Index c = 0; c < confusion.classes(); ++c) width = std::max(width, name(c).size());
  text += fmt::format("  {:<{}}  {:>8} {:>10} {:>8} {:>7}\n", "class", width, "pixels",
                      "producer's", "user's", "F1");
  const std::vector<ClassScore> scores = confusion.per_class();
  for (Index c = 0; c < confusion.classes(); ++c) {
    const ClassScore& score = scores[at(c)];
    if (score.truth == 0 && score.predicted == 0) continue;
    text +=
        fmt::format("  {:<{}}  {:>8} {:>10} {:>8} {:>7}\n", name(c), width, grouped(score.truth),
                    percent(score.producers), percent(score.users), percent(score.f1));
  }
  const Interval interval = confusion.overall_interval();
  const double kappa = confusion.kappa();
  text += fmt::format("OA {} % ({}/{}; 95 % interval {} to {})  AA {} %  kappa {}\n",
                      percent(confusion.overall()), grouped(confusion.right()),
                      grouped(confusion.total()), percent(interval.low), percent(interval.high),
                      percent(confusion.average()),
                      std::isfinite(kappa) ? fmt::format("{:.4f}", kappa) : "-");
  if (const auto part = confusion_of_known())
    text += fmt::format(
        "without the {} pixels of classes that had no training pixel: OA {} % ({}/{})  AA {} %\n",
        grouped(confusion.total() - part->total()), percent(part->overall()),
        grouped(part->right()), grouped(part->total()), percent(part->average()));
  if (leakage && window)
    text += fmt::format(
        "leakage: {} % of the test pixels have a training pixel in their window of {}\n",
        percent(*leakage), *window);
  return text;
}

std::string Accuracy::confusion_csv() const {
  std::string text = "truth \\ map";
  for (Index c = 0; c < confusion.classes(); ++c) text += fmt::format(",{}", csv_text(name(c)));
  text += ",not classified\n";
  const auto& counts = confusion.counts();
  for (Index t = 0; t < counts.rows(); ++t) {
    text += csv_text(name(t));
    for (Index p = 0; p < counts.cols(); ++p) text += fmt::format(",{}", counts(t, p));
    text += "\n";
  }
  return text;
}

std::string Accuracy::per_class_csv() const {
  std::string text = "id,name,truth,predicted,producers,users,f1\n";
  const std::vector<ClassScore> scores = confusion.per_class();
  for (Index c = 0; c < confusion.classes(); ++c) {
    const ClassScore& score = scores[at(c)];
    text += fmt::format("{},{},{},{},{},{},{}\n", c + 1, csv_text(name(c)), score.truth,
                        score.predicted, csv_number(score.producers), csv_number(score.users),
                        csv_number(score.f1));
  }
  return text;
}

void Accuracy::save(const RunFolder& folder) const {
  write_text(folder.confusion(), confusion_csv());
  write_text(folder.per_class(), per_class_csv());
  write_json(folder.metrics(), json());
}

std::optional<std::string> match_classes(const std::vector<std::string>& map_names,
                                         Labels& labels) {
  const std::vector<Index> counts = labels.counts();
  std::vector<std::int32_t> place(counts.size() + 1, 0);  // in the map, of every id
  std::vector<std::string> names = map_names;
  bool same = true, any = false;
  for (size_t c = 0; c < counts.size(); ++c) {
    const auto found = std::find(map_names.begin(), map_names.end(), labels.names[c]);
    any = any || (counts[c] > 0 && found != map_names.end());
    if (found == map_names.end() && counts[c] > 0) names.push_back(labels.names[c]);
    place[c + 1] = static_cast<std::int32_t>(
        std::find(names.begin(), names.end(), labels.names[c]) - names.begin() + 1);
    same = same && (counts[c] == 0 || place[c + 1] == static_cast<std::int32_t>(c + 1));
  }
  if (same) return std::nullopt;
  if (!any) return "the labels' class names are not the map's: classes are matched by number";
  for (std::int32_t& id : labels.ids) id = place[static_cast<size_t>(id)];
  labels.names = std::move(names);
  labels.colours = default_colours(labels.classes());
  return "the labels number their classes otherwise than the map: classes are matched by name";
}

}  // namespace hyperatom::cli
