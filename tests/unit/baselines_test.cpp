// The paper's rival methods as models: the SVM against LIBSVM's own prediction, the sparse
// representation classifier against residuals computed in the space of the pixels.
#include <gtest/gtest.h>
#include <libsvm/svm.h>

#include "hyperatom/base/error.hpp"
#include "hyperatom/baselines/src.hpp"
#include "hyperatom/baselines/svm.hpp"
#include "hyperatom/kernel/kernel.hpp"
#include "hyperatom/learn/model_file.hpp"
#include "hyperatom/predict/classifier.hpp"
#include "tests/support/small_scene.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hyperatom {
namespace {

using test::small_scene;
using test::TemporaryFolder;

/// What `train` would fill in.
void complete(Model& model, const Samples& samples) {
  model.normalizer = {"none", Vector::Zero(samples.bands()), Vector::Ones(samples.bands()), {}};
  for (Index c = 0; c < samples.classes; ++c) {
    model.class_ids.push_back(c + 1);
    model.class_names.push_back("class " + std::to_string(c + 1));
    model.class_colours.push_back({});
  }
}

/// The pixels of a `small_scene` of that side as a scene.
Scene scene_of(const Samples& samples, Index side) {
  Scene scene;
  scene.info = {
      .path = "memory", .format = "memory", .rows = side, .cols = side, .bands = samples.bands()};
  scene.data.pixels = samples.pixels.cast<float>();
  mark_valid(scene.data, std::nullopt);
  return scene;
}

std::vector<std::int32_t> map_of(const Model& model, const Scene& scene) {
  std::vector<std::int32_t> ids;
  const auto source = make_source(scene);
  Classifier(model).classify(*source, {}, [&](const ClassifiedStrip& strip) {
    ids.insert(ids.end(), strip.ids.begin(), strip.ids.end());
  });
  return ids;
}

/// LIBSVM from its own structures, the long way: training and prediction.
std::vector<std::int32_t> libsvm_map(const Samples& samples, const Scene& scene, double gamma,
                                     double cost) {
  const Index bands = samples.bands();
  const auto nodes = [bands](const auto& pixel) {
    std::vector<svm_node> row;
    for (Index b = 0; b < bands; ++b)
      row.push_back({static_cast<int>(b) + 1, static_cast<double>(pixel[b])});
    row.push_back({-1, 0});
    return row;
  };
  std::vector<std::vector<svm_node>> rows;
  std::vector<svm_node*> pointers;
  std::vector<double> labels;
  for (Index i = 0; i < samples.size(); ++i) {
    rows.push_back(nodes(samples.centre(i)));
    labels.push_back(static_cast<double>(samples.label(i) + 1));
  }
  for (auto& row : rows) pointers.push_back(row.data());
  const svm_problem problem = {static_cast<int>(labels.size()), labels.data(), pointers.data()};
  svm_parameter parameter = {};
  parameter.svm_type = C_SVC;
  parameter.kernel_type = gamma > 0 ? RBF : LINEAR;
  parameter.gamma = gamma;
  parameter.C = cost;
  parameter.cache_size = 100;
  parameter.eps = 1e-3;
  parameter.shrinking = 1;
  svm_set_print_string_function([](const char*) {});
  svm_model* model = svm_train(&problem, &parameter);
  std::vector<std::int32_t> ids;
  for (Index i = 0; i < scene.info.pixels(); ++i)
    ids.push_back(
        static_cast<std::int32_t>(svm_predict(model, nodes(scene.data.pixels.col(i)).data())));
  svm_free_and_destroy_model(&model);
  return ids;
}

TEST(Svm, AgreesWithLibsvm) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Samples samples = small_scene(seed, 14, 1, 0.15);
    const Samples other = small_scene(seed + 10, 14, 1, 0.25);
    const Scene scene = scene_of(other, 14);
    for (const double cost : {0.5, 100.0})
      for (const char* kernel : {"linear", "gaussian(sigma=0.3)"}) {
        Model model = train_svm(samples, Spec::parse(kernel), cost);
        complete(model, samples);
        validate(model);
        const double gamma = model.kernel.name == "linear" ? 0 : 1 / 0.3;
        const auto ours = map_of(model, scene), theirs = libsvm_map(samples, scene, gamma, cost);
        // The order of the training pixels moves LIBSVM's solution within its tolerance.
        Index different = 0;
        for (size_t i = 0; i < ours.size(); ++i) different += ours[i] != theirs[i];
        EXPECT_LE(different, 2) << kernel << " C " << cost << " seed " << seed;
      }
  }
}

