#include "apps/hyperatom/request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hyperatom/base/error.hpp"
#include "hyperatom/kernel/kernel.hpp"
#include "hyperatom/learn/automatic.hpp"
#include "hyperatom/learn/loss.hpp"

namespace hyperatom::cli {

namespace fs = std::filesystem;

std::string flag_name(const Field& field) {
  const bool* const* flag = std::get_if<bool*>(&field.value);
  return (flag != nullptr && **flag ? "no-" : "") + field.name;
}

void TrainRequest::declare_data(Arguments& arguments) {
  using Need = Arguments::Need;
  scene.declare(arguments, Need::optional);
  labels.declare(arguments, Need::optional);
  arguments.option(
      {.name = "split",
       .value = &split,
       .help = "a split file: which labelled pixels are for training, which for testing"});
  arguments.option({.name = "test-labels",
                    .value = &test_labels,
                    .help = "labels to test on; --labels are then all for training"});
}

void TrainRequest::declare_options(Arguments& arguments, const std::set<std::string>& without) {
  Fields of_request = settings(), of_trainer = options.fields();
  std::erase_if(of_request, [&](const Field& field) { return without.contains(field.name); });
  std::erase_if(of_trainer, [&](const Field& field) {
    return field.name == "seed" || without.contains(field.name);  // every verb has a seed
  });
  arguments.options(of_request, given);
  arguments.options(of_trainer, given, automatic_settings());
}

void TrainRequest::expect_data(const std::string& verb) const {
  if (scene.path.empty()) throw OptionError(verb + " needs a scene");
  if (labels.path.empty()) throw OptionError(verb + " needs --labels");
  if (!split.empty() && !test_labels.empty())
    throw OptionError("--split and --test-labels both say what to test on: give one of them");
}

bool TrainRequest::anything() const {
  const std::string* texts[] = {&scene.path,      &scene.variable,     &scene.mask, &labels.path,
                                &labels.variable, &labels.class_field, &split,      &test_labels};
  return std::ranges::any_of(texts, [](auto* text) { return !text->empty(); }) ||
         labels.all_touched || labels.crs != "file" || !given.empty();
}

Fields TrainRequest::settings() {
  return {{.name = "method",
           .value = &method,
           .help = "method of the paper",
           .choices = method_names()},
          {.name = "window",
           .value = &window,
           .help = "pixels that are coded together: the closest ones; 9, 25, 49 are squares",
           .symbol = "S",
           .lowest = 1,
           .highest = 10000},
          {.name = "normalize",
           .value = &normalize,
           .help = "scaling of the pixels, fitted on this scene and kept in the model",
           .choices = normalizer_kinds()}};
}

Fields TrainRequest::fields() {
  Fields all = {{.name = "scene", .value = &scene.path},
                {.name = "variable", .value = &scene.variable},
                {.name = "mask", .value = &scene.mask},
                {.name = "labels", .value = &labels.path},
                {.name = "label-variable", .value = &labels.variable},
                {.name = "class-field", .value = &labels.class_field},
                {.name = "all-touched", .value = &labels.all_touched},
                {.name = "label-crs", .value = &labels.crs},
                {.name = "test-labels", .value = &test_labels},
                {.name = "split", .value = &split}};
  const Fields more = settings();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

void apply_method(TrainRequest& request) {
  const Method& method = find_method(request.method);
  if (!method.joint && !request.given.contains("window")) request.window = 1;
  if (!method.kernel && !request.given.contains("kernel")) {
    request.options.kernel = {"linear", {}};
    request.given.insert("kernel");
  }
  method.expect_fits(request.window, request.options.kernel);
  const std::set<std::string> heeded = method.options();
  TrainOptions all;
  for (const Field& field : all.fields())
    if (request.given.contains(field.name) && !heeded.contains(field.name))
      throw OptionError(
          fmt::format("--{} means nothing to --method {}", flag_name(field), method.name));
}

void expect_specs(const TrainOptions& options) {
  const char* option = "--kernel";
  try {
    if (options.kernel != Spec{"gaussian", {}}) make_kernel(options.kernel);
    option = "--loss";
    make_loss(options.loss);
  } catch (const OptionError& error) {
    throw OptionError(fmt::format("{}: {}", option, error.what()));
  }
}

void make_absolute(TrainRequest& request) {
  for (std::string* path : {&request.scene.path, &request.scene.mask, &request.labels.path,
                            &request.test_labels, &request.split})
    if (!path->empty()) *path = fs::absolute(*path).lexically_normal().string();
}

}  // namespace hyperatom::cli
