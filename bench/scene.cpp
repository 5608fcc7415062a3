// What bench/scaling.py can't measure from outside the command: parts of classifying a scene,
// LIBSVM's prediction, and parts of training. Each work prints one JSON object; times are in
// seconds, the shortest of repeats that take turns, of one thread and in processor time unless
// their name has `wall` in it.
//
//   classify REPEATS SCENE MODEL        a scene in memory: its parts, and the bare cost of a kernel
//   svm REPEATS SCENE MODEL ROWS        LIBSVM's svm_predict, for some rows of the scene
//   epoch REPEATS SCENE LABELS MODEL    an epoch of training, and coding its windows once
//   curve SCENE LABELS MODEL OPTIMIZER RHO BATCH EPOCHS
//                                       loss of the training pixels against seconds of training
//
// Training begins afresh, with the kernel, lambda1, window and normaliser of MODEL.
#include <libsvm/svm.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/processor_time.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/io/label_reader.hpp"
#include "hyperatom/io/scene_reader.hpp"
#include "hyperatom/learn/model_file.hpp"
#include "hyperatom/learn/scene_samples.hpp"
#include "hyperatom/learn/trainer.hpp"
#include "hyperatom/predict/classifier.hpp"

namespace hyperatom::bench {
namespace {

using Json = nlohmann::ordered_json;

/// The shortest of several times.
struct Shortest {
  double seconds = std::numeric_limits<double>::infinity();  ///< of the processor
  double wall = seconds;

  template <class Work>
  void time(const Work& work) {
    const double begin = processor_seconds(), wall_begin = wall_seconds();
    work();
    seconds = std::min(seconds, processor_seconds() - begin);
    wall = std::min(wall, wall_seconds() - wall_begin);
  }
};

/// In their order: those that are classified.
MatrixF valid_pixels(const Strip& strip) {
  MatrixF pixels(strip.pixels.rows(), std::count(strip.valid.begin(), strip.valid.end(), 1));
  for (Index i = 0, next = 0; i < strip.pixels.cols(); ++i)
    if (strip.valid[at(i)]) pixels.col(next++) = strip.pixels.col(i);
  return pixels;
}

// ---- Classifying

/// Calls work(begin, size) for blocks of so many of n pixels.
template <class Work>
void by_blocks(Index n, Index block, const Work& work) {
  for (Index begin = 0; begin < n; begin += block) work(begin, std::min(block, n - begin));
}

/// What nobody can do without: a product of matrices and exponentials, by Eigen, with nothing kept.
/// Of spectra as the scene has them: which features the model makes of them is its own affair.
class BareGaussian {
 public:
  BareGaussian(const Matrix& D, double sigma)
      : D_(D), squares_(D.colwise().squaredNorm()), scale_(-1 / sigma), K_(D.cols(), block) {}

  void operator()(const Matrix& X) {
    by_blocks(X.cols(), block, [&](Index begin, Index size) {
      const auto pixels = X.middleCols(begin, size);
      auto K = K_.leftCols(size);
      K.noalias() = D_.transpose() * pixels;
      for (Index j = 0; j < size; ++j)
        K.col(j) =
            (scale_ * (squares_.array() + pixels.col(j).squaredNorm() - 2 * K.col(j).array()))
                .exp();
    });
  }

 private:
  static constexpr Index block = 256;  // fits the second-level cache

