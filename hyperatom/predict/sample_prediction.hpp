// The classes of windows that are at hand as samples, for cross-validation.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "hyperatom/learn/model.hpp"
#include "hyperatom/learn/samples.hpp"

namespace hyperatom {

/// Classes, from 0, of the samples numbered `which`, by every model of a path: models of one
/// dictionary and one kernel that differ in lambda1, best in falling order. Kernel columns are
/// formed once for the path, and a window's code starts from its code by the model before. The
/// result depends on the path, not on threads or memory. The samples are normalised; the models
/// need no normaliser and no names.
std::vector<std::vector<Index>> predict_samples(std::span<const Model> path, const Samples& samples,
                                                std::span<const Index> which);

}  // namespace hyperatom
