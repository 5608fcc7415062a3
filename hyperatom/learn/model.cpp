#include "hyperatom/learn/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hyperatom/base/error.hpp"
#include "hyperatom/kernel/kernel.hpp"
#include "hyperatom/learn/loss.hpp"

namespace hyperatom {
namespace {

constexpr Index max_window = 10000;
constexpr Index max_classes = 65535;  // what a map can hold

template <class... Arguments>
void expect(bool holds, fmt::format_string<Arguments...> message, Arguments&&... arguments) {
  if (holds) return;
  throw DataError("the model's " + fmt::format(message, std::forward<Arguments>(arguments)...));
}

void expect_shape(const char* field, const Matrix& values, Index rows, Index cols,
                  const char* meaning) {
  expect(values.rows() == rows && values.cols() == cols, "{} is {} x {}, expected {} x {} ({})",
         field, values.rows(), values.cols(), rows, cols, meaning);
}

void expect_count(const char* field, size_t found, Index expected, const char* meaning) {
  expect(found == static_cast<size_t>(expected), "{} has {} entries, expected {} ({})", field,
         found, expected, meaning);
}

void expect_vector(const char* field, const Vector& values, Index expected, const char* meaning) {
  expect_count(field, static_cast<size_t>(values.size()), expected, meaning);
  expect(values.allFinite(), "{} has an entry that is not finite", field);
}

/// Of the weights and the bias, which depend on the rule.
void expect_rule(const Model& model) {
  const Index classes = model.classes();
  if (model.rule() == Model::Rule::residual) {
    expect_shape("weights", model.weights, 0, 0, "a method without weights");
    expect_vector("bias", model.bias, 0, "a method without weights");
  } else if (model.rule() == Model::Rule::votes) {
    expect(classes >= 2, "class_ids has 1 entry, expected 2 or more for {}", model.method);
    expect_shape("weights", model.weights, classes - 1, model.atoms(), "other classes x atoms");
    expect_vector("bias", model.bias, classes * (classes - 1) / 2, "pairs of classes");
    expect(model.window == 1, "window is {}, expected 1 for {}", model.window, model.method);
    expect(std::is_sorted(model.atom_classes.begin(), model.atom_classes.end()),
           "atom_classes are not in order, expected support vectors class by class");
  } else {
    expect_shape("weights", model.weights, classes, model.atoms(), "classes x atoms");
    expect_vector("bias", model.bias, classes, "classes");
  }
  expect(model.weights.allFinite(), "weights have an entry that is not finite");
}

void expect_dictionary(const Model& model) {
  expect(model.features() >= 1 && model.atoms() >= 1,
         "dictionary is {} x {}, expected an atom or more", model.features(), model.atoms());
  expect(model.dictionary.allFinite(), "dictionary has an entry that is not finite");
}

void expect_atom_classes(const Model& model) {
  expect_count("atom_classes", model.atom_classes.size(), model.atoms(), "atoms");
  for (const Index c : model.atom_classes)
    expect(c >= 0 && c < model.classes(), "atom_classes has a {}, expected 0 to {}", c,
           model.classes() - 1);
}

/// Labels may leave numbers out (a class without training pixels); maps keep the numbering.
void expect_class_ids(const Model& model) {
  expect(model.classes() >= 1 && model.classes() <= max_classes,
         "class_ids has {} entries, expected one per class, 1 to {}", model.classes(), max_classes);
  Index last = 0;
  for (const Index id : model.class_ids) {
    expect(id > last && id <= max_classes, "class_ids has {} after {}, expected {} to {}", id, last,
           last + 1, max_classes);
    last = id;
  }
}

void expect_normalizer(const Normalizer& normalizer, Index features) {
  const std::vector<std::string> kinds = normalizer_kinds();
  expect(std::find(kinds.begin(), kinds.end(), normalizer.kind) != kinds.end(),
         "normalizer is '{}', expected one of {}", normalizer.kind, join(kinds));
  Index bands = features;
  if (learns_from_noise(normalizer.kind)) {
    const RowMatrix& mix = normalizer.mix;
    expect(mix.rows() == features && mix.cols() >= features,
           "normalizer.mix is {} x {}, expected {} (features of an atom) x as many bands or more",
           mix.rows(), mix.cols(), features);
    expect(mix.allFinite(), "normalizer.mix has an entry that is not finite");
    bands = mix.cols();
  } else {
    expect(normalizer.mix.size() == 0, "normalizer.mix is {} x {}, expected none for {}",
           normalizer.mix.rows(), normalizer.mix.cols(), normalizer.kind);
  }
  expect_vector("normalizer.offset", normalizer.offset, bands, "bands");
  expect_vector("normalizer.scale", normalizer.scale, bands, "bands");
}

/// A spec that its text form would not give back can't be stored.
void expect_readable(const Spec& spec) {
  const std::string text = spec.to_string();
  if (Spec::parse(text) != spec) throw OptionError(fmt::format("'{}' reads back changed", text));
}

void expect_settings(const Model& model) {
  const char* field = "kernel";
  try {
    expect_readable(model.kernel);
    make_kernel(model.kernel);
    field = "loss";
    expect_readable(model.loss);
    make_loss(model.loss);
    field = "coding";
    Coder(Matrix::Ones(1, 1), model.coding);  // knows which options are valid
  } catch (const OptionError& error) {
    expect(false, "{} is unfit: {}", field, error.what());
  }
  expect(model.window >= 1 && model.window <= max_window, "window is {}, expected 1 to {}",
         model.window, max_window);
}

}  // namespace

void validate(const Model& model) {
  expect_dictionary(model);
  expect_class_ids(model);
  expect_atom_classes(model);
  expect_rule(model);
  expect_normalizer(model.normalizer, model.features());
  if (model.wavelengths.size() > 0) {
    expect_vector("wavelengths", model.wavelengths, model.bands(), "bands");
    expect(model.wavelengths.minCoeff() > 0, "wavelengths begin at {}, expected more than 0",
           model.wavelengths.minCoeff());
  }
  expect_count("class_names", model.class_names.size(), model.classes(), "classes");
  expect_count("class_colours", model.class_colours.size(), model.classes(), "classes");
  expect_settings(model);
}

}  // namespace hyperatom
