#include "hyperatom/baselines/src.hpp"

#include <fmt/format.h>

namespace hyperatom {

Model make_src(const Samples& samples, const Spec& kernel, const CoderOptions& coding) {
  validate(samples);
  Model model;
  model.method = fmt::format("src-{}-{}", samples.window() == 1 ? "l1" : "l12",
                             kernel.name == "linear" ? "l" : "k");
  model.kernel = kernel;
  model.loss = Spec::parse("squared");
  model.coding = coding;
  model.window = samples.window();
  model.dictionary.resize(samples.bands(), samples.size());
  for (Index i = 0; i < samples.size(); ++i) model.dictionary.col(i) = samples.centre(i);
  model.atom_classes = samples.labels;
  return model;
}

}  // namespace hyperatom
