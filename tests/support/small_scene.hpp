// A training set small enough for a test: three classes of noisy smooth spectra on a patchwork,
// with 3 x 3 windows.
#pragma once

#include "hyperatom/learn/samples.hpp"
#include "tests/support/problems.hpp"

namespace hyperatom::test {

/// `side` x `side` pixels; every inner pixel is a sample. `noise` decides how hard it is.
inline Samples small_scene(std::uint64_t seed, Index side, Index window, double noise = 0.05) {
  constexpr Index bands = 12, classes = 3, field = 4;
  Random random(seed);
  const Matrix spectra = coherent_atoms(random, bands, classes);
  const auto class_at = [](Index row, Index col) {
    return (row / field + 2 * (col / field)) % classes;
  };
  Samples samples;
  samples.classes = classes;
  samples.pixels.resize(bands, side * side);
  for (Index i = 0; i < side * side; ++i) {
    samples.pixels.col(i) =
        spectra.col(class_at(i / side, i % side)) + noise * random.normals(bands, 1).col(0);
    samples.pixels.col(i).normalize();
  }
  const Index inner = side - 2;
  samples.windows.resize(window, inner * inner);
  constexpr Index near[9][2] = {{0, 0},   {-1, 0}, {0, -1}, {0, 1}, {1, 0},
                                {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
  for (Index i = 0; i < inner * inner; ++i) {
    const Index row = 1 + i / inner, col = 1 + i % inner;
    samples.labels.push_back(class_at(row, col));
    for (Index s = 0; s < window; ++s)
      samples.windows(s, i) = (row + near[s][0]) * side + col + near[s][1];
  }
  return samples;
}

}  // namespace hyperatom::test
