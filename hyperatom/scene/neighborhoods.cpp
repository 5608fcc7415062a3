#include "hyperatom/scene/neighborhoods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "hyperatom/base/error.hpp"

namespace hyperatom {

Neighborhoods::Neighborhoods(Index size) : size_(size) {
  if (size < 1 || size > 10000)
    throw OptionError(fmt::format("window must be at least 1 and at most 10000, not {}", size));
  Index ring = 0;
  while ((2 * ring + 1) * (2 * ring + 1) < size) ++ring;
  reach_ = 2 * ring;
  for (Index r = -reach_; r <= reach_; ++r)
    for (Index c = -reach_; c <= reach_; ++c) offsets_.push_back({r, c});
  const auto key = [](const Offset& o) {
    return std::tuple(std::max(std::abs(o.row), std::abs(o.col)), o.row * o.row + o.col * o.col,
                      o.row, o.col);
  };
  std::sort(offsets_.begin(), offsets_.end(),
            [&](const Offset& a, const Offset& b) { return key(a) < key(b); });
}

void Neighborhoods::gather(std::span<const char> valid, Index rows, Index cols, Index row,
                           Index col, std::span<Index> window) const {
  size_t found = 0;
  const auto wanted = static_cast<size_t>(size_);
  for (const Offset& offset : offsets_) {
    const Index r = row + offset.row, c = col + offset.col;
    if (r < 0 || r >= rows || c < 0 || c >= cols || !valid[static_cast<size_t>(r * cols + c)])
      continue;
    window[found++] = r * cols + c;
    if (found == wanted) return;
  }
  for (size_t i = found; i < wanted; ++i) window[i] = window[i - found];
}

}  // namespace hyperatom
