#include "hyperatom/learn/initialisation.hpp"

#include <algorithm>

#include "hyperatom/base/random.hpp"

namespace hyperatom {

InitialAtoms draw_atoms(const Samples& samples, std::span<const Index> from, Index per_class,
                        std::uint64_t seed) {
  std::vector<Index> chosen;
  InitialAtoms atoms;
  for (Index c = 0; c < samples.classes; ++c) {
    std::vector<Index> members;
    for (const Index i : from)
      if (samples.label(i) == c) members.push_back(i);
    const auto order = RandomStream(seed, Purpose::atoms, static_cast<std::uint64_t>(c))
                           .permutation(static_cast<Index>(members.size()));
    const size_t count = std::min(order.size(), static_cast<size_t>(per_class));
    for (size_t k = 0; k < count; ++k) {
      chosen.push_back(members[static_cast<size_t>(order[k])]);
      atoms.classes.push_back(c);
    }
  }
  atoms.D.resize(samples.bands(), static_cast<Index>(chosen.size()));
  for (size_t j = 0; j < chosen.size(); ++j)
    atoms.D.col(static_cast<Index>(j)) = samples.centre(chosen[j]);
  return atoms;
}

}  // namespace hyperatom
