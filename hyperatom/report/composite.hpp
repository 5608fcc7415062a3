// A scene as people see it: three bands as red, green and blue.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hyperatom/scene/scene.hpp"

namespace hyperatom {

struct Composite {
  std::string kind;  ///< what the colours mean
  std::array<Index, 3> bands{};
  std::vector<std::uint8_t> rgb;  ///< of every pixel, row by row
};

/// Near infrared, red and green where the scene has them, else red, green and blue, else three
/// bands spread over it; each stretched from its 2nd to its 98th percentile. What is not valid is
/// black.
Composite make_composite(const Scene& scene);

}  // namespace hyperatom
