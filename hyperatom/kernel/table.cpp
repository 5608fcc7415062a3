#include "hyperatom/kernel/table.hpp"

#include <fmt/format.h>

#include "hyperatom/base/error.hpp"

namespace hyperatom {
namespace {

struct Entry {
  const char* example;
  std::unique_ptr<const Kernel> (*make)(SpecReader&);
};

constexpr Entry table[] = {
    {"linear", make_linear_kernel},
    {"gaussian(sigma=0.5)", make_gaussian_kernel},
    {"polynomial(degree=3,offset=0.5)", make_polynomial_kernel},
};

}  // namespace

std::unique_ptr<const Kernel> make_kernel(const Spec& spec) {
  std::vector<std::string> known;
  for (const Entry& entry : table) {
    known.push_back(Spec::parse(entry.example).name);
    if (known.back() != spec.name) continue;
    SpecReader parameters(spec);
    auto kernel = entry.make(parameters);
    parameters.finish();
    return kernel;
  }
  throw OptionError(fmt::format("unknown kernel '{}'; known: {}", spec.name, join(known)));
}

std::vector<Spec> example_kernels() {
  std::vector<Spec> specs;
  for (const Entry& entry : table) specs.push_back(Spec::parse(entry.example));
  return specs;
}

}  // namespace hyperatom
