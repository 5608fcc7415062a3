#include "hyperatom/baselines/svm.hpp"

#include <fmt/format.h>
#include <libsvm/svm.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "hyperatom/base/error.hpp"
#include "hyperatom/kernel/kernel.hpp"

namespace hyperatom {
namespace {

struct DestroyModel {
  void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
};

/// The samples in the order of their classes, so that LIBSVM numbers the classes as we do.
std::vector<Index> by_class(const Samples& samples) {
  std::vector<Index> order(at(samples.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return samples.label(a) < samples.label(b); });
  return order;
}

/// All pixels in LIBSVM's form: (band, value) pairs, each pixel ended by band -1.
class Problem {
 public:
  Problem(const Samples& samples, const std::vector<Index>& order) {
    const Index bands = samples.bands();
    nodes_.reserve(order.size() * at(bands + 1));
    for (const Index i : order) {
      const auto pixel = samples.centre(i);
      for (Index b = 0; b < bands; ++b) nodes_.push_back({static_cast<int>(b) + 1, pixel[b]});
      nodes_.push_back({-1, 0});
      labels_.push_back(static_cast<double>(samples.label(i)));
    }
    for (size_t i = 0; i < order.size(); ++i) rows_.push_back(&nodes_[i * at(bands + 1)]);
  }

  svm_problem view() { return {static_cast<int>(labels_.size()), labels_.data(), rows_.data()}; }

 private:
  std::vector<svm_node> nodes_;
  std::vector<svm_node*> rows_;
  std::vector<double> labels_;
};

svm_parameter parameters(const Spec& kernel, double cost) {
  svm_parameter parameter = {};
  parameter.svm_type = C_SVC;
  if (kernel.name == "linear") {
    parameter.kernel_type = LINEAR;
  } else if (kernel.name == "gaussian") {
    parameter.kernel_type = RBF;
    parameter.gamma = 1 / SpecReader(kernel).require("sigma");
  } else {
    throw OptionError(
        fmt::format("an SVM needs the linear or the gaussian kernel, not {}", kernel.to_string()));
  }
  if (!(cost > 0) || !std::isfinite(cost))
    throw OptionError(fmt::format("cost must be greater than 0, not {}", cost));
  parameter.C = cost;
  parameter.cache_size = 200;
  parameter.eps = 1e-3;
  parameter.shrinking = 1;
  return parameter;
}

}  // namespace

Model train_svm(const Samples& samples, const Spec& kernel, double cost) {
  validate(samples);
  make_kernel(kernel);
  const svm_parameter parameter = parameters(kernel, cost);
  const std::vector<Index> order = by_class(samples);
  Problem problem(samples, order);
  const svm_problem view = problem.view();
  svm_set_print_string_function([](const char*) {});
  if (const char* wrong = svm_check_parameter(&view, &parameter))
    throw OptionError(fmt::format("LIBSVM: {}", wrong));
  const std::unique_ptr<svm_model, DestroyModel> trained(svm_train(&view, &parameter));

  Model model;
  model.method = kernel.name == "linear" ? "svm-l" : "svm-k";
  model.kernel = kernel;
  model.loss = Spec::parse("squared-hinge");
  model.window = 1;
  const Index atoms = trained->l, classes = samples.classes;
  model.dictionary.resize(samples.bands(), atoms);
  model.weights.resize(classes - 1, atoms);
  for (Index a = 0; a < atoms; ++a) {
    const Index sample = order[static_cast<size_t>(trained->sv_indices[a]) - 1];
    model.dictionary.col(a) = samples.centre(sample);
    model.atom_classes.push_back(samples.label(sample));
    for (Index row = 0; row < classes - 1; ++row) model.weights(row, a) = trained->sv_coef[row][a];
  }
  model.bias = Eigen::Map<const Vector>(trained->rho, classes * (classes - 1) / 2);
  return model;
}

}  // namespace hyperatom
