// A model over a scene: the same bits for every strip height and number of threads, masked pixels
// untouched, refusals.
#include "hyperatom/predict/classifier.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/learn/gradient.hpp"
#include "hyperatom/learn/scene_samples.hpp"
#include "hyperatom/learn/trainer.hpp"
#include "hyperatom/scene/neighborhoods.hpp"
#include "hyperatom/scene/synthetic.hpp"

namespace hyperatom {
namespace {

struct Fixture {
  Scene scene;
  Labels labels;
  Model model;
};

std::vector<Index> labelled_pixels(const Labels& labels) {
  std::vector<Index> pixels;
  for (Index i = 0; i < labels.pixels(); ++i)
    if (labels.id(i) > 0) pixels.push_back(i);
  return pixels;
}

Fixture make_fixture(Index window, Index rows, Index cols) {
  Fixture f;
  SyntheticScene synthetic({.rows = rows,
                            .cols = cols,
                            .bands = 30,
                            .classes = 4,
                            .field = 4,
                            .labelled = 1,
                            .seed = 2});
  f.scene = read_all(synthetic);
  f.labels = synthetic.labels();
  for (Index i = 0; i < rows * cols; i += 13) f.scene.data.pixels.col(i).setZero();
  f.scene.data.pixels(3, 5) = std::nanf("");
  mark_valid(f.scene.data, std::nullopt);

  const std::vector<Index> train = labelled_pixels(f.labels);
  const auto source = make_source(f.scene);
  f.model.normalizer = fit_normalizer("unit", *source);
  const SceneSamples samples = gather_samples(*source, f.labels, train, window, f.model.normalizer);
  TrainOptions train_options;
  train_options.epochs = 2;
  const Trainer trainer(samples.samples, train_options);
  const Normalizer normalizer = f.model.normalizer;
  f.model = trainer.model();
  f.model.normalizer = normalizer;
  f.model.class_ids = samples.class_ids;
  f.model.class_names = f.labels.names;
  f.model.class_colours = f.labels.colours;
  f.model.wavelengths = f.scene.info.wavelengths;
  return f;
}

struct Map {
  std::vector<std::int32_t> ids;
  MatrixF scores, confidence, novelty;
  std::vector<PixelCode> codes;
  ClassifyReport report;
};

Map classify(const Fixture& f, const ClassifyOptions& options) {
  const auto source = make_source(f.scene);
  Map map;
  const Index pixels = f.scene.info.pixels();
  map.ids.assign(static_cast<size_t>(pixels), -1);
  map.scores.setZero(4, pixels);
  map.confidence.setZero(1, pixels);
  map.novelty.setZero(1, pixels);
  map.report = Classifier(f.model).classify(*source, options, [&](const ClassifiedStrip& strip) {
    const Index first = strip.first * f.scene.info.cols, count = strip.count * f.scene.info.cols;
    std::copy(strip.ids.begin(), strip.ids.end(), map.ids.begin() + first);
    map.scores.middleCols(first, count) = strip.scores;
    map.confidence.middleCols(first, count) = strip.confidence;
    map.novelty.middleCols(first, count) = strip.novelty;
    map.codes.insert(map.codes.end(), strip.codes.begin(), strip.codes.end());
  });
  return map;
}

/// Equal bits; NaN equals NaN.
bool same(const MatrixF& a, const MatrixF& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size()) * sizeof(float)) == 0;
}

class ClassifierWindows : public testing::TestWithParam<Index> {};

TEST_P(ClassifierWindows, SameBitsForEveryStripHeightAndThreadCount) {
  const Fixture f = make_fixture(GetParam(), 23, 150);
  const Map whole = classify(f, {.ram = 100000});
  EXPECT_EQ(whole.report.classified + whole.report.not_valid, f.scene.info.pixels());
  EXPECT_GT(whole.report.not_valid, 200);
  EXPECT_EQ(whole.report.unconverged, 0);
  for (const int threads : {1, 2, 5})
    for (const Index ram : {0, 1, 2, 3}) {
      const ThreadLimit limit(threads);
      const Map part = classify(f, {.ram = ram});
      EXPECT_EQ(part.ids, whole.ids);
      EXPECT_TRUE(same(part.scores, whole.scores));
      EXPECT_TRUE(same(part.confidence, whole.confidence));
      EXPECT_TRUE(same(part.novelty, whole.novelty));
    }
}

