#include "bench/problem.hpp"

#include <cmath>

#include "hyperatom/base/random.hpp"
#include "hyperatom/learn/initialisation.hpp"
#include "hyperatom/scene/normalizer.hpp"
#include "hyperatom/scene/synthetic.hpp"

namespace hyperatom::bench {

Problem::Problem(const Size& size, Index window, const Spec& kernel)
    : kernel_(make_kernel(kernel)) {
  // The noise decides how coherent the atoms are, and with it the ratio to ADMM: docs/benchmarks.md
  // says how it was chosen.
  const SyntheticOptions options{.rows = 40,
                                 .cols = 60,
                                 .bands = size.bands,
                                 .classes = size.classes,
                                 .fields = 60,
                                 .noise = 0.001};
  const SyntheticScene scene = make_synthetic_scene(options);
  samples_.classes = size.classes;
  samples_.pixels = Normalizer::fit("unit", scene.pixels).apply(scene.pixels);
  const auto reach =
      static_cast<Index>(std::lround((std::sqrt(static_cast<double>(window)) - 1) / 2));
  const Index rows = scene.rows - 2 * reach, cols = scene.cols - 2 * reach;
  samples_.windows.resize(window, rows * cols);
  for (Index i = 0; i < rows * cols; ++i) {
    const Index centre = (reach + i / cols) * scene.cols + reach + i % cols;
    samples_.labels.push_back(scene.classes[static_cast<size_t>(centre)]);
    Index s = 0;
    samples_.windows(s++, i) = centre;
    for (Index r = -reach; r <= reach; ++r)
      for (Index c = -reach; c <= reach; ++c)
        if (r != 0 || c != 0) samples_.windows(s++, i) = centre + r * scene.cols + c;
  }
  const auto order = RandomStream(0, Purpose::atoms).permutation(samples_.size());
  D_.resize(size.bands, size.atoms);
  for (Index j = 0; j < size.atoms; ++j) D_.col(j) = samples_.centre(order[static_cast<size_t>(j)]);
  K_ = kernel_->gram(D_, D_);
  kernel_columns_ = kernel_->gram(D_, samples_.pixels);
}

Columns Problem::columns(Index i) {
  pointers_.clear();
  for (Index s = 0; s < samples_.window(); ++s)
    pointers_.push_back(&kernel_columns_(0, samples_.windows(s, i)));
  return {pointers_, D_.cols()};
}

}  // namespace hyperatom::bench
