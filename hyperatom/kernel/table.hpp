// The kernels there are. A new kernel is one .cpp with its make_ function, declared here, and one
// line in table.cpp.
#pragma once

#include <memory>

#include "hyperatom/kernel/kernel.hpp"

namespace hyperatom {

std::unique_ptr<const Kernel> make_linear_kernel(SpecReader& parameters);
std::unique_ptr<const Kernel> make_gaussian_kernel(SpecReader& parameters);
std::unique_ptr<const Kernel> make_polynomial_kernel(SpecReader& parameters);

}  // namespace hyperatom