/// A scene whose rows from `broken` on can't be read.
class BrokenSource final : public SceneSource {
 public:
  BrokenSource(const Scene& scene, Index broken) : whole_(make_source(scene)), broken_(broken) {}
  const SceneInfo& info() const override { return whole_->info(); }
  void read(Index first, Index count, Strip& strip) override {
    if (first + count > broken_) throw DataError("rows can't be read");
    whole_->read(first, count, strip);
  }

 private:
  std::unique_ptr<SceneSource> whole_;
  Index broken_;
};

/// Rows are read ahead on another thread: what goes wrong there is told, after the rows before it.
TEST(LinearScorer, AddsUpTheActiveAtomsForAnyNumberOfClasses) {
  const Index atoms = 7, window = 2;
  const Matrix K = Matrix::Identity(atoms, atoms);
  SparseCode code;
  code.active = {1, 4, 6};
  code.A = RowMatrix::Random(3, window);
  for (const Index classes : {1, 4, 9, 16, 17, 70}) {
    Model model;
    model.dictionary = Matrix::Zero(3, atoms);
    model.weights = Matrix::Random(classes, atoms);
    model.bias = Vector::Random(classes);
    model.class_ids.resize(at(classes));
    Vector scores;
    make_scorer(model, AtomGram(K, 0))->score({.code = &code}, scores);
    const Vector expected = model.weights * code.dense(atoms).col(0) + model.bias;
    ASSERT_EQ(scores.size(), classes);
    EXPECT_LT((scores - expected).lpNorm<Eigen::Infinity>(), 1e-14) << classes << " classes";
  }
}

TEST(Classifier, RowsThatCannotBeReadEndTheMap) {
  const Fixture f = make_fixture(1, 23, 150);
  for (const int threads : {1, 2}) {
    const ThreadLimit limit(threads);
    BrokenSource source(f.scene, 15);
    Index rows = 0;
    EXPECT_THROW(Classifier(f.model).classify(source, {.ram = 0},
                                              [&](const ClassifiedStrip& strip) {
                                                EXPECT_EQ(strip.first, rows);
                                                rows += strip.count;
                                              }),
                 DataError);
    EXPECT_EQ(rows, 15);
  }
}

/// Strips are handed over while the next is classified.
TEST(Classifier, AStripThatCannotBeTakenEndsTheMap) {
  const Fixture f = make_fixture(1, 23, 150);
  const auto source = make_source(f.scene);
  for (const int threads : {1, 2})
    for (const Index full : {0, 9, 22}) {
      const ThreadLimit limit(threads);
      Index rows = 0;
      EXPECT_THROW(Classifier(f.model).classify(*source, {.ram = 0},
                                                [&](const ClassifiedStrip& strip) {
                                                  if (strip.first == full) throw IoError("full");
                                                  rows += strip.count;
                                                }),
                   IoError);
      EXPECT_EQ(rows, full);
    }
}

TEST_P(ClassifierWindows, RowsInTheMiddleAreThoseOfTheWholeScene) {
  const Fixture f = make_fixture(GetParam(), 23, 40);
  const Map whole = classify(f, {});
  const Map part = classify(f, {.first = 9, .count = 5});
  for (Index i = 0; i < f.scene.info.pixels(); ++i) {
    const bool inside = i / 40 >= 9 && i / 40 < 14;
    EXPECT_EQ(part.ids[static_cast<size_t>(i)], inside ? whole.ids[static_cast<size_t>(i)] : -1);
  }
}

TEST_P(ClassifierWindows, ColumnsThatBeginWithASequenceAreThoseOfTheWholeScene) {
  const Fixture f = make_fixture(GetParam(), 12, 300);
  const Map whole = classify(f, {});
  const Map part =
      classify(f, {.first = 2, .count = 7, .first_col = classify_segment, .cols = 150});
  for (Index i = 0; i < f.scene.info.pixels(); ++i) {
    const Index row = i / 300, col = i % 300;
    if (row < 2 || row >= 9) continue;
    const bool inside = col >= classify_segment && col < classify_segment + 150;
    EXPECT_EQ(part.ids[static_cast<size_t>(i)], inside ? whole.ids[static_cast<size_t>(i)] : 0);
    EXPECT_TRUE(!inside || same(part.scores.col(i), whole.scores.col(i)));
  }
}