  const Matrix& D_;
  Vector squares_;
  double scale_;
  Matrix K_;
};

Json classify(int repeats, const std::string& scene_path, const Model& model) {
  constexpr Index block = 64;  // as Classifier has it
  const auto file = open_scene(scene_path);
  Scene scene;
  Shortest read;
  for (int repeat = 0; repeat <= repeats; ++repeat) read.time([&] { scene = read_all(*file); });
  const MatrixF pixels = valid_pixels(scene.data);
  const auto source = make_source(scene);
  const auto kernel = make_kernel(model.kernel);
  const Classifier classifier(model);
  Matrix X(model.features(), pixels.cols()), K(model.atoms(), block);
  const Matrix spectra = pixels.cast<double>().colwise().normalized();
  const Matrix atoms = spectra.leftCols(model.atoms());
  BareGaussian bare(atoms, SpecReader(model.kernel).require("sigma"));
  ClassifyReport report;
  const auto classify_all = [&] {
    report = classifier.classify(*source, {}, [](const ClassifiedStrip&) {});
  };
  Shortest normalise, bare_kernel, gram, one_thread, two_threads;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    normalise.time([&] {
      by_blocks(X.cols(), block, [&](Index begin, Index size) {
        model.normalizer.apply(pixels.middleCols(begin, size), X.middleCols(begin, size));
      });
    });
    bare_kernel.time([&] { bare(spectra); });
    gram.time([&] {
      by_blocks(X.cols(), block, [&](Index begin, Index size) {
        kernel->gram(model.dictionary, X.middleCols(begin, size), K.leftCols(size));
      });
    });
    one_thread.time(classify_all);
    const ThreadLimit two(2);
    two_threads.time(classify_all);
  }
  return {{"pixels", pixels.cols()},
          {"bands", pixels.rows()},
          {"features", model.features()},
          {"atoms", model.atoms()},
          {"window", model.window},
          {"active", report.active},
          {"unconverged", report.unconverged},
          {"read", read.seconds},
          {"normalise", normalise.seconds},
          {"gram", gram.seconds},
          {"bare", bare_kernel.seconds},
          {"whole", one_thread.seconds},
          {"wall_one", one_thread.wall},
          {"wall_two", two_threads.wall}};
}

// ---- LIBSVM

/// Pixels as LIBSVM has them: (band, value) pairs, each pixel ended by band -1.
class Nodes {
 public:
  explicit Nodes(const Matrix& pixels) {
    const Index bands = pixels.rows();
    nodes_.reserve(static_cast<size_t>((bands + 1) * pixels.cols()));
    for (Index j = 0; j < pixels.cols(); ++j) {
      for (Index b = 0; b < bands; ++b) nodes_.push_back({static_cast<int>(b) + 1, pixels(b, j)});
      nodes_.push_back({-1, 0});
    }
    for (Index j = 0; j < pixels.cols(); ++j) pixels_.push_back(&nodes_[at(j * (bands + 1))]);
  }

  std::vector<svm_node*>& pixels() { return pixels_; }

 private:
  std::vector<svm_node> nodes_;
  std::vector<svm_node*> pixels_;
};

/// A model of ours (hyperatom/baselines/svm.hpp) as LIBSVM's own.
class LibsvmModel {
 public:
  explicit LibsvmModel(const Model& model)
      : vectors_(model.dictionary),
        weights_(model.weights),
        rho_(model.bias.begin(), model.bias.end()) {
    svm_.param.svm_type = C_SVC;
    svm_.param.kernel_type = RBF;
    svm_.param.gamma = 1 / SpecReader(model.kernel).require("sigma");
    svm_.nr_class = static_cast<int>(model.classes());
    svm_.l = static_cast<int>(model.atoms());
    svm_.SV = vectors_.pixels().data();
    for (Index row = 0; row < weights_.rows(); ++row)
      coefficients_.push_back(weights_.row(row).data());
    svm_.sv_coef = coefficients_.data();
    svm_.rho = rho_.data();
    labels_.resize(at(model.classes()));
    counts_.resize(at(model.classes()));
    for (size_t c = 0; c < labels_.size(); ++c) labels_[c] = static_cast<int>(c);
    for (const Index c : model.atom_classes) ++counts_[at(c)];
    svm_.label = labels_.data();
    svm_.nSV = counts_.data();
  }

  Index predict(const svm_node* pixel) const {
    return static_cast<Index>(svm_predict(&svm_, pixel));
  }

