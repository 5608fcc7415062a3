#include "hyperatom/scene/normalizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/random.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom::test {
namespace {

MatrixF random_pixels(Index bands, Index n, std::uint64_t seed = 1) {
  RandomStream random(seed, Purpose::scene);
  MatrixF pixels(bands, n);
  for (Index j = 0; j < n; ++j)
    for (Index b = 0; b < bands; ++b)
      pixels(b, j) = static_cast<float>(1000 * random.uniform() + 10 * static_cast<double>(b));
  return pixels;
}

/// As if the pixels were one row of a scene.
Normalizer fit_row(std::string_view kind, const MatrixF& pixels) {
  std::vector<Normalizer::Pair> pairs;
  while (static_cast<Index>(pairs.size()) < 4 * pixels.rows())  // mnf wants as many
    for (Index j = 0; j + 1 < pixels.cols(); ++j) pairs.push_back({j, j + 1});
  return Normalizer::fit(kind, pixels, pairs);
}

TEST(Normalizer, NoneKeepsThePixels) {
  const MatrixF pixels = random_pixels(7, 5);
  EXPECT_EQ(Normalizer::fit("none", pixels).apply(pixels), pixels.cast<double>());
}

TEST(Normalizer, UnitGivesLengthOne) {
  MatrixF pixels = random_pixels(7, 5);
  pixels.col(2).setZero();
  const Matrix result = Normalizer::fit("unit", pixels).apply(pixels);
  for (Index j = 0; j < 5; ++j) {
    if (j == 2) continue;
    EXPECT_NEAR(result.col(j).norm(), 1, 1e-15);
    const Vector x = pixels.col(j).cast<double>();
    EXPECT_LT((result.col(j) - x / x.norm()).norm(), 1e-15);
  }
  EXPECT_EQ(result.col(2), Vector::Zero(7));
}

TEST(Normalizer, StandardGivesMeanZeroAndDeviationOne) {
  const MatrixF pixels = random_pixels(5, 200);
  const Normalizer normalizer = Normalizer::fit("standard", pixels);
  const Matrix result = normalizer.apply(pixels);
  for (Index b = 0; b < 5; ++b) {
    EXPECT_NEAR(result.row(b).mean(), 0, 1e-13);
    EXPECT_NEAR(result.row(b).squaredNorm() / 200, 1, 1e-13);
    EXPECT_NEAR(normalizer.offset[b], pixels.row(b).cast<double>().mean(), 1e-10);
  }
}

TEST(Normalizer, MinmaxGivesTheRangeFromZeroToOne) {
  const MatrixF pixels = random_pixels(5, 200);
  const Matrix result = Normalizer::fit("minmax", pixels).apply(pixels);
  for (Index b = 0; b < 5; ++b) {
    EXPECT_EQ(result.row(b).minCoeff(), 0);
    EXPECT_NEAR(result.row(b).maxCoeff(), 1, 1e-15);
  }
}

TEST(Normalizer, StandardUnitIsTheOneAfterTheOther) {
  const MatrixF pixels = random_pixels(5, 20);
  const Matrix standard = Normalizer::fit("standard", pixels).apply(pixels);
  const Matrix both = Normalizer::fit("standard+unit", pixels).apply(pixels);
  for (Index j = 0; j < 20; ++j)
    EXPECT_LT((both.col(j) - standard.col(j) / standard.col(j).norm()).norm(), 1e-15);
}

// 0.1f summed a thousand times does not give a thousand times its value.
TEST(Normalizer, ConstantBandContributesNothing) {
  MatrixF pixels = random_pixels(3, 1000);
  pixels.row(1).setConstant(0.1f);
  MatrixF other = pixels;
  other.row(1).setConstant(17);
  for (const char* kind : {"standard", "standard+unit", "minmax"}) {
    const Normalizer normalizer = Normalizer::fit(kind, pixels);
    EXPECT_EQ(normalizer.scale[1], 0);
    EXPECT_EQ(normalizer.apply(other).row(1).cwiseAbs().maxCoeff(), 0) << kind;
    EXPECT_TRUE(normalizer.apply(pixels).allFinite());
  }
  EXPECT_EQ(Normalizer::fit("standard", pixels.leftCols(1)).apply(pixels), Matrix::Zero(3, 1000));
}

TEST(Normalizer, SmallDifferencesOfLargeValuesSurvive) {
  MatrixF pixels(1, 3);
  pixels << 1e6f, 1e6f + 0.125f, 1e6f + 0.25f;
  const Normalizer normalizer = Normalizer::fit("standard", pixels);
  EXPECT_EQ(normalizer.offset[0], 1e6 + 0.125);
  EXPECT_NEAR(normalizer.scale[0], 1 / (0.125 * std::sqrt(2.0 / 3)), 1e-13);
}

TEST(Normalizer, ExtremeValuesStayFinite) {
  for (const float size : {1e-30f, 1e30f, std::numeric_limits<float>::denorm_min(), 3e38f}) {
    MatrixF pixels(2, 3);
    pixels << 0, size, -size, size, 0, 0;
    for (const std::string& kind : normalizer_kinds()) {
      const Matrix result = fit_row(kind, pixels).apply(pixels);
      EXPECT_TRUE(result.allFinite()) << kind << ' ' << size;
      if (kind == "unit") {
        EXPECT_NEAR(result.col(1).norm(), 1, 1e-15);
      }
    }
  }
}

// Bit-identical maps for every tile size rest on this.
TEST(Normalizer, ColumnDependsOnThatColumnAlone) {
  for (const Index bands : {1, 2, 3, 4, 5, 7, 8, 31, 103, 204}) {
    const MatrixF pixels = random_pixels(bands, 23);
    for (const std::string& kind : normalizer_kinds()) {
      if (learns_from_noise(kind) && bands == 1) continue;  // of unit length, all are alike
      const Normalizer normalizer = fit_row(kind, pixels);
      const Matrix whole = normalizer.apply(pixels);
      for (Index j = 0; j < 23; ++j)
        for (const Index n : {Index{1}, Index{2}, 23 - j}) {
          if (j + n > 23) continue;
          ASSERT_EQ(normalizer.apply(pixels.middleCols(j, n)), whole.middleCols(j, n))
              << kind << ' ' << bands << " bands, columns " << j << " + " << n;
        }
    }
  }
}

// A scene of 60 x 60 pixels, 40 bands: fields of 10 x 10 pixels that mix `signals` spectra, and
// noise whose deviation differs from band to band by a factor of 100.
struct NoisyScene {
  static constexpr Index bands = 40, side = 60;
  Matrix spectra, noise_free;
  Vector deviation;
  MatrixF pixels;
  std::vector<Normalizer::Pair> pairs;

