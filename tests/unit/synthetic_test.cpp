// The synthetic scene: the same bits however it is read, labels that keep their promises, spectra
// with the physics they claim, and a difficulty that windows and learning both make a difference
// to.
#include "hyperatom/scene/synthetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/learn/scene_samples.hpp"
#include "hyperatom/learn/trainer.hpp"
#include "hyperatom/scene/split.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom {
namespace {

using test::contains;
using test::thrown;

Scene scene_of(const SyntheticOptions& options) {
  SyntheticScene source(options);
  return read_all(source);
}

double share(Index part, const std::vector<Index>& counts) {
  return static_cast<double>(part) /
         static_cast<double>(std::accumulate(counts.begin(), counts.end(), Index{0}));
}

TEST(SyntheticScene, StripsOfAnyHeightAndThreadsOfAnyNumberGiveTheSameBits) {
  // Bands that fill no whole number of vector registers, so that pixels begin anywhere in one.
  SyntheticScene scene({.rows = 50, .cols = 41, .bands = 37, .seed = 3});
  const Scene whole = read_all(scene);
  Strip strip;
  for (const Index height : {1, 7, 16, 49})
    for (const int threads : {1, 3}) {
      const ThreadLimit limit(threads);
      for (Index first = 0; first < 50; first += height) {
        const Index count = std::min<Index>(height, 50 - first);
        scene.read(first, count, strip);
        EXPECT_EQ(strip.pixels, whole.data.pixels.middleCols(first * 41, count * 41));
        EXPECT_TRUE(std::equal(strip.valid.begin(), strip.valid.end(),
                               whole.data.valid.begin() + first * 41));
      }
    }
}

TEST(SyntheticScene, TheSeedDecidesEverything) {
  const SyntheticOptions options{.rows = 60, .cols = 60, .bands = 20, .seed = 1};
  SyntheticOptions other = options;
  other.seed = 2;
  EXPECT_EQ(scene_of(options).data.pixels, scene_of(options).data.pixels);
  EXPECT_EQ(SyntheticScene(options).labels().ids, SyntheticScene(options).labels().ids);
  EXPECT_NE(scene_of(options).data.pixels, scene_of(other).data.pixels);
  EXPECT_NE(SyntheticScene(options).labels().ids, SyntheticScene(other).labels().ids);
}

TEST(SyntheticScene, SaysWhatItIs) {
  const SyntheticScene scene({.bands = 50});
  const SceneInfo& info = scene.info();
  EXPECT_EQ(info.rows, 120);
  EXPECT_EQ(info.cols, 120);
  EXPECT_EQ(info.bands, 50);
  EXPECT_EQ(info.source_bands.size(), 50u);
  ASSERT_EQ(info.wavelengths.size(), 50);
  EXPECT_DOUBLE_EQ(info.wavelengths[0], 0.4);
  EXPECT_DOUBLE_EQ(info.wavelengths[49], 2.5);
  for (Index b = 1; b < 50; ++b) EXPECT_GT(info.wavelengths[b], info.wavelengths[b - 1]);
  ASSERT_TRUE(info.no_data.has_value());
  EXPECT_TRUE(std::isfinite(*info.no_data));
  EXPECT_PRED2(contains, info.georeference.crs, R"(AUTHORITY["EPSG","32633"])");
  ASSERT_TRUE(info.georeference.transform.has_value());
  EXPECT_EQ((*info.georeference.transform)[1], 20);
  EXPECT_EQ((*info.georeference.transform)[5], -20);
}

TEST(SyntheticScene, SwathEdgesAndDeadPixelsHaveNoDataAndNoLabel) {
  SyntheticScene source({.bands = 10, .labelled = 1});
  const Scene scene = read_all(source);
  const auto valid = [&](Index row, Index col) {
    return scene.data.valid[at(row * scene.info.cols + col)] != 0;
  };
  EXPECT_FALSE(valid(0, 0));
  EXPECT_FALSE(valid(119, 119));
  EXPECT_TRUE(valid(0, 119));
  EXPECT_TRUE(valid(119, 0));
  Index dead = 0, missing = 0;
  for (Index row = 1; row < 119; ++row)
    for (Index col = 1; col < 119; ++col) {
      missing += !valid(row, col);
      dead += !valid(row, col) && valid(row, col - 1) && valid(row, col + 1);
    }
  EXPECT_GE(dead, 3);
  EXPECT_LE(dead, 30);
  EXPECT_GT(missing, 500);
  EXPECT_LT(missing, 3000);
  for (Index i = 0; i < scene.info.pixels(); ++i)
    if (!scene.data.valid[at(i)]) {
      EXPECT_EQ(source.labels().id(i), 0);
      EXPECT_TRUE(scene.data.pixels.col(i).isZero(0));
    }
}

TEST(SyntheticScene, EveryClassIsLabelledAndTheLastTwoAreRare) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SyntheticScene scene({.bands = 2, .seed = seed});
    const Labels& labels = scene.labels();
    const std::vector<Index> counts = labels.counts();
    ASSERT_EQ(counts.size(), 8u);
    for (const Index count : counts) EXPECT_GE(count, 8) << "seed " << seed;
    for (size_t c = 0; c < 6; ++c) EXPECT_GE(counts[c], 3 * counts[6]) << "seed " << seed;
    EXPECT_NEAR(share(counts[6], counts), 0.01, 0.005) << "seed " << seed;
    EXPECT_NEAR(share(counts[7], counts), 0.003, 0.002) << "seed " << seed;
    const Index labelled = std::accumulate(counts.begin(), counts.end(), Index{0});
    EXPECT_GT(labelled, labels.pixels() / 4) << "seed " << seed;
    EXPECT_LT(labelled, 6 * labels.pixels() / 10) << "seed " << seed;
    EXPECT_EQ(std::set(labels.names.begin(), labels.names.end()).size(), 8u);
    EXPECT_EQ(labels.colours.size(), 8u);
  }
}

