// Which class the labelled pixels of a scene belong to.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

using Colour = std::array<std::uint8_t, 3>;

struct Labels {
  Index rows = 0;
  Index cols = 0;
  std::vector<std::int32_t> ids;   ///< per pixel, row by row: 1 .. classes(), 0 = none
  std::vector<std::string> names;  ///< of the classes 1, 2, ...
  std::vector<Colour> colours;     ///< likewise
  std::vector<std::int32_t>
      parts;  ///< per pixel: the polygon it came from, 0 = none; empty for rasters

  Index classes() const { return static_cast<Index>(names.size()); }
  Index pixels() const { return rows * cols; }
  std::int32_t id(Index pixel) const { return ids[static_cast<size_t>(pixel)]; }
  /// Labelled pixels per class.
  std::vector<Index> counts() const;
  /// The same among the given pixels.
  std::vector<Index> counts(std::span<const Index> pixels) const;
};

/// Colours that can be told apart, also by the colour-blind as far as their number allows.
std::vector<Colour> default_colours(Index classes);

}  // namespace hyperatom
