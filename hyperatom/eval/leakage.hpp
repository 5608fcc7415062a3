// How much of a test is not unseen: windows of test pixels that hold training pixels.
#pragma once

#include <span>

#include "hyperatom/scene/split.hpp"

namespace hyperatom {

/// Share of the test pixels whose window of `window` pixels holds a training pixel; one that
/// is not valid has no window. `valid`: of every pixel of the scene.
double leakage(const Split& split, Index window, std::span<const char> valid);

}  // namespace hyperatom
