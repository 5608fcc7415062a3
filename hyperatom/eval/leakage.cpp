#include "hyperatom/eval/leakage.hpp"

#include <algorithm>

#include "hyperatom/scene/neighborhoods.hpp"

namespace hyperatom {

double leakage(const Split& split, Index window, std::span<const char> valid) {
  if (split.test.empty()) return 0;
  std::vector<char> training(static_cast<size_t>(split.rows * split.cols), 0);
  for (const Index i : split.train) training[static_cast<size_t>(i)] = 1;
  const Neighborhoods neighborhoods(window);
  std::vector<Index> pixels(static_cast<size_t>(window));
  Index leaking = 0;
  for (const Index i : split.test) {
    if (!valid[static_cast<size_t>(i)]) continue;
    neighborhoods.gather(valid, split.rows, split.cols, i / split.cols, i % split.cols, pixels);
    leaking += std::any_of(pixels.begin(), pixels.end(),
                           [&](Index p) { return training[static_cast<size_t>(p)] != 0; });
  }
  return static_cast<double>(leaking) / static_cast<double>(split.test.size());
}

}  // namespace hyperatom