TEST(Svm, SurvivesItsFileAndRefusesWhatItCannotBe) {
  const Samples samples = small_scene(1, 10, 1, 0.1);
  Model model = train_svm(samples, Spec::parse("gaussian(sigma=0.3)"), 10);
  complete(model, samples);
  const TemporaryFolder folder;
  save_model(model, folder / "model.safetensors");
  const Model read = load_model(folder / "model.safetensors");
  EXPECT_EQ(read.method, "svm-k");
  EXPECT_EQ(read.weights, model.weights);
  EXPECT_EQ(read.bias, model.bias);
  const Scene scene = scene_of(samples, 10);
  EXPECT_EQ(map_of(read, scene), map_of(model, scene));
  model.bias.conservativeResize(model.bias.size() - 1);
  EXPECT_THROW(validate(model), DataError);
  EXPECT_THROW(train_svm(samples, Spec::parse("polynomial(degree=2,offset=1)"), 1), OptionError);
  EXPECT_THROW(train_svm(samples, Spec::parse("linear"), 0), OptionError);
  EXPECT_THROW(train_svm(samples, Spec::parse("linear"), HUGE_VAL), OptionError);
}

/// With the linear kernel feature space is pixel space: the residual can be computed there.
TEST(Src, ResidualsOfEveryClassAsDefined) {
  for (const Index window : {1, 9}) {
    const Samples samples = small_scene(4, 9, window, 0.1);
    Model model = make_src(samples, Spec::parse("linear"),
                           {.lambda1 = 0.05 * std::sqrt(window), .lambda2 = 0.01});
    complete(model, samples);
    validate(model);
    EXPECT_EQ(model.method, window == 1 ? "src-l1-l" : "src-l12-l");
    const Scene scene = scene_of(samples, 9);
    const auto source = make_source(scene);
    const Classifier classifier(model);
    for (const auto& [row, col] : {std::pair<Index, Index>{4, 4}, {0, 0}, {7, 2}}) {
      const Explanation why = classifier.explain(*source, row, col);
      Matrix X(samples.bands(), window);
      for (Index s = 0; s < window; ++s)
        X.col(s) = scene.data.pixels.col(why.window[static_cast<size_t>(s)]).cast<double>();
      const Matrix A = why.code.dense(model.atoms());
      for (Index c = 0; c < model.classes(); ++c) {
        Matrix own = A;
        for (Index j = 0; j < model.atoms(); ++j)
          if (model.atom_classes[static_cast<size_t>(j)] != c) own.row(j).setZero();
        const double error = (X - model.dictionary * own).squaredNorm() / X.squaredNorm();
        EXPECT_NEAR(why.scores[c], -error, 1e-10);
      }
    }
  }
}

/// In the kernel domain, against the Gram matrix of atoms and window together.
TEST(Src, ResidualsInTheKernelDomain) {
  const Samples samples = small_scene(5, 9, 9, 0.1);
  Model model = make_src(samples, Spec::parse("gaussian(sigma=0.4)"), {.lambda1 = 0.1});
  complete(model, samples);
  const auto kernel = make_kernel(model.kernel);
  const Scene scene = scene_of(samples, 9);
  const auto source = make_source(scene);
  const Explanation why = Classifier(model).explain(*source, 4, 5);
  Matrix X(samples.bands(), 9);
  for (Index s = 0; s < 9; ++s)
    X.col(s) = scene.data.pixels.col(why.window[static_cast<size_t>(s)]).cast<double>();
  Matrix points(samples.bands(), model.atoms() + 9);
  points << model.dictionary, X;
  const Matrix gram = kernel->gram(points, points);
  for (Index c = 0; c < model.classes(); ++c) {
    Matrix weights = Matrix::Zero(points.cols(), 9);  // of Phi(X) - Phi(D_c) A_c
    weights.topRows(model.atoms()) = -why.code.dense(model.atoms());
    for (Index j = 0; j < model.atoms(); ++j)
      if (model.atom_classes[static_cast<size_t>(j)] != c) weights.row(j).setZero();
    weights.bottomRows(9).setIdentity();
    EXPECT_NEAR(why.scores[c], -(weights.transpose() * gram * weights).trace() / 9, 1e-10);
  }
}

TEST(Src, KnowsItsTrainingPixels) {
  const Samples samples = small_scene(6, 12, 9, 0.02);
  Model model = make_src(samples, Spec::parse("gaussian(sigma=0.4)"), {.lambda1 = 0.1});
  complete(model, samples);
  const std::vector<std::int32_t> map = map_of(model, scene_of(samples, 12));
  Index right = 0;
  for (Index i = 0; i < samples.size(); ++i)
    right += map[static_cast<size_t>(samples.windows(0, i))] == samples.label(i) + 1;
  EXPECT_GT(right, samples.size() * 8 / 10);
}

}  // namespace
}  // namespace hyperatom
