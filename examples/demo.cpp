// Trains on a small synthetic scene and prints how well unseen pixels are classified before and after learning.
//
// The scene is a patchwork of fields. A field's pixels are its class spectrum under varying illumination, mixed with
// the spectrum of another class and with noise; the class spectra differ by a few shallow absorption features only.
#include <cmath>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

#include "hyperatom/base/random.hpp"
#include "hyperatom/learn/trainer.hpp"

namespace {

using hyperatom::Index;
using hyperatom::Matrix;
using hyperatom::Purpose;
using hyperatom::RandomStream;
using hyperatom::Samples;

constexpr Index bands = 100;
constexpr Index classes = 6;
constexpr Index side = 60;        // the scene is side x side pixels
constexpr Index field = 10;       // of fields of field x field
constexpr Index per_class = 15;   // labelled pixels
constexpr Index window = 9;       // 3 x 3

/// A smooth continuum that all classes share, times three absorption features of the class's own.
Matrix class_spectra(RandomStream& random) {
  Matrix spectra(bands, classes);
  for (Index c = 0; c < classes; ++c) {
    for (Index b = 0; b < bands; ++b) {
      const double x = static_cast<double>(b) / bands;
      spectra(b, c) = 0.4 + 0.3 * std::sin(2.5 * x) - 0.2 * x * x;
    }
    for (int feature = 0; feature < 3; ++feature) {
      const double centre = random.uniform(), width = 0.03 + 0.05 * random.uniform();
      const double depth = 0.08 + 0.1 * random.uniform();
      for (Index b = 0; b < bands; ++b) {
        const double z = (static_cast<double>(b) / bands - centre) / width;
        spectra(b, c) *= 1 - depth * std::exp(-z * z / 2);
      }
    }
  }
  return spectra;
}

/// All inner pixels of the scene as samples; unit length, 3 x 3 windows, the centre first.
Samples synthetic_scene(std::uint64_t seed) {
  RandomStream random(seed, Purpose::scene);
  const Matrix spectra = class_spectra(random);
  std::vector<Index> fields;
  for (Index i = 0; i < (side / field) * (side / field); ++i) fields.push_back(i % classes);
  const auto shuffle = random.permutation(static_cast<Index>(fields.size()));
  const auto class_at = [&](Index row, Index col) {
    return fields[static_cast<size_t>(shuffle[static_cast<size_t>(row / field * (side / field) + col / field)])];
  };

  Samples samples;
  samples.classes = classes;
  samples.pixels.resize(bands, side * side);
  for (Index i = 0; i < side * side; ++i) {
    const double mixed = 0.35 * random.uniform();
    samples.pixels.col(i) = (1 - mixed) * spectra.col(class_at(i / side, i % side)) +
                            mixed * spectra.col(random.below(classes));
    const double light = 0.5 + random.uniform();
    for (Index b = 0; b < bands; ++b)
      samples.pixels(b, i) = light * samples.pixels(b, i) + 0.012 * random.normal();
    samples.pixels.col(i).normalize();
  }
  samples.windows.resize(window, (side - 2) * (side - 2));
  for (Index row = 1, i = 0; row < side - 1; ++row)
    for (Index col = 1; col < side - 1; ++col, ++i) {
      samples.labels.push_back(class_at(row, col));
      Index s = 0;
      samples.windows(s++, i) = row * side + col;
      for (Index r = row - 1; r <= row + 1; ++r)
        for (Index c = col - 1; c <= col + 1; ++c)
          if (r != row || c != col) samples.windows(s++, i) = r * side + c;
    }
  return samples;
}

Samples subset(const Samples& all, const std::vector<Index>& which) {
  Samples part;
  part.pixels = all.pixels;
  part.classes = all.classes;
  part.windows.resize(all.window(), static_cast<Index>(which.size()));
  for (size_t k = 0; k < which.size(); ++k) {
    part.windows.col(static_cast<Index>(k)) = all.windows.col(which[k]);
    part.labels.push_back(all.label(which[k]));
  }
  return part;
}

/// Share of the samples that the parameters classify rightly.
double accuracy(const Samples& samples, const hyperatom::TrainOptions& options,
                const hyperatom::Parameters& parameters) {
  const auto kernel = hyperatom::make_kernel(options.kernel);
  const hyperatom::Coder coder(kernel->gram(parameters.D, parameters.D), options.coding());
  hyperatom::WindowCoder worker(coder);
  Index right = 0;
  for (Index i = 0; i < samples.size(); ++i) {
    const Matrix X = samples.window_pixels(i);
    const Matrix B = kernel->gram(parameters.D, X);
    const auto& code = worker.encode(hyperatom::MatrixColumns(B).view(), kernel->diagonal(X).sum());
    Index best = 0;
    hyperatom::class_scores(parameters, code).maxCoeff(&best);
    right += best == samples.label(i);
  }
  return static_cast<double>(right) / static_cast<double>(samples.size());
}

void run() {
  const Samples scene = synthetic_scene(1);
  std::vector<Index> taken(classes, 0), train, test;
  for (const Index i : RandomStream(1, Purpose::split).permutation(scene.size())) {
    Index& count = taken[static_cast<size_t>(scene.label(i))];
    (count < per_class ? train : test).push_back(i);
    ++count;
  }
  const Samples training = subset(scene, train), unseen = subset(scene, test);
  std::printf("synthetic scene: %td x %td pixels, %td bands, %td classes; %td labelled, %td unseen\n", side,
              side, bands, classes, training.size(), unseen.size());

  hyperatom::TrainOptions options;
  options.kernel = hyperatom::Spec::parse("gaussian(sigma=0.02)");
  options.batch = 10;
  hyperatom::Trainer trainer(training, options);
  const double before = accuracy(unseen, options, trainer.parameters());
  trainer.run([](const hyperatom::StepReport& report) {
    if (report.step % (report.steps / 6) == 0)
      std::printf("epoch %3td: loss %.4f, training accuracy %5.1f %%, %.1f active atoms, gap %.1e\n",
                  report.epoch, report.batch.loss, 100 * report.batch.accuracy, report.active, report.gap);
    return true;
  });
  const double after = accuracy(unseen, options, trainer.parameters());
  std::printf("unseen pixels classified rightly: %.1f %% with the initial dictionary, %.1f %% after learning\n",
              100 * before, 100 * after);
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
