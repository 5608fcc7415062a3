// The trainer: results that depend on nothing but samples and options, checkpoints, validation,
// balance, bad input.
#include "hyperatom/learn/trainer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/learn/checkpoint_file.hpp"
#include "tests/support/small_scene.hpp"

namespace hyperatom {
namespace {

TrainOptions short_run() {
  TrainOptions options;
  options.epochs = 3;
  options.batch = 16;
  options.atoms_per_class = 3;
  options.rho = 1e-3;
  options.kernel = Spec::parse("gaussian(sigma=0.2)");
  return options;
}

bool same_bits(const Parameters& a, const Parameters& b) {
  return a.D == b.D && a.W == b.W && a.b == b.b;
}

/// Everything about a training that later steps or users could see.
void expect_same(const Trainer& a, const Trainer& b) {
  EXPECT_TRUE(same_bits(a.parameters(), b.parameters()));
  EXPECT_TRUE(same_bits(a.best(), b.best()));
  EXPECT_TRUE(same_bits(a.checkpoint().moments.second, b.checkpoint().moments.second));
  ASSERT_EQ(a.checkpoint().warm.size(), b.checkpoint().warm.size());
  for (size_t i = 0; i < a.checkpoint().warm.size(); ++i) {
    EXPECT_EQ(a.checkpoint().warm[i].rows, b.checkpoint().warm[i].rows);
    EXPECT_EQ(a.checkpoint().warm[i].values, b.checkpoint().warm[i].values);
  }
}

struct Setting {
  Index window;
  const char* optimizer;
  const char* init;
  double validation;
};

class TrainerRuns : public testing::TestWithParam<Setting> {
 protected:
  TrainOptions options() const {
    TrainOptions o = short_run();
    o.optimizer = GetParam().optimizer;
    o.init = GetParam().init;
    o.init_epochs = 1;
    o.validation = GetParam().validation;
    if (o.optimizer == "sgd") {
      o.rho = 1e-4;
      o.weight_rate = 10;
      o.batch = 5;
    }
    return o;
  }
  Samples samples = test::small_scene(1, 14, GetParam().window);
};

TEST_P(TrainerRuns, BitIdenticalForAnyNumberOfThreads) {
  std::vector<std::unique_ptr<Trainer>> runs;
  for (const int threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    runs.push_back(std::make_unique<Trainer>(samples, options()));
    runs.back()->run();
  }
  EXPECT_GT(runs[0]->checkpoint().step, 0);
  expect_same(*runs[0], *runs[1]);
  expect_same(*runs[0], *runs[2]);
}

TEST_P(TrainerRuns, GoesOnFromACheckpointFileAsIfNeverStopped) {
  Trainer whole(samples, options());
  whole.run();
  const auto path = std::filesystem::temp_directory_path() /
                    ("hyperatom_checkpoint_" + std::to_string(::getpid()) + "_" +
                     std::to_string(GetParam().window) + GetParam().optimizer + GetParam().init);
  // In the middle of an epoch, at its end, before the first step, after the last.
  const Index per_epoch = whole.steps() / options().epochs;
  for (const Index stop : {Index{0}, Index{1}, per_epoch, per_epoch + 2, whole.steps()}) {
    Trainer first(samples, options());
    while (first.checkpoint().step < stop) first.step();
    save_checkpoint(first.checkpoint(), path);
    Trainer second(samples, load_checkpoint(path));
    EXPECT_EQ(second.checkpoint().step, stop);
    second.run();
    expect_same(whole, second);
  }
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(Settings, TrainerRuns,
                         testing::Values(Setting{1, "adam", "samples", 0.0},
                                         Setting{9, "adam", "samples", 0.25},
                                         Setting{9, "adam", "unsupervised", 0.0},
                                         Setting{1, "sgd", "samples", 0.25},
                                         Setting{9, "sgd", "unsupervised", 0.0}),
                         [](const auto& test) {
                           return std::string(test.param.optimizer) + "_" + test.param.init + "_S" +
                                  std::to_string(test.param.window) +
                                  (test.param.validation > 0 ? "_validated" : "");
                         });

TEST(Trainer, LearningLowersTheLossAndRaisesTheAccuracy) {
  for (const Index window : {1, 9}) {
    const Samples samples = test::small_scene(2, 20, window, 0.12);
    TrainOptions options = short_run();
    options.epochs = 30;
    Trainer trainer(samples, options);
    const Score before = trainer.score(trainer.training());
    trainer.run();
    const Score after = trainer.score(trainer.training());
    EXPECT_LT(after.loss, 0.85 * before.loss) << window;
    EXPECT_GT(after.accuracy, before.accuracy) << window;
  }
}

TEST(Trainer, AlgorithmOneToTheLetterLearnsToo) {
  const Samples samples = test::small_scene(2, 20, 9, 0.12);
  TrainOptions options = TrainOptions::paper();
  options.kernel = Spec::parse("gaussian(sigma=0.2)");
  options.rho = 0.02;
  options.epochs = 10;
  Trainer trainer(samples, options);
  const Score before = trainer.score(trainer.training());
  trainer.run();
  EXPECT_LT(trainer.score(trainer.training()).loss, 0.95 * before.loss);
  EXPECT_EQ(trainer.parameters().b.norm(), 0);
  EXPECT_EQ(trainer.steps(), 10 * samples.size());
}

TEST(Trainer, UnsupervisedInitialisationReconstructsBetter) {
  const Samples samples = test::small_scene(5, 16, 9, 0.1);
  const auto reconstruction = [&](const TrainOptions& options) {
    const Trainer trainer(samples, options);
    const auto kernel = make_kernel(options.kernel);
    const Matrix& D = trainer.parameters().D;
    const Coder coder(kernel->gram(D, D), options.coding());
    double sum = 0;
    for (Index i = 0; i < samples.size(); ++i) {
      const Matrix X = samples.window_pixels(i);
      sum += coder.encode(kernel->gram(D, X), kernel->diagonal(X).sum()).objective;
    }
    return sum;
  };
  TrainOptions options = short_run();
  const double drawn = reconstruction(options);
  options.init = "unsupervised";
  options.init_epochs = 10;
  EXPECT_LT(reconstruction(options), 0.98 * drawn);
}

TEST(Trainer, ObserverSeesEveryStepAndMayStop) {
  const Samples samples = test::small_scene(1, 12, 9);
  Trainer trainer(samples, short_run());
  std::vector<StepReport> reports;
  trainer.run([&](const StepReport& report) {
    reports.push_back(report);
    return reports.size() < 5;
  });
  ASSERT_EQ(reports.size(), 5u);
  EXPECT_FALSE(trainer.finished());
  for (size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].step, static_cast<Index>(i) + 1);
    EXPECT_EQ(reports[i].steps, trainer.steps());
    EXPECT_GT(reports[i].active, 0);
    EXPECT_LE(reports[i].gap, short_run().tolerance);
    EXPECT_EQ(reports[i].unconverged, 0);
    EXPECT_GT(reports[i].rate, 0);
    EXPECT_FALSE(reports[i].validation);
  }
  EXPECT_GT(reports[0].rate, reports[4].rate);
  EXPECT_EQ(reports[0].epoch, 1);
}

TEST(Trainer, ValidationKeepsTheBestEpochAndStopsEarly) {
  const Samples samples = test::small_scene(7, 16, 1, 0.25);
  TrainOptions options = short_run();
  options.validation = 0.3;
  options.patience = 3;
  options.epochs = 60;
  options.rho = 0.02;  // rough on purpose: validation goes up and down
  Trainer trainer(samples, options);
  std::vector<Score> scores;
  trainer.run([&](const StepReport& report) {
    if (report.validation) scores.push_back(*report.validation);
    return true;
  });
  ASSERT_FALSE(scores.empty());
  EXPECT_LT(scores.size(), 60u);
  const auto& state = trainer.checkpoint();
  EXPECT_EQ(static_cast<Index>(scores.size()), state.best_epoch + options.patience);
  for (const Score& score : scores) EXPECT_LE(score.accuracy, state.best_score.accuracy);
  Trainer best(samples, options, trainer.best(), state.atom_classes);
  EXPECT_EQ(best.score(best.held_out()).accuracy, state.best_score.accuracy);
}

TEST(Trainer, HeldOutSamplesAreDisjointAndLeaveEveryClassOne) {
  Samples samples = test::small_scene(1, 12, 1);
  std::vector<Index> keep;  // class 2 has one sample only
  bool seen = false;
  for (Index i = 0; i < samples.size(); ++i) {
    if (samples.label(i) == 2 && seen) continue;
    seen = seen || samples.label(i) == 2;
    keep.push_back(i);
  }
  Samples few = samples;
  few.windows.resize(1, static_cast<Index>(keep.size()));
  few.labels.clear();
  for (size_t k = 0; k < keep.size(); ++k) {
    few.windows.col(static_cast<Index>(k)) = samples.windows.col(keep[k]);
    few.labels.push_back(samples.label(keep[k]));
  }
  TrainOptions options = short_run();
  options.validation = 0.5;
  const Trainer trainer(few, options);
  std::set<Index> all(trainer.training().begin(), trainer.training().end());
  std::vector<Index> count(3, 0);
  for (const Index i : trainer.training()) ++count[static_cast<size_t>(few.label(i))];
  for (const Index i : trainer.held_out()) EXPECT_TRUE(all.insert(i).second);
  EXPECT_EQ(static_cast<Index>(all.size()), few.size());
  for (const Index n : count) EXPECT_GE(n, 1);
  EXPECT_NEAR(static_cast<double>(trainer.held_out().size()), 0.5 * static_cast<double>(few.size()),
              2);
  // Three atoms a class were asked for; the class of one pixel has one.
  EXPECT_EQ(trainer.parameters().atoms(), 7);
}

TEST(Trainer, BalanceGivesARareClassItsWeight) {
  Samples samples = test::small_scene(3, 20, 1, 0.35);
  Samples rare = samples;
  std::vector<Index> keep;
  Index left = 6;
  for (Index i = 0; i < samples.size(); ++i)
    if (samples.label(i) != 0 || left-- > 0) keep.push_back(i);
  rare.windows.resize(1, static_cast<Index>(keep.size()));
  rare.labels.clear();
  for (size_t k = 0; k < keep.size(); ++k) {
    rare.windows.col(static_cast<Index>(k)) = samples.windows.col(keep[k]);
    rare.labels.push_back(samples.label(keep[k]));
  }
  const auto rare_loss = [&](double balance) {
    TrainOptions options = short_run();
    options.balance = balance;
    Trainer trainer(rare, options);
    std::vector<Index> members;
    for (Index i = 0; i < rare.size(); ++i)
      if (rare.label(i) == 0) members.push_back(i);
    return trainer.score(members).loss;
  };
  EXPECT_LT(rare_loss(1), 0.8 * rare_loss(0));
  EXPECT_LT(rare_loss(1), rare_loss(0.5));
  EXPECT_LT(rare_loss(0.5), rare_loss(0));
}

TEST(Trainer, AWeightOfTwoIsASampleTwice) {
  const Samples once = test::small_scene(3, 12, 4);
  Samples weighted = once, twice = once;
  weighted.weights.assign(at(once.size()), 1);
  std::vector<Index> again;
  for (Index i = 0; i < once.size(); i += 3) {
    weighted.weights[at(i)] = 2;
    again.push_back(i);
  }
  twice.windows.conservativeResize(Eigen::NoChange, once.size() + static_cast<Index>(again.size()));
  for (size_t k = 0; k < again.size(); ++k) {
    twice.windows.col(once.size() + static_cast<Index>(k)) = once.windows.col(again[k]);
    twice.labels.push_back(once.label(again[k]));
  }
  TrainOptions options = short_run();
  options.epochs = 1;
  options.batch = 1000;  // all at once: the step is the mean over all
  options.refit = true;
  const Trainer start(once, options);
  const auto trained = [&](const Samples& samples) {
    Trainer trainer(samples, options, start.parameters(), start.checkpoint().atom_classes);
    trainer.run();
    return trainer.parameters();
  };
  const Parameters a = trained(weighted), b = trained(twice), plain = trained(once);
  EXPECT_TRUE(a.D.isApprox(b.D, 1e-9));
  EXPECT_TRUE(a.W.isApprox(b.W, 1e-9));
  EXPECT_FALSE(a.W.isApprox(plain.W, 1e-4));
}

TEST(Trainer, StepsWithoutLabelsCanBeEnded) {
  TrainOptions options = short_run();
  options.init = "unsupervised";
  options.init_epochs = 1000;
  Index asked = 0;
  const Samples samples = test::small_scene(1, 12, 1);
  const Trainer trainer(samples, options, [&] { return ++asked < 3; });
  EXPECT_EQ(asked, 3);
}

TEST(Trainer, RefitLeavesTheBestClassifierOfTheLearnedDictionary) {
  const Samples samples = test::small_scene(3, 20, 1, 0.2);
  for (const char* loss : {"squared", "softmax"}) {
    const auto trained = [&](bool refit) {
      TrainOptions options = short_run();
      options.loss = {loss, {}};
      options.refit = refit;
      Trainer trainer(samples, options);
      trainer.run();
      const Parameters& p = trainer.parameters();
      const double objective =
          trainer.score(trainer.training()).loss + 0.5 * options.nu * p.W.squaredNorm();
      return std::pair(p.D, objective);
    };
    const auto [with_D, with] = trained(true);
    const auto [without_D, without] = trained(false);
    EXPECT_TRUE(with_D == without_D);
    EXPECT_LT(with, without);
  }
}

TEST(Trainer, SeedChangesTheRun) {
  const Samples samples = test::small_scene(1, 12, 1);
  TrainOptions options = short_run();
  const Trainer first(samples, options);
  options.seed = 1;
  const Trainer second(samples, options);
  EXPECT_FALSE(first.parameters().D == second.parameters().D);
}

TEST(Trainer, RefusesWhatDoesNotFit) {
  const Samples samples = test::small_scene(1, 12, 1);
  const auto refused = [&](auto change) {
    Samples bad = samples;
    change(bad);
    try {
      const Trainer trainer(bad, short_run());
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(refused([](Samples& s) { s.labels.pop_back(); }),
            "training samples: 99 labels for 100 windows");
  EXPECT_EQ(refused([](Samples& s) { s.labels[3] = 3; }),
            "training samples: label 3 outside 0 .. 2");
  EXPECT_EQ(refused([](Samples& s) { s.classes = 4; }), "training samples: class 4 has no sample");
  EXPECT_EQ(refused([](Samples& s) { s.pixels(2, 5) = std::nan(""); }),
            "training samples: a pixel has a value that is not finite");
  EXPECT_EQ(refused([](Samples& s) { s.windows(0, 0) = 144; }),
            "training samples: a window lists a pixel outside 0 .. 143");
  EXPECT_EQ(refused([](Samples& s) { s.windows.resize(1, 0); }),
            "training samples: there are none");
  EXPECT_EQ(refused([](Samples& s) {
              s.weights = {1, 2};
            }),
            "training samples: 2 weights for 100 windows");
  EXPECT_EQ(refused([](Samples& s) { s.weights.assign(100, -1); }),
            "training samples: weight -1, expected 0 or greater");
  EXPECT_EQ(refused([](Samples& s) { s.weights.assign(100, 0); }),
            "training samples: all have weight 0");

  TrainOptions options = short_run();
  options.epochs = -1;
  EXPECT_THROW(Trainer(samples, options), OptionError);

  const Trainer trainer(samples, short_run());
  Samples other = samples;
  other.pixels(0, 0) += 1e-12;
  EXPECT_THROW(Trainer(other, trainer.checkpoint()), DataError);
  other = samples;
  other.weights.assign(100, 1);
  EXPECT_THROW(Trainer(other, trainer.checkpoint()), DataError);
  Parameters wrong = trainer.parameters();
  wrong.W.conservativeResize(2, Eigen::NoChange);
  EXPECT_THROW(Trainer(samples, short_run(), wrong, trainer.checkpoint().atom_classes),
               OptionError);
}

TEST(Trainer, DivergenceIsAnErrorThatNamesTheRate) {
  const Samples samples = test::small_scene(1, 12, 1);
  TrainOptions options = short_run();
  options.optimizer = "sgd";
  options.rho = 1e300;
  options.epochs = 20;
  Trainer trainer(samples, options);
  try {
    trainer.run();
    FAIL() << "it can't have worked";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("rho"), std::string::npos);
  }
}

TEST(RateSchedule, FollowsTheFormulas) {
  const RateSchedule sgd{.rule = RateSchedule::Rule::sgd, .rho = 0.5, .t0 = 10};
  EXPECT_EQ(sgd(1), 0.5);
  EXPECT_EQ(sgd(10), 0.5);
  EXPECT_EQ(sgd(20), 0.25);
  const RateSchedule adam{.rule = RateSchedule::Rule::adam, .rho = 0.5, .steps = 100};
  EXPECT_EQ(adam(1), 0.5);
  EXPECT_NEAR(adam(51), 0.25, 1e-15);
  EXPECT_LT(adam(100), 0.001);
  EXPECT_GT(adam(100), 0);
}

}  // namespace
}  // namespace hyperatom
