#include "apps/hyperatom/suggest.hpp"

#include <algorithm>
#include <numeric>

namespace hyperatom::cli {
namespace {

/// Letters to insert, delete or replace.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  size_t least = 1 + word.size() / 3;  // further away is another word
  for (const std::string& name : names) {
    // A beginning is a good guess: --class for --class-field.
    const size_t distance =
        word.size() > 3 && name.starts_with(word) ? 1 : edit_distance(word, name);
    if (distance > least || (best != nullptr && distance == least)) continue;
    least = distance;
    best = &name;
  }
  return best == nullptr ? "" : "; did you mean " + *best + "?";
}

}  // namespace hyperatom::cli
