// How well a map does on labelled pixels, as text, JSON and tables.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "apps/hyperatom/run_folder.hpp"
#include "hyperatom/eval/confusion.hpp"
#include "hyperatom/scene/split.hpp"

namespace hyperatom::cli {

struct Accuracy {
  Confusion confusion;
  std::vector<std::string> names;     ///< of classes 1, 2, ...
  std::set<std::int32_t> known = {};  ///< classes that the map could have; empty: not told
  std::optional<double> leakage = {};
  std::optional<Index> window = {};
  std::optional<Split> split = {};

  Json json() const;
  std::string text() const;
  std::string confusion_csv() const;
  std::string per_class_csv() const;
  /// metrics.json, confusion.csv and per_class.csv.
  void save(const RunFolder& folder) const;
  /// The confusion without classes that the map could not have; nothing when it had them all.
  std::optional<Confusion> confusion_of_known() const;

 private:
  std::string name(Index c) const;
};

/// Numbers the classes of `labels` as a map does whose classes have these names: by name where the
/// names agree, by number where they have none in common. Gives what a user should know, or
/// nothing.
std::optional<std::string> match_classes(const std::vector<std::string>& map_names, Labels& labels);

}  // namespace hyperatom::cli
