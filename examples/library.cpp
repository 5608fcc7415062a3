// The library in one page: a scene, labels and a split to a model, and the model to a map.
#include <cstdio>
#include <exception>

#include "hyperatom/eval/confusion.hpp"
#include "hyperatom/learn/automatic.hpp"
#include "hyperatom/learn/scene_samples.hpp"
#include "hyperatom/learn/trainer.hpp"
#include "hyperatom/predict/classifier.hpp"
#include "hyperatom/scene/split.hpp"
#include "hyperatom/scene/synthetic.hpp"

namespace {

using namespace hyperatom;

Model train(SceneSource& scene, const Labels& labels, const Split& split) {
  const Normalizer normalizer = fit_normalizer("unit", scene);
  const SceneSamples training = gather_samples(scene, labels, split.train, 9, normalizer);
  TrainOptions options;                            // the paper's symbols
  choose_settings(training.samples, {}, options);  // sigma, lambda1, ... from the training pixels
  Trainer trainer(training.samples, options);      // draws the atoms, solves for W
  trainer.run([](const StepReport& report) {       // loss, accuracy, active atoms, gap, rate
    if (report.step % (report.steps / 5) == 0)
      std::printf("epoch %3td: loss %.4f, %.1f active atoms, duality gap %.1e\n", report.epoch,
                  report.batch.loss, report.active, report.gap);
    return true;  // false stops
  });
  Model model = trainer.model();
  model.normalizer = normalizer;
  model.wavelengths = scene.info().wavelengths;
  name_classes(training, labels, model);
  return model;
}

void run() {
  SyntheticScene scene({.rows = 80, .cols = 80, .seed = 1});
  const Labels& labels = scene.labels();
  const Split split = make_split(labels, {.per_class = 20, .seed = 1});
  const Model model = train(scene, labels, split);

  Labels map = labels;
  Classifier(model).classify(scene, {}, [&](const ClassifiedStrip& strip) {
    std::copy(strip.ids.begin(), strip.ids.end(), map.ids.begin() + strip.first * map.cols);
  });
  const Confusion confusion = compare(map, labels, split.test);
  std::printf("%td of %td test pixels are right: overall accuracy %.2f %%\n", confusion.right(),
              confusion.total(), 100 * confusion.overall());
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hyperatom_example: %s\n", error.what());
    return 1;
  }
}