 private:
  Nodes vectors_;
  RowMatrix weights_;
  std::vector<double> rho_;
  std::vector<double*> coefficients_;
  std::vector<int> labels_, counts_;
  svm_model svm_ = {};
};

/// Normalising the pixels and bringing them into LIBSVM's form is not counted.
Json predict_by_svm(int repeats, const std::string& scene_path, const Model& model, Index rows) {
  const auto source = open_scene(scene_path);
  const Index first = (source->info().rows - rows) / 2;
  Strip strip;
  source->read(first, rows, strip);
  Nodes nodes(model.normalizer.apply(valid_pixels(strip)));
  const LibsvmModel svm(model);
  std::vector<Index> classes(nodes.pixels().size());
  Shortest predict;
  for (int repeat = 0; repeat < repeats; ++repeat)
    predict.time([&] {
      for (size_t j = 0; j < classes.size(); ++j) classes[j] = svm.predict(nodes.pixels()[j]);
    });
  // Its classes must be those that our own prediction with this model gives the same pixels.
  std::vector<Index> ours;
  Classifier(model).classify(
      *source, {.first = first, .count = rows}, [&](const ClassifiedStrip& classified) {
        std::copy_if(classified.ids.begin(), classified.ids.end(), std::back_inserter(ours),
                     [](Index id) { return id > 0; });
      });
  Index differ = 0;
  for (size_t j = 0; j < classes.size(); ++j)
    differ += ours.at(j) != model.class_ids[at(classes[j])];
  return {{"support_vectors", model.atoms()},
          {"pixels", classes.size()},
          {"differ", differ},
          {"seconds", predict.seconds}};
}

// ---- Training

Samples read_samples(const std::string& scene_path, const std::string& labels_path,
                     const Model& model) {
  const auto source = open_scene(scene_path);
  const Labels labels = read_labels(labels_path, source->info()).labels;
  std::vector<Index> labelled;
  for (Index i = 0; i < labels.pixels(); ++i)
    if (labels.id(i) > 0) labelled.push_back(i);
  return gather_samples(*source, labels, labelled, model.window, model.normalizer).samples;
}

TrainOptions options_of(const Model& model, Index epochs) {
  TrainOptions options;
  options.kernel = model.kernel;
  options.lambda1 = model.coding.lambda1;
  options.tolerance = model.coding.tolerance;
  options.epochs = epochs;
  return options;
}

/// Forms k(D, D) and, for every window, k(D, X), and codes it, from where `starts` say.
void code_all(const Trainer& trainer, const Samples& samples, const Kernel& kernel,
              std::span<const WarmStart> starts) {
  const Matrix& D = trainer.parameters().D;
  const Coder coder(kernel.gram(D, D), trainer.checkpoint().options.coding());
  WindowCoder worker(coder);
  for (Index i = 0; i < samples.size(); ++i) {
    const Matrix X = samples.window_pixels(i);
    const Matrix B = kernel.gram(D, X);
    worker.start(starts[at(i)]);
    worker.encode(MatrixColumns(B).view(), kernel.diagonal(X).sum());
  }
}

Json epoch(int repeats, const Samples& samples, const Model& model) {
  const auto kernel = make_kernel(model.kernel);
  Trainer trainer(samples, options_of(model, repeats + 1));
  const Index steps = trainer.steps() / (repeats + 1);
  const auto pass = [&] {
    for (Index k = 0; k < steps; ++k) trainer.step();
  };
  const std::vector<WarmStart> nothing(at(samples.size()));
  pass();  // from now on every window has a code to start from
  Shortest training, cold, warm;
  double active = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    training.time(pass);
    const std::vector<WarmStart> starts = trainer.checkpoint().warm;
    cold.time([&] { code_all(trainer, samples, *kernel, nothing); });
    warm.time([&] { code_all(trainer, samples, *kernel, starts); });
    active = 0;
    for (const WarmStart& start : starts)
      active += static_cast<double>(start.rows.size()) / static_cast<double>(samples.size());
  }
  return {{"pixels", samples.size()},
          {"features", samples.bands()},
          {"atoms", trainer.parameters().atoms()},
          {"window", samples.window()},
          {"active", active},
          {"epoch", training.seconds},
          {"coding_afresh", cold.seconds},
          {"coding_warm", warm.seconds}};
}

/// After every epoch, the loss of all training pixels by codes of their own: neither counts.
Json curve(const Samples& samples, const TrainOptions& options) {
  Trainer trainer(samples, options);
  const auto loss = [&] {
    Trainer judge(samples, options, trainer.parameters(), trainer.checkpoint().atom_classes);
    return judge.score(judge.training()).loss;
  };
  std::vector<double> losses = {loss()}, times = {0};
  const Index steps = trainer.steps() / options.epochs;
  try {
    for (Index e = 0; e < options.epochs; ++e) {
      const double begin = processor_seconds();
      for (Index k = 0; k < steps; ++k) trainer.step();
      times.push_back(times.back() + processor_seconds() - begin);
      losses.push_back(loss());
    }
  } catch (const NumericalError&) {  // a rate that is too high: the curve ends here
    times.resize(losses.size());
  }
  return {{"optimizer", options.optimizer},
          {"rho", options.rho},
          {"batch", options.batch},
          {"seconds", times},
          {"loss", losses}};
}

Json run(const std::vector<std::string>& words) {
  const ThreadLimit one(1);
  const auto number = [&](size_t i) { return std::stol(words.at(i)); };
  const std::string& work = words.at(0);
  if (work == "classify")
    return classify(static_cast<int>(number(1)), words.at(2), load_model(words.at(3)));
  if (work == "svm")
    return predict_by_svm(static_cast<int>(number(1)), words.at(2), load_model(words.at(3)),
                          number(4));
  if (work == "epoch") {
    const Model model = load_model(words.at(4));
    return epoch(static_cast<int>(number(1)), read_samples(words[2], words[3], model), model);
  }
  if (work != "curve") throw std::invalid_argument("no such work: " + work);
  const Model model = load_model(words.at(3));
  TrainOptions options = options_of(model, number(7));
  options.optimizer = words[4];
  options.rho = std::stod(words[5]);
  options.batch = number(6);
  return curve(read_samples(words[1], words[2], model), options);
}

}  // namespace
}  // namespace hyperatom::bench

int main(int count, char** arguments) {
  try {
    std::cout << hyperatom::bench::run({arguments + 1, arguments + count}).dump() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "hyperatom_scene_bench: " << error.what() << "\n";
    return 1;
  }
}
