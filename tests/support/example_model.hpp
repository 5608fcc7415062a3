// A small valid model, with awkward names.
#pragma once

#include "hyperatom/learn/model.hpp"

namespace hyperatom::test {

inline Model example_model() {
  Model model;
  model.kernel = Spec::parse("gaussian(sigma=0.05)");
  model.loss = Spec::parse("squared");
  model.coding = {.lambda1 = 0.1, .lambda2 = 1.0 / 3, .tolerance = 1e-7, .max_steps = 123};
  model.window = 9;
  model.dictionary = (Matrix(3, 4) << 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1e-300).finished();
  model.weights = (Matrix(2, 4) << 0.1, -0.2, 0.3, -0.4, 5e300, -0.0, 0.7, 0.8).finished();
  model.bias = (Vector(2) << 0.25, -1.0 / 7).finished();
  model.atom_classes = {0, 0, 1, 1};
  model.normalizer = {"standard+unit", Vector::LinSpaced(3, 0, 1), Vector::LinSpaced(3, 1, 3), {}};
  model.wavelengths = (Vector(3) << 0.45, 0.55, 0.65).finished();
  model.class_ids = {2, 7};
  model.class_names = {"\"Corn\"\n\\no till\\", "W\xc3\xa4lder \xf0\x9f\x8c\xb2"};
  model.class_colours = {{255, 0, 128}, {1, 2, 3}};
  model.provenance = {{"seed", "7"}, {"command", "hyperatom train scene.bsq"}};
  return model;
}

}  // namespace hyperatom::test
