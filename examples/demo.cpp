// Trains on a small synthetic scene and prints how well unseen pixels are classified before and
// after learning.
#include <cstdio>
#include <exception>
#include <vector>

#include "hyperatom/base/random.hpp"
#include "hyperatom/learn/trainer.hpp"
#include "hyperatom/scene/normalizer.hpp"
#include "hyperatom/scene/synthetic.hpp"

namespace {

using namespace hyperatom;

/// The inner pixels of the scene with their 3 x 3 windows, the centre first.
Samples all_samples(const SyntheticScene& scene, const SyntheticOptions& options) {
  Samples samples;
  samples.classes = options.classes;
  samples.pixels = Normalizer::fit("unit", scene.pixels).apply(scene.pixels);
  samples.windows.resize(9, (scene.rows - 2) * (scene.cols - 2));
  Index i = 0;
  for (Index row = 1; row < scene.rows - 1; ++row)
    for (Index col = 1; col < scene.cols - 1; ++col, ++i) {
      const Index centre = row * scene.cols + col;
      samples.labels.push_back(scene.classes[static_cast<size_t>(centre)]);
      Index s = 0;
      samples.windows(s++, i) = centre;
      for (Index r = -1; r <= 1; ++r)
        for (Index c = -1; c <= 1; ++c)
          if (r != 0 || c != 0) samples.windows(s++, i) = centre + r * scene.cols + c;
    }
  return samples;
}

Samples subset(const Samples& all, const std::vector<Index>& which) {
  Samples part{all.pixels, {}, {}, all.classes};
  part.windows.resize(all.window(), static_cast<Index>(which.size()));
  for (size_t k = 0; k < which.size(); ++k) {
    part.windows.col(static_cast<Index>(k)) = all.windows.col(which[k]);
    part.labels.push_back(all.label(which[k]));
  }
  return part;
}

/// Share of the samples, in per cent, whose true class has the highest score.
double accuracy(const Samples& samples, const TrainOptions& options, const Parameters& parameters) {
  const auto kernel = make_kernel(options.kernel);
  const Coder coder(kernel->gram(parameters.D, parameters.D), options.coding());
  WindowCoder worker(coder);
  Index right = 0;
  for (Index i = 0; i < samples.size(); ++i) {
    const Matrix X = samples.window_pixels(i);
    const Matrix B = kernel->gram(parameters.D, X);
    const SparseCode& code = worker.encode(MatrixColumns(B).view(), kernel->diagonal(X).sum());
    Index best = 0;
    class_scores(parameters, code).maxCoeff(&best);
    right += best == samples.label(i);
  }
  return 100 * static_cast<double>(right) / static_cast<double>(samples.size());
}

void run() {
  constexpr Index per_class = 20;
  const SyntheticOptions scene_options{.seed = 1};
  const Samples scene = all_samples(make_synthetic_scene(scene_options), scene_options);
  std::vector<Index> taken(static_cast<size_t>(scene.classes), 0), train, test;
  for (const Index i : RandomStream(1, Purpose::split).permutation(scene.size()))
    (taken[static_cast<size_t>(scene.label(i))]++ < per_class ? train : test).push_back(i);
  const Samples training = subset(scene, train), unseen = subset(scene, test);
  std::printf(
      "synthetic scene: %td x %td pixels, %td bands, %td classes; %td labelled, %td unseen\n",
      scene_options.rows, scene_options.cols, scene.bands(), scene.classes, training.size(),
      unseen.size());

  TrainOptions options;
  options.kernel = Spec::parse("gaussian(sigma=0.05)");
  options.batch = 20;
  Trainer trainer(training, options);
  const double before = accuracy(unseen, options, trainer.parameters());
  trainer.run([](const StepReport& report) {
    if (report.step % (report.steps / 6) == 0)
      std::printf("epoch %3td: loss %.4f, %.1f active atoms, duality gap %.1e\n", report.epoch,
                  report.batch.loss, report.active, report.gap);
    return true;
  });
  std::printf(
      "unseen pixels classified rightly: %.1f %% with the initial dictionary, %.1f %% after "
      "learning\n",
      before, accuracy(unseen, options, trainer.parameters()));
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hyperatom_demo: %s\n", error.what());
    return 1;
  }
}
