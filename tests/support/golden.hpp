// Reads the JSON that scripts/make_golden.py, an independent NumPy implementation, wrote.
#pragma once

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom::test {

inline nlohmann::json golden(const std::string& file) {
  std::ifstream stream(std::string(HYPERATOM_SOURCE_DIR) + "/tests/golden/" + file);
  return nlohmann::json::parse(stream);
}

/// A list of lists, as rows.
inline Matrix rows_of(const nlohmann::json& lists) {
  const auto cols = lists.empty() ? size_t{0} : lists.at(0).size();
  Matrix M(static_cast<Index>(lists.size()), static_cast<Index>(cols));
  for (size_t i = 0; i < lists.size(); ++i)
    for (size_t j = 0; j < cols; ++j)
      M(static_cast<Index>(i), static_cast<Index>(j)) = lists.at(i).at(j).get<double>();
  return M;
}

inline Vector vector_of(const nlohmann::json& list) {
  Vector v(static_cast<Index>(list.size()));
  for (size_t i = 0; i < list.size(); ++i) v[static_cast<Index>(i)] = list.at(i).get<double>();
  return v;
}

/// Windows given as flat lists of S pixels each, the centre first: bands x S per list.
inline Matrix window_of(const nlohmann::json& flat, Index bands) {
  const Vector values = vector_of(flat);
  return Eigen::Map<const Matrix>(values.data(), bands, values.size() / bands);
}

}  // namespace hyperatom::test
