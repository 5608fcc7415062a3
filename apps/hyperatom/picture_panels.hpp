// A picture of a scene beside its labels and its map.
#pragma once

#include <cstdint>
#include <vector>

#include "hyperatom/scene/labels.hpp"

namespace hyperatom::cli {

/// Rows x cols pixels of red, green and blue.
struct Picture {
  Index rows = 0;
  Index cols = 0;
  std::vector<std::uint8_t> rgb;
};

/// Every class in its colour; what has none is `none`.
Picture class_picture(const Labels& labels, Colour none);

/// Pictures of equal height in a row, enlarged, with white between them.
Picture side_by_side(const std::vector<Picture>& panels, Index enlarge);

}  // namespace hyperatom::cli
