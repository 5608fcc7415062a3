// Cross-validation with successive halving, against one without and by hand.
#include "hyperatom/eval/tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/predict/classifier.hpp"
#include "hyperatom/predict/sample_prediction.hpp"
#include "tests/support/small_scene.hpp"

namespace hyperatom {
namespace {

using test::small_scene;

constexpr Index side = 16;

/// A third of the inner pixels of a noisy small scene, with windows of 1 or 9.
SceneSamples part_of(std::uint64_t seed, Index window) {
  const Samples all = small_scene(seed, side, window, 0.08);
  std::vector<Index> which;
  SceneSamples part;
  for (Index i = static_cast<Index>(seed % 3); i < all.size(); i += 3) {
    which.push_back(i);
    part.pixels.push_back((1 + i / (side - 2)) * side + 1 + i % (side - 2));
  }
  part.samples = subset(all, which);
  part.class_ids = {1, 2, 3};
  return part;
}

SamplesOf samples_of(std::uint64_t seed) {
  auto single = std::make_shared<SceneSamples>(part_of(seed, 1));
  auto joint = std::make_shared<SceneSamples>(part_of(seed, 9));
  return [single, joint](Index window) -> const SceneSamples& {
    return window == 1 ? *single : *joint;
  };
}

std::vector<Candidate> candidates_of(const Method& method, const SamplesOf& samples) {
  Grid grid;
  if (method.kernel) grid.push_back(Axis::parse("sigma=0.2x,1x,5x"));
  grid.push_back(
      Axis::parse(method.family == Method::Family::svm ? "cost=0.01,1,100" : "lambda1=8x,1x,0.1x"));
  TrainOptions base;
  base.epochs = 3;
  base.atoms_per_class = 2;
  return make_candidates(method, grid, method.joint ? 9 : 1, base, {"epochs", "atoms-per-class"},
                         samples);
}

bool same(const Tuning& a, const Tuning& b) {
  return a.finished && b.finished &&
         std::ranges::equal(a.standings, b.standings, [](const Standing& x, const Standing& y) {
           return x.candidate == y.candidate && x.round == y.round && x.overall == y.overall &&
                  x.average == y.average;
         });
}

class EveryMethod : public testing::TestWithParam<std::string> {
 protected:
  const Method& method = find_method(GetParam());
  SamplesOf samples = samples_of(7);
  std::vector<Candidate> candidates = candidates_of(method, samples);