  explicit NoisyScene(Index signals) : spectra(bands, signals), deviation(bands) {
    RandomStream random(3, Purpose::scene);
    const auto normal = [&] {  // near enough: twelve uniforms
      double sum = -6;
      for (int i = 0; i < 12; ++i) sum += random.uniform();
      return sum;
    };
    for (Index b = 0; b < bands; ++b) {
      deviation[b] = std::pow(10.0, -3 + 2 * static_cast<double>(b) / bands);
      for (Index k = 0; k < signals; ++k) spectra(b, k) = normal() / 10;
    }
    Matrix shares(signals, 36);
    for (double& share : shares.reshaped()) share = normal();
    noise_free.resize(bands, side * side);
    pixels.resize(bands, side * side);
    for (Index i = 0; i < side * side; ++i) {
      const Index field = i / side / 10 * 6 + i % side / 10;
      const Vector x = Vector::Ones(bands) + spectra * shares.col(field);
      noise_free.col(i) = x;
      for (Index b = 0; b < bands; ++b)
        pixels(b, i) = static_cast<float>(x[b] + deviation[b] * normal());
      if (i % side > 0) pairs.push_back({i - 1, i});
      if (i >= side) pairs.push_back({i - side, i});
    }
  }
};

TEST(Normalizer, MnfFindsTheSignalsAndWhitensTheNoise) {
  const NoisyScene scene(3);
  const Normalizer normalizer = Normalizer::fit("mnf", scene.pixels, scene.pairs);
  ASSERT_EQ(normalizer.bands(), 40);
  ASSERT_GE(normalizer.features(), 3);
  ASSERT_LE(normalizer.features(), 20);

  // The noise itself, put through the mix: equal power in every feature, but for its weight.
  const Matrix noise =
      scene.pixels.cast<double>().colwise().normalized() - scene.noise_free.colwise().normalized();
  const Vector power = (normalizer.mix * noise).rowwise().squaredNorm() / noise.cols();
  for (Index k = 0; k < 3; ++k) {  // bands: 1e-6 to 1e-2
    EXPECT_GT(power[k], 0.5) << k;
    EXPECT_LT(power[k], 2) << k;
  }
  EXPECT_LT(power[power.size() - 1], 0.25);  // a feature that is mostly noise weighs little

  // Pixels of one place with other noise are closer to each other than without mnf, relative to
  // pixels elsewhere.
  const auto ratio = [&](const Normalizer& how) {
    const Matrix noisy = how.apply(scene.pixels);
    const Matrix clean = how.apply(scene.noise_free.cast<float>());
    double same = 0, other = 0;
    for (Index i = 0; i + 30 < noisy.cols(); i += 30) {
      same += (noisy.col(i) - clean.col(i)).squaredNorm();
      other += (clean.col(i) - clean.col(i + 30)).squaredNorm();
    }
    return same / other;
  };
  EXPECT_LT(ratio(normalizer), 0.1 * ratio(Normalizer::fit("unit", scene.pixels)));
}

TEST(Normalizer, MnfPixelsHaveLengthOneWhateverTheirBrightness) {
  const NoisyScene scene(3);
  const Normalizer normalizer = Normalizer::fit("mnf", scene.pixels, scene.pairs);
  const Matrix bright = normalizer.apply(scene.pixels.leftCols(50));
  const Matrix dark = normalizer.apply(scene.pixels.leftCols(50) / 8);
  for (Index j = 0; j < 50; ++j) EXPECT_NEAR(bright.col(j).norm(), 1, 1e-14);
  EXPECT_LT((bright - dark).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Normalizer, MnfIgnoresPairsAcrossEdges) {
  NoisyScene scene(3);
  const Normalizer before = Normalizer::fit("mnf", scene.pixels, scene.pairs);
  RandomStream random(4, Purpose::scene);
  const size_t honest = scene.pairs.size();
  for (size_t i = 0; i < honest / 5; ++i)
    scene.pairs.push_back({random.below(3600), random.below(3600)});
  const Normalizer after = Normalizer::fit("mnf", scene.pixels, scene.pairs);
  const Matrix a = before.apply(scene.pixels), b = after.apply(scene.pixels);
  EXPECT_LT((a.transpose() * a.leftCols(50) - b.transpose() * b.leftCols(50)).cwiseAbs().maxCoeff(),
            0.05);
}

TEST(Normalizer, MnfLearnsNothingFromCopies) {
  NoisyScene scene(3);
  const Normalizer before = Normalizer::fit("mnf", scene.pixels, scene.pairs);
  for (size_t i = 2 * scene.pairs.size(); i > 0; --i) {
    const auto j = static_cast<Index>(i % 3600);
    scene.pairs.push_back({j, j});
  }
  EXPECT_EQ(Normalizer::fit("mnf", scene.pixels, scene.pairs).mix, before.mix);
}

TEST(Normalizer, MnfOfFewBandsKeepsThem) {
  MatrixF pixels = random_pixels(4, 400);  // neighbours are as unlike as any two: all is noise
  for (Index j = 0; j < 400; ++j) pixels.col(j) = pixels.col(j / 20 * 20);
  pixels += 0.01f * random_pixels(4, 400, 2);
  EXPECT_EQ(fit_row("mnf", pixels).features(), 4);
}

TEST(Normalizer, MnfRefusesWhatHasNoNoise) {
  const std::string none =
      "mnf: 0 pairs of valid neighbouring pixels that differ, "
      "expected at least 4 for each of the 3 bands";
  EXPECT_EQ(thrown<DataError>([] { Normalizer::fit("mnf", random_pixels(3, 9)); }), none);
  EXPECT_EQ(thrown<DataError>([] { fit_row("mnf", MatrixF::Ones(3, 90)); }), none);
}

/// Every kind, as far as its features go: back to bands and forth again.
TEST(Normalizer, SpectraLeadBackToThePixel) {
  const MatrixF pixels = random_pixels(6, 60);
  for (const std::string& kind : normalizer_kinds()) {
    const Normalizer normalizer = fit_row(kind, pixels);
    const Matrix features = normalizer.apply(pixels), spectra = normalizer.spectra(features);
    for (Index j = 0; j < pixels.cols(); ++j) {
      const Normalizer::Lengths lengths = normalizer.lengths(pixels.col(j));
      const Vector back = lengths.features * spectra.col(j) + lengths.offset * normalizer.offset;
      const Vector x = pixels.col(j).cast<double>();
      const Vector seen =
          normalizer.mix.size() > 0 ? Vector(normalizer.mix * (back - x)) : back - x;
      EXPECT_LT(seen.norm(), 1e-9 * x.norm()) << kind << ' ' << j;
    }
  }
}

TEST(Normalizer, RefusesAnUnknownKind) {
  EXPECT_EQ(
      thrown<OptionError>([] { Normalizer::fit("zscore", random_pixels(2, 2)); }),
      "unknown normalization 'zscore'; known: none, unit, standard, standard+unit, minmax, mnf");
}

TEST(Normalizer, RefusesNoPixels) {
  EXPECT_EQ(thrown<DataError>([] { Normalizer::fit("unit", MatrixF(3, 0)); }),
            "0 pixels of 3 bands to normalize by, expected at least one");
  EXPECT_EQ(thrown<DataError>([] { Normalizer::fit("unit", MatrixF(0, 3)); }),
            "3 pixels of 0 bands to normalize by, expected at least one");
}

TEST(Normalizer, RefusesPixelsThatAreNotFinite) {
  MatrixF pixels = random_pixels(3, 4);
  pixels(1, 2) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(thrown<DataError>([&] { Normalizer::fit("standard", pixels); }),
            "pixel 2 to normalize by is nan in band 1 (from 0), expected a number");
}

TEST(Normalizer, RefusesAnotherNumberOfBands) {
  for (const std::string& kind : normalizer_kinds()) {
    const Normalizer normalizer = fit_row(kind, random_pixels(3, 4));
    EXPECT_EQ(thrown<DataError>([&] { normalizer.apply(random_pixels(4, 1)); }),
              "the pixels have 4 bands, expected the 3 that the normalization was fitted on");
  }
}

TEST(Normalizer, NoPixelsGiveNone) {
  const Normalizer normalizer = Normalizer::fit("unit", random_pixels(3, 4));
  EXPECT_EQ(normalizer.apply(MatrixF(3, 0)).cols(), 0);
}

}  // namespace
}  // namespace hyperatom::test