/// The long way: window by window, each from a cold start.
TEST_P(ClassifierWindows, AgreesWithCodingEveryWindowAlone) {
  const Fixture f = make_fixture(GetParam(), 12, 15);
  const Map map = classify(f, {});
  const auto kernel = make_kernel(f.model.kernel);
  const Matrix& D = f.model.dictionary;
  const Coder coder(kernel->gram(D, D), f.model.coding);
  const Neighborhoods neighborhoods(f.model.window);
  const Parameters theta{D, f.model.weights, f.model.bias};
  std::vector<Index> window(static_cast<size_t>(f.model.window));
  for (Index i = 0; i < f.scene.info.pixels(); ++i) {
    if (!f.scene.data.valid[static_cast<size_t>(i)]) {
      EXPECT_EQ(map.ids[static_cast<size_t>(i)], 0);
      EXPECT_TRUE(std::isnan(map.confidence(0, i)) && std::isnan(map.novelty(0, i)) &&
                  std::isnan(map.scores(0, i)));
      continue;
    }
    neighborhoods.gather(f.scene.data.valid, 12, 15, i / 15, i % 15, window);
    MatrixF raw(30, f.model.window);
    for (Index s = 0; s < f.model.window; ++s)
      raw.col(s) = f.scene.data.pixels.col(window[static_cast<size_t>(s)]);
    const Matrix X = f.model.normalizer.apply(raw);
    const Matrix B = kernel->gram(D, X);
    const SparseCode code = coder.encode(B, kernel->diagonal(X).sum());
    const Vector scores = class_scores(theta, code);
    EXPECT_LT((map.scores.col(i).cast<double>() - scores).norm(), 1e-3);
    const Vector a = code.dense(D.cols()).col(0);
    const double rest = 1 - 2 * a.dot(B.col(0)) + a.dot(kernel->gram(D, D) * a);
    EXPECT_NEAR(map.novelty(0, i), rest, 1e-4);
  }
}

TEST_P(ClassifierWindows, ExplainsEveryPixelAsTheMapHasIt) {
  const Fixture f = make_fixture(GetParam(), 9, 150);  // wider than a segment of the pass
  const Map map = classify(f, {.codes = true});
  const auto source = make_source(f.scene);
  const Classifier classifier(f.model);
  ASSERT_EQ(map.codes.size(), static_cast<size_t>(f.scene.info.pixels()));
  EXPECT_TRUE(classify(f, {}).codes.empty());
  for (Index i = 0; i < f.scene.info.pixels(); i += 11) {
    if (!f.scene.data.valid[static_cast<size_t>(i)]) continue;
    const Explanation why = classifier.explain(*source, i / 150, i % 150);
    EXPECT_EQ(f.model.class_ids[static_cast<size_t>(why.class_index)],
              map.ids[static_cast<size_t>(i)]);
    EXPECT_EQ(why.scores.cast<float>(), map.scores.col(i));
    EXPECT_EQ(static_cast<float>(why.confidence), map.confidence(0, i));
    EXPECT_EQ(static_cast<float>(why.novelty), map.novelty(0, i));
    ASSERT_EQ(why.window.size(), static_cast<size_t>(GetParam()));
    EXPECT_EQ(why.window[0], i);
    Vector scores = f.model.bias;
    for (size_t k = 0; k < why.code.active.size(); ++k)
      scores += why.code.A(static_cast<Index>(k), 0) * f.model.weights.col(why.code.active[k]);
    EXPECT_LT((scores - why.scores).norm(), 1e-12);
    const PixelCode& code = map.codes[static_cast<size_t>(i)];
    ASSERT_EQ(code.atoms.size(), why.code.active.size());
    EXPECT_EQ(code.gap, why.code.gap / why.code.objective);
    for (size_t k = 0; k < code.atoms.size(); ++k) {
      EXPECT_EQ(code.atoms[k], why.code.active[k]);
      EXPECT_EQ(code.weights[k], static_cast<float>(why.code.A(static_cast<Index>(k), 0)));
    }
  }
  EXPECT_TRUE(map.codes[0].atoms.empty());  // a pixel that is not valid has none
}

INSTANTIATE_TEST_SUITE_P(Sizes, ClassifierWindows, testing::Values(1, 9, 25),
                         [](const auto& test) { return "S" + std::to_string(test.param); });