TEST(SyntheticScene, BetweenTwoFieldsNothingIsLabelled) {
  const SyntheticScene scene({.bands = 2, .labelled = 1});
  const Labels& labels = scene.labels();
  for (Index row = 0; row + 1 < labels.rows; ++row)
    for (Index col = 0; col + 1 < labels.cols; ++col) {
      std::set<std::int32_t> classes;
      for (const Index i :
           {row * 120 + col, row * 120 + col + 1, (row + 1) * 120 + col, (row + 1) * 120 + col + 1})
        if (labels.id(i) > 0) classes.insert(labels.id(i));
      EXPECT_LE(classes.size(), 1u) << "row " << row << ", column " << col;
    }
}

TEST(SyntheticScene, SmallAndTallScenesHaveEveryClass) {
  for (const Index side : {12, 20, 33})
    for (const Index classes : {2, 4, 9})
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const SyntheticOptions options{.rows = side,
                                       .cols = side + 3,
                                       .bands = 2,
                                       .classes = classes,
                                       .field = 4,
                                       .seed = seed};
        try {
          for (const Index count : SyntheticScene(options).labels().counts()) EXPECT_GE(count, 1);
        } catch (const OptionError& error) {
          EXPECT_EQ(side, 12) << error.what();
          EXPECT_PRED2(contains, error.what(), "classes must be at most");
        }
      }
  SyntheticScene tall({.rows = 3000, .cols = 64, .bands = 20});
  const std::vector<Index> counts = tall.labels().counts();
  for (const Index count : counts) EXPECT_GE(count, 100);
  EXPECT_NEAR(share(counts[6], counts), 0.01, 0.005);
  EXPECT_NEAR(share(counts[7], counts), 0.003, 0.002);
  Strip strip;
  tall.read(2990, 10, strip);
  EXPECT_EQ(strip.pixels.cols(), 640);
  EXPECT_GT(std::count(strip.valid.begin(), strip.valid.end(), 1), 500);
}

TEST(SyntheticScene, RefusesOptionsOutOfRange) {
  const auto message = [](const SyntheticOptions& options) {
    return thrown<OptionError>([&] { SyntheticScene scene(options); });
  };
  EXPECT_PRED2(contains, message({.rows = 7}), "rows must be at least 8");
  EXPECT_PRED2(contains, message({.cols = 1000000}), "cols must be at least 8 and at most 100000");
  EXPECT_PRED2(contains, message({.rows = 10000000, .cols = 100000}),
               "rows * cols must be at most");
  EXPECT_PRED2(contains, message({.bands = 1}), "bands must be");
  EXPECT_PRED2(contains, message({.classes = 1}), "classes must be");
  EXPECT_PRED2(contains, message({.classes = 65}), "classes must be");
  EXPECT_PRED2(contains, message({.field = 3}), "field must be");
  EXPECT_PRED2(contains, message({.contrast = -0.1}), "contrast must be");
  EXPECT_PRED2(contains, message({.mixing = 1.1}), "mixing must be");
  EXPECT_PRED2(contains, message({.noise = std::nan("")}), "noise must be");
  EXPECT_PRED2(contains, message({.shading = 2}), "shading must be");
  EXPECT_PRED2(contains, message({.labelled = -1}), "labelled must be");
  EXPECT_PRED2(contains, message({.rows = 30, .cols = 30, .field = 30}), "classes must be at most");
}

TEST(SyntheticScene, NoiseIsHighWhereTheAirTakesTheLight) {
  SyntheticOptions options{.rows = 60, .cols = 60, .bands = 211, .noise = 0.02};
  const Scene noisy = scene_of(options);
  options.noise = 0;
  const Scene clean = scene_of(options);
  const auto n =
      static_cast<double>(std::count(noisy.data.valid.begin(), noisy.data.valid.end(), 1));
  const Matrix noise = (noisy.data.pixels - clean.data.pixels).cast<double>();
  const auto band = [](double wavelength) { return std::lround((wavelength - 0.4) * 100); };
  const auto deviation = [&](double wavelength) {
    return std::sqrt(noise.row(band(wavelength)).squaredNorm() / n);
  };
  const auto mean = [&](double wavelength) {
    return clean.data.pixels.row(band(wavelength)).cast<double>().sum() / n;
  };
  EXPECT_NEAR(deviation(1.65), 0.02, 0.002);
  EXPECT_LT(std::abs(noise.row(band(1.65)).sum()) / n, 0.002);
  for (const double wavelength : {0.4, 1.38, 1.88})
    EXPECT_GT(deviation(wavelength), 1.8 * deviation(1.65)) << wavelength;
  EXPECT_LT(mean(1.38), 0.1 * mean(1.25));
  EXPECT_LT(mean(1.88), 0.1 * mean(1.65));
  EXPECT_GT(mean(0.86), 1.5 * mean(0.66)) << "no red edge";
}

