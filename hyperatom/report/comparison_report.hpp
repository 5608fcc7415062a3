// The report of a comparison: methods by their accuracy, beside the paper's, and their maps.
#pragma once

#include <functional>

#include "hyperatom/eval/comparison.hpp"
#include "hyperatom/learn/model.hpp"
#include "hyperatom/report/document.hpp"

namespace hyperatom {

struct ComparisonReport {
  Heading heading;
  const Scene& scene;
  const Labels& truth;
  const Split& split;  ///< the first, whose models make the maps
  const std::vector<Cell>& cells;
  const PaperTable* paper = nullptr;  ///< null: none beside
  const std::vector<Model>& models;   ///< of the first split
};

/// A page of at most `most_bytes` around `viewer`. `progress` is told the rows done of all maps;
/// false stops, and the page is empty. Throws DataError if the page can't be made so small.
ReportPage make_page(const ComparisonReport& report, std::string_view viewer, size_t most_bytes,
                     const std::function<bool(Index rows)>& progress = {});

}  // namespace hyperatom
