// The losses there are. A new loss is one .cpp with its make_ function, declared here, and one line
// in loss_table.cpp.
#pragma once

#include <memory>

#include "hyperatom/learn/loss.hpp"

namespace hyperatom {

std::unique_ptr<const Loss> make_squared_loss(SpecReader& parameters);
std::unique_ptr<const Loss> make_softmax_loss(SpecReader& parameters);
std::unique_ptr<const Loss> make_squared_hinge_loss(SpecReader& parameters);

}  // namespace hyperatom
