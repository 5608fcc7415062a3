// Counter-based random numbers: a stream is named by (seed, purpose, counter), so that what a
// sample draws depends neither on the thread that draws it nor on what was drawn before.
// Philox4x32-10 from Random123; the integers and normals are our own because std:: distributions
// differ between standard libraries.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

/// What a stream is for: two purposes never share numbers.
enum class Purpose : std::uint32_t {
  atoms = 1,
  order = 2,
  sample = 3,
  validation = 4,
  scene = 5,
  split = 6,
  folds = 7
};

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint64_t counter = 0);

  std::uint32_t bits();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Uniform in {0, ..., n-1}, unbiased; n >= 1.
  Index below(Index n);
  /// Standard normal (Box-Muller).
  double normal();

  /// A random order of 0..n-1.
  std::vector<Index> permutation(Index n);

 private:
  std::uint64_t seed_;
  std::uint64_t counter_;
  std::uint32_t purpose_;
  std::uint32_t block_ = 0;
  std::uint32_t used_ = 4;
  std::array<std::uint32_t, 4> buffer_{};
};

}  // namespace hyperatom
