// The paper's sparse representation classifier: no training. All training pixels are the
// dictionary, and a window belongs to the class whose pixels reconstruct it best
// (predict/scoring.hpp).
#pragma once

#include "hyperatom/learn/model.hpp"
#include "hyperatom/learn/samples.hpp"

namespace hyperatom {

/// What the samples don't tell (normaliser, wavelengths, classes) is left to fill in.
Model make_src(const Samples& samples, const Spec& kernel, const CoderOptions& coding);

}  // namespace hyperatom
