#include "hyperatom/report/comparison_report.hpp"

#include <algorithm>

#include "hyperatom/report/whole_map.hpp"

namespace hyperatom {
namespace {

using Json = Document::Json;

Json table(const std::vector<Cell>& cells, const PaperTable* paper) {
  Json json = Json::array();
  for (const MethodSummary& summary : summarize(cells)) {
    Json repeats = Json::array();
    Json window = nullptr;  // of the first split, whose maps are shown
    for (const Cell& cell : cells) {
      if (cell.method != summary.method) continue;
      if (window.is_null()) window = cell.window;
      repeats.push_back({{"oa", json_number(cell.overall)},
                         {"aa", json_number(cell.average)},
                         {"kappa", json_number(cell.kappa)}});
    }
    Json figures = nullptr;
    if (paper != nullptr) {
      const PaperTable::Row& row = paper->row(summary.method);
      figures = {{"oa", row.overall / 100}, {"aa", row.average / 100}, {"kappa", nullptr}};
    }
    json.push_back({{"method", summary.method},
                    {"repeats", repeats},
                    {"paper", figures},
                    {"seconds", summary.train_seconds.mean},
                    {"leakage", json_number(summary.leakage.mean)},
                    {"atoms", summary.atoms.mean},
                    {"window", window}});
  }
  return json;
}

}  // namespace

ReportPage make_page(const ComparisonReport& report, std::string_view viewer, size_t most_bytes,
                     const std::function<bool(Index rows)>& progress) {
  ClassList classes(report.truth.classes());
  classes.name_as(report.truth);
  Document document(report.heading, report.scene.info, classes);
  document.add_composite(report.scene);
  document.add_classes("truth", report.truth.ids);
  document.add_split(report.split, 0, report.scene.data.valid);
  Json maps = Json::array();
  Index done = 0;
  for (const Model& model : report.models) {
    const auto map = map_of(model, report.scene, false,
                            [&](Index rows) { return !progress || progress(done + rows); });
    if (!map) return {};
    done += report.scene.info.rows;
    document.blocks.push_back(make_block("map-" + model.method, class_bytes(map->all.ids)));
    maps.push_back(model.method);
  }
  document.json["comparison"] = {{"table", table(report.cells, report.paper)}, {"maps", maps}};
  return fit_page(std::move(document), report.scene, &report.truth, {}, viewer, most_bytes);
}

}  // namespace hyperatom