TEST(SyntheticScene, LightChangesTheBrightnessAlone) {
  SyntheticOptions options{.rows = 40, .cols = 40, .bands = 30, .noise = 0, .shading = 0.4};
  const Scene shaded = scene_of(options);
  options.shading = 0;
  const Scene flat = scene_of(options);
  double darkest = 1, brightest = 1;
  for (Index i = 0; i < flat.info.pixels(); ++i) {
    if (!flat.data.valid[at(i)]) continue;
    const Vector a = shaded.data.pixels.col(i).cast<double>(),
                 b = flat.data.pixels.col(i).cast<double>();
    const double light = a.norm() / b.norm();
    EXPECT_LT((a / light - b).norm(), 1e-5 * b.norm());
    darkest = std::min(darkest, light);
    brightest = std::max(brightest, light);
  }
  EXPECT_LT(darkest, 0.8);
  EXPECT_GT(brightest, 1.2);
}

TEST(SyntheticScene, TwoClassesOfAFamilyLookAlike) {
  SyntheticScene source({.mixing = 0, .noise = 0});
  const Scene scene = read_all(source);
  Matrix means = Matrix::Zero(scene.info.bands, 8);
  for (Index i = 0; i < scene.info.pixels(); ++i)
    if (const Index c = source.labels().id(i) - 1; c >= 0)
      means.col(c) += scene.data.pixels.col(i).cast<double>().normalized();
  means.colwise().normalize();
  const auto distance = [&](Index a, Index b) { return (means.col(a) - means.col(b)).norm(); };
  for (const Index a : {0, 2, 4})
    for (Index b = 0; b < 6; ++b) {
      if (b / 2 == a / 2) continue;
      EXPECT_LT(2 * distance(a, a + 1), distance(a, b)) << a << ", " << b;
    }
  for (const Index a : {0, 2, 4, 6}) EXPECT_GT(distance(a, a + 1), 0.01);
}

/// Share of the samples, in per cent, whose true class has the highest score.
double accuracy(const SceneSamples& unseen, const TrainOptions& options,
                const Parameters& parameters) {
  const Samples& samples = unseen.samples;
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
    right += best + 1 == unseen.class_ids[at(samples.label(i))];
  }
  return 100 * static_cast<double>(right) / static_cast<double>(samples.size());
}

struct Accuracies {
  double before, after;  ///< learning
};

/// On every third test pixel, trained on 20 pixels a class.
Accuracies train(std::uint64_t seed, Index window) {
  SyntheticScene scene({.seed = seed});
  const Split split = make_split(scene.labels(), {.per_class = 20});
  std::vector<Index> test;
  for (size_t k = 0; k < split.test.size(); k += 3) test.push_back(split.test[k]);
  const Normalizer normalizer = fit_normalizer("unit", scene);
  const auto samples = [&](const std::vector<Index>& pixels) {
    return gather_samples(scene, scene.labels(), pixels, window, normalizer);
  };
  const SceneSamples training = samples(split.train), unseen = samples(test);
  EXPECT_EQ(training.samples.classes, 8);
  TrainOptions options;
  // Twice the median squared distance between training pixels.
  options.kernel = Spec::parse("gaussian(sigma=0.1)");
  options.epochs = 15;
  Trainer trainer(training.samples, options);
  const double before = accuracy(unseen, options, trainer.parameters());
  trainer.run();
  const Accuracies result{before, accuracy(unseen, options, trainer.parameters())};
  testing::Test::RecordProperty("S" + std::to_string(window) + "_before",
                                std::to_string(result.before));
  testing::Test::RecordProperty("S" + std::to_string(window) + "_after",
                                std::to_string(result.after));
  return result;
}

class SyntheticDifficulty : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SyntheticDifficulty, WindowsAndLearningBothHelp) {
  const Accuracies pixel = train(GetParam(), 1), window = train(GetParam(), 9);
  EXPECT_GT(pixel.after, 60);
  EXPECT_LT(pixel.after, 85);
  EXPECT_GT(pixel.after, pixel.before);
  EXPECT_GT(window.after, 83);
  EXPECT_LT(window.after, 98);
  EXPECT_GT(window.after, pixel.after + 5);
  EXPECT_GT(window.after, window.before + 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SyntheticDifficulty, testing::Values(0, 1),
                         [](const auto& test) { return "seed" + std::to_string(test.param); });

}  // namespace
}  // namespace hyperatom
