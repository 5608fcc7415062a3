#include "hyperatom/report/accuracy_report.hpp"

#include <algorithm>

namespace hyperatom {

ReportPage make_page(const AccuracyReport& report, std::string_view viewer, size_t most_bytes) {
  ClassList classes(std::max(report.map.classes(), report.truth.classes()));
  classes.name_as(report.truth);
  classes.name_as(report.map);
  Document document(report.heading, report.grid, classes);
  document.json["windows"] = report.window;
  document.add_classes("prediction", report.map.ids);
  document.add_classes("truth", report.truth.ids);
  if (report.split != nullptr) {
    std::vector<char> mapped;
    for (const std::int32_t id : report.map.ids) mapped.push_back(id > 0);
    document.add_split(*report.split, report.window, mapped);
  }
  document.add_accuracy(report.confusion, report.split != nullptr);
  document.add_areas(report.map.ids);
  return fit_page(document, report.grid.path, viewer, most_bytes);
}

}  // namespace hyperatom
