#include "hyperatom/baselines/method.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hyperatom/base/error.hpp"
#include "hyperatom/baselines/src.hpp"
#include "hyperatom/baselines/svm.hpp"
#include "hyperatom/learn/trainer.hpp"

namespace hyperatom {

std::set<std::string> Method::options() const {
  if (family == Family::svm) return {"kernel", "cost"};
  if (family == Family::src) return {"kernel", "lambda1", "lambda2", "tolerance"};
  std::set<std::string> names;
  TrainOptions all;
  for (const Field& field : all.fields()) names.insert(field.name);
  names.erase("cost");
  return names;
}

void Method::expect_fits(Index window, const Spec& kernel_spec) const {
  if (joint != (window > 1))
    throw OptionError(fmt::format("--method {} means a window of {}, not {}", name,
                                  joint ? "more than 1" : "1", window));
  if (kernel != (kernel_spec.name != "linear"))
    throw OptionError(fmt::format("--method {} means {} kernel, not {}", name,
                                  kernel ? "another than the linear" : "the linear",
                                  kernel_spec.name));
  if (family == Family::svm && kernel && kernel_spec.name != "gaussian")
    throw OptionError(
        fmt::format("--method {} means the gaussian kernel, not {}", name, kernel_spec.name));
}

const std::vector<Method>& methods() {
  using Family = Method::Family;
  static const std::vector<Method> all = {
      {"svm-l", Family::svm, false, false},    {"svm-k", Family::svm, false, true},
      {"src-l1-l", Family::src, false, false}, {"src-l1-k", Family::src, false, true},
      {"src-l12-l", Family::src, true, false}, {"src-l12-k", Family::src, true, true},
      {"sdl-l1-l", Family::sdl, false, false}, {"sdl-l1-k", Family::sdl, false, true},
      {"sdl-l12-l", Family::sdl, true, false}, {"sdl-l12-k", Family::sdl, true, true}};
  return all;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& method : methods()) names.push_back(method.name);
  return names;
}

const Method& find_method(const std::string& name) {
  for (const Method& method : methods())
    if (method.name == name) return method;
  throw OptionError(fmt::format("unknown method '{}'; known: {}", name, join(method_names())));
}

Model fit(const Method& method, const Samples& samples, const TrainOptions& options,
          const std::function<bool()>& keep_going) {
  method.expect_fits(samples.window(), options.kernel);
  if (method.family == Method::Family::svm) return train_svm(samples, options.kernel, options.cost);
  if (method.family == Method::Family::src)
    return make_src(samples, options.kernel, options.coding());
  Trainer trainer(samples, options);
  trainer.run([&](const StepReport&) { return !keep_going || keep_going(); });
  return trainer.model();
}

}  // namespace hyperatom
