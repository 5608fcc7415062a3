#include "hyperatom/kernel/table.hpp"

#include "hyperatom/base/table.hpp"

namespace hyperatom {
namespace {

constexpr TableEntry<Kernel> table[] = {
    {"linear", make_linear_kernel},
    {"gaussian(sigma=0.5)", make_gaussian_kernel},
    {"polynomial(degree=3,offset=0.5)", make_polynomial_kernel},
};

}  // namespace

std::unique_ptr<const Kernel> make_kernel(const Spec& spec) {
  return make_from<Kernel>(table, spec, "kernel");
}

std::vector<Spec> example_kernels() { return examples<Kernel>(table); }

}  // namespace hyperatom
