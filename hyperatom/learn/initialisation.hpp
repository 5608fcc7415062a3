// The first dictionary: training pixels drawn per class.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hyperatom/learn/samples.hpp"

namespace hyperatom {

struct InitialAtoms {
  Matrix D;                    ///< bands x d
  std::vector<Index> classes;  ///< of each atom
};

/// `per_class` centre pixels of each class among the samples `from`, without repetition; all of
/// them where a class has fewer (a repeated atom adds nothing but a singular Gram matrix). Atoms of
/// a class stand side by side.
InitialAtoms draw_atoms(const Samples& samples, std::span<const Index> from, Index per_class,
                        std::uint64_t seed);

}  // namespace hyperatom
