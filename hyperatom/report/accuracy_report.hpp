// The report of a map against labels, where neither scene nor model is at hand.
#pragma once

#include "hyperatom/report/document.hpp"

namespace hyperatom {

struct AccuracyReport {
  Heading heading;
  const SceneInfo& grid;  ///< file, size and place of the map
  const Labels& map;
  const Labels& truth;  ///< numbered as the map's classes
  const Confusion& confusion;
  const Split* split = nullptr;  ///< null: all labelled pixels count
  Index window = 0;              ///< that the map was made with; 0: not known
};

/// Throws DataError if the page would have more than `most_bytes`.
ReportPage make_page(const AccuracyReport& report, std::string_view viewer, size_t most_bytes);

}  // namespace hyperatom