TEST(Classifier, MaskedValuesChangeNothing) {
  Fixture f = make_fixture(9, 20, 30);
  const Map before = classify(f, {});
  for (Index i = 0; i < f.scene.info.pixels(); ++i)
    if (!f.scene.data.valid[static_cast<size_t>(i)]) f.scene.data.pixels.col(i).setConstant(123);
  EXPECT_EQ(classify(f, {}).ids, before.ids);
}

TEST(Classifier, ExplainRefusesPixelsThatAreNotThere) {
  const Fixture f = make_fixture(9, 12, 15);
  const auto source = make_source(f.scene);
  const Classifier classifier(f.model);
  EXPECT_THROW(classifier.explain(*source, -1, 0), OptionError);
  EXPECT_THROW(classifier.explain(*source, 12, 0), OptionError);
  EXPECT_THROW(classifier.explain(*source, 0, 15), OptionError);
  Index masked = 0;
  while (f.scene.data.valid[static_cast<size_t>(masked)]) ++masked;
  EXPECT_THROW(classifier.explain(*source, masked / 15, masked % 15), DataError);
}

TEST(Classifier, MapsKeepTheNumbersOfTheLabels) {
  Fixture f = make_fixture(9, 20, 30);
  const Map before = classify(f, {});
  std::vector<Index> ids;
  for (const Index id : f.model.class_ids) ids.push_back(2 * id + 3);
  f.model.class_ids = ids;
  const Map after = classify(f, {});
  for (size_t i = 0; i < before.ids.size(); ++i)
    EXPECT_EQ(after.ids[i], before.ids[i] == 0 ? 0 : 2 * before.ids[i] + 3);
}

TEST(Classifier, RefusesOtherBands) {
  const Fixture f = make_fixture(1, 12, 15);
  const Classifier classifier(f.model);
  const auto message = [&](const SceneInfo& info) {
    try {
      classifier.expect_fits(info);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  SceneInfo other = f.scene.info;
  EXPECT_EQ(message(other), "nothing was thrown");
  other.wavelengths = Vector();
  EXPECT_EQ(message(other), "nothing was thrown");
  other.bands = 20;
  EXPECT_EQ(
      message(other),
      "synthetic: 20 bands (without wavelengths), the model was trained on 30 (0.400 to 2.500 um)");
  other = f.scene.info;
  other.wavelengths[4] += 0.05;
  EXPECT_EQ(message(other), "synthetic: band 5 is at 0.7397 um, the model's at 0.6897 um");
}

TEST(SceneSamples, WindowsAndLabelsOfThePixels) {
  const Fixture f = make_fixture(9, 40, 30);
  const auto source = make_source(f.scene);
  const std::vector<Index> pixels = labelled_pixels(f.labels);
  const SceneSamples got = gather_samples(*source, f.labels, pixels, 9, f.model.normalizer);
  EXPECT_EQ(got.samples.size() + got.not_valid, static_cast<Index>(pixels.size()));
  EXPECT_GT(got.not_valid, 0);
  const Neighborhoods neighborhoods(9);
  std::vector<Index> window(9);
  for (Index k = 0; k < got.samples.size(); ++k) {
    const Index i = got.pixels[static_cast<size_t>(k)];
    EXPECT_EQ(got.samples.label(k), f.labels.id(i) - 1);
    neighborhoods.gather(f.scene.data.valid, 40, 30, i / 30, i % 30, window);
    for (Index s = 0; s < 9; ++s) {
      const MatrixF raw = f.scene.data.pixels.col(window[static_cast<size_t>(s)]);
      EXPECT_EQ(got.samples.window_pixels(k).col(s), f.model.normalizer.apply(raw).col(0));
    }
  }
}

TEST(SceneSamples, ClassesWithoutAPixelAreLeftOut) {
  const Fixture f = make_fixture(1, 40, 30);
  const auto source = make_source(f.scene);
  std::vector<Index> pixels;
  for (const Index i : labelled_pixels(f.labels))
    if (f.labels.id(i) != 2) pixels.push_back(i);
  const SceneSamples got = gather_samples(*source, f.labels, pixels, 1, f.model.normalizer);
  EXPECT_EQ(got.class_ids, (std::vector<Index>{1, 3, 4}));
  EXPECT_EQ(got.samples.classes, 3);
  for (Index k = 0; k < got.samples.size(); ++k)
    EXPECT_EQ(got.class_ids[static_cast<size_t>(got.samples.label(k))],
              f.labels.id(got.pixels[static_cast<size_t>(k)]));
}

}  // namespace
}  // namespace hyperatom