  Tuning run(Index jobs, const std::vector<Trial>& known = {}, const TuneHooks& hooks = {}) {
    return tune(method, candidates, samples, side, {{.folds = 3, .seed = 5}, jobs}, known, hooks);
  }
};

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Tuning, EveryMethod, testing::ValuesIn(method_names()), name_of);

TEST_P(EveryMethod, DependsNeitherOnJobsNorOnThreads) {
  const Tuning one = run(1);
  ASSERT_TRUE(one.finished);
  EXPECT_EQ(one.standings.size(), candidates.size());
  EXPECT_TRUE(same(one, run(3)));
  const ThreadLimit limit(5);
  EXPECT_TRUE(same(one, run(2)));
}

TEST_P(EveryMethod, GoesOnAfterAStopToTheSameEnd) {
  std::vector<Trial> whole;
  const Tuning end = run(1, {}, {.made = [&](const Trial& trial) { whole.push_back(trial); }});
  for (const size_t stop : {size_t{1}, size_t{4}, whole.size() / 2}) {
    std::vector<Trial> made;
    const Tuning stopped = run(1, {},
                               {.made = [&](const Trial& trial) { made.push_back(trial); },
                                .keep_going = [&] { return made.size() < stop; }});
    EXPECT_FALSE(stopped.finished);
    EXPECT_LT(made.size(), whole.size());
    std::vector<Trial> rest;
    const Tuning continued =
        run(2, made, {.made = [&](const Trial& trial) { rest.push_back(trial); }});
    EXPECT_TRUE(same(end, continued)) << "after " << stop;
    EXPECT_EQ(made.size() + rest.size(), whole.size());
  }
}

TEST_P(EveryMethod, TellsItsProgressToTheEnd) {
  Index last = 0, all = 0;
  run(1, {}, {.progress = [&](Index done, Index trials) {
        EXPECT_GT(done, last);
        last = done;
        all = trials;
      }});
  EXPECT_EQ(last, all);
}

class MethodWithoutSteps : public EveryMethod {};

INSTANTIATE_TEST_SUITE_P(Tuning, MethodWithoutSteps,
                         testing::Values("svm-l", "svm-k", "src-l1-l", "src-l1-k", "src-l12-l",
                                         "src-l12-k"),
                         name_of);

TEST_P(MethodWithoutSteps, ScoresAreThoseOfPlainCrossValidation) {
  const Tuning tuning = run(2);
  const SceneSamples& s = samples(method.joint ? 9 : 1);
  const auto folds = make_folds(s, side, {.folds = 3, .seed = 5});
  for (const Standing& standing : tuning.standings) {
    Tally sum;
    for (const Fold& fold : folds) {
      Model model = fit(method, subset(s.samples, fold.training),
                        candidates[static_cast<size_t>(standing.candidate)].options);
      model.class_ids = {1, 2, 3};
      sum.add(tally(s.samples, fold.held_out,
                    predict_samples(std::span(&model, 1), s.samples, fold.held_out)[0]));
    }
    EXPECT_DOUBLE_EQ(standing.overall, sum.overall());
    EXPECT_DOUBLE_EQ(standing.average, sum.average());
  }
}

TEST(Tuning, RoundsHalveAndTheBestIsFirst) {
  const auto rounds_of = [](const char* name, Index rounds) {
    const Method& method = find_method(name);
    const SamplesOf samples = samples_of(1);
    const auto candidates = candidates_of(method, samples);  // 9
    const Tuning tuning = tune(method, candidates, samples, side, {{.folds = 3}, 1});
    EXPECT_EQ(tuning.rounds, rounds);
    std::vector<Index> result;
    for (size_t i = 0; i < tuning.standings.size(); ++i) {
      result.push_back(tuning.standings[i].round);
      if (i > 0 && result[i] == result[i - 1]) {
        EXPECT_GE(tuning.standings[i - 1].balanced, tuning.standings[i].balanced);
      }
    }
    return result;
  };
  EXPECT_EQ(rounds_of("sdl-l1-k", 2), (std::vector<Index>{1, 1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(rounds_of("svm-k", 1), std::vector<Index>(9, 0));
}

TEST(Tuning, FindsASettingThatIsPlainlyBetter) {
  const Method& method = find_method("sdl-l12-k");
  const SamplesOf samples = samples_of(2);
  TrainOptions base;
  base.epochs = 5;
  const auto candidates = make_candidates(method, {Axis::parse("lambda1=100,0.1,50")}, 9, base,
                                          {"epochs"}, samples);  // 50 and 100: all codes are 0
  const Tuning tuning = tune(method, candidates, samples, side, {{.folds = 2}, 1});
  EXPECT_EQ(tuning.best(), 1);
  EXPECT_GT(tuning.standings[0].balanced, tuning.standings[1].balanced + 0.2);
}

TEST(Tuning, RefusesAnEmptyGrid) {
  EXPECT_THROW(tune(find_method("svm-l"), {}, samples_of(1), side, {}), OptionError);
}

// ---- Prediction of samples

Model small_model(const Method& method, const Samples& samples, double lambda1) {
  TrainOptions options;
  options.kernel = method.kernel ? Spec{"gaussian", {{"sigma", 0.5}}} : Spec{"linear", {}};
  options.lambda1 = lambda1;
  options.epochs = 2;
  options.atoms_per_class = 3;
  Model model = fit(method, samples, options);
  model.normalizer = {"none", Vector::Zero(samples.bands()), Vector::Ones(samples.bands()), {}};
  model.class_ids = {1, 2, 3};
  model.class_names = {"a", "b", "c"};
  model.class_colours.resize(3);
  return model;
}

/// The map of a scene is the other way to the same classes.
TEST_P(EveryMethod, SamplesAreClassifiedAsInAMap) {
  Samples all = small_scene(9, side, method.joint ? 9 : 1, 0.25);
  all.pixels = all.pixels.cast<float>().cast<double>().eval();  // what a scene holds
  const Model model = small_model(method, all, 0.05);
  Scene scene;
  scene.info = {
      .path = "memory", .format = "memory", .rows = side, .cols = side, .bands = all.bands()};
  scene.data.pixels = all.pixels.cast<float>();
  mark_valid(scene.data, std::nullopt);
  std::vector<std::int32_t> map;
  Classifier(model).classify(*make_source(scene), {}, [&](const ClassifiedStrip& strip) {
    map.insert(map.end(), strip.ids.begin(), strip.ids.end());
  });
  std::vector<Index> which;
  for (Index i = 0; i < all.size(); ++i) which.push_back(i);
  const auto predicted = predict_samples(std::span(&model, 1), all, which);
  for (Index i = 0; i < all.size(); ++i)
    EXPECT_EQ(predicted[0][static_cast<size_t>(i)] + 1, map[static_cast<size_t>(all.windows(0, i))])
        << i;
}

TEST(SamplePrediction, APathGivesWhatItsModelsGiveAlone) {
  for (const char* name : {"src-l1-l", "src-l1-k", "src-l12-l", "src-l12-k"}) {
    const Method& method = find_method(name);
    const Samples all = small_scene(4, side, method.joint ? 9 : 1, 0.25);
    std::vector<Model> path;
    for (const double lambda1 : {1.0, 0.3, 0.1, 0.01})
      path.push_back(small_model(method, all, lambda1));
    std::vector<Index> which;
    for (Index i = 0; i < all.size(); i += 2) which.push_back(i);
    const auto together = predict_samples(path, all, which);
    ASSERT_EQ(together.size(), path.size());
    for (size_t m = 0; m < path.size(); ++m)
      EXPECT_EQ(together[m], predict_samples(std::span(&path[m], 1), all, which)[0]) << name;
  }
}

TEST(SamplePrediction, OfNothingIsNothing) {
  const Samples all = small_scene(4, side, 1);
  const Model model = small_model(find_method("svm-l"), all, 1);
  EXPECT_TRUE(predict_samples({}, all, std::vector<Index>{0}).empty());
  EXPECT_TRUE(predict_samples(std::span(&model, 1), all, {})[0].empty());
}

}  // namespace
}  // namespace hyperatom
