#include "hyperatom/scene/synthetic.hpp"

#include <cmath>

#include "hyperatom/base/random.hpp"

namespace hyperatom {
namespace {

size_t at(Index i) { return static_cast<size_t>(i); }

Matrix class_spectra(const SyntheticOptions& options, RandomStream& random) {
  constexpr int features = 4;
  const auto place = [&](Index b) {
    return (static_cast<double>(b) + 0.5) / static_cast<double>(options.bands);
  };
  Matrix spectra(options.bands, options.classes);
  for (Index c = 0; c < options.classes; ++c) {
    const double tilt = 0.1 * random.normal();
    for (Index b = 0; b < options.bands; ++b) {
      const double x = place(b);
      spectra(b, c) =
          (0.35 + 0.3 * std::sin(2.5 * x) - 0.15 * x * x) * (1 + options.contrast * tilt * x);
    }
    for (int f = 0; f < features; ++f) {
      const double centre = random.uniform();
      const double width = 0.02 + 0.06 * random.uniform();
      const double depth = options.contrast * (0.3 + 0.7 * random.uniform());
      for (Index b = 0; b < options.bands; ++b) {
        const double z = (place(b) - centre) / width;
        spectra(b, c) *= 1 - depth * std::exp(-z * z / 2);
      }
    }
  }
  return spectra;
}

/// The class of every pixel: that of the nearest of `fields` random points.
std::vector<Index> land_cover(const SyntheticOptions& options, RandomStream& random) {
  Matrix seeds(2, options.fields);
  for (Index f = 0; f < options.fields; ++f) {
    seeds(0, f) = random.uniform() * static_cast<double>(options.rows);
    seeds(1, f) = random.uniform() * static_cast<double>(options.cols);
  }
  std::vector<Index> classes(at(options.rows * options.cols));
  for (Index i = 0; i < options.rows * options.cols; ++i) {
    Index nearest = 0;
    (seeds.colwise() -
     Eigen::Vector2d(static_cast<double>(i / options.cols), static_cast<double>(i % options.cols)))
        .colwise()
        .squaredNorm()
        .minCoeff(&nearest);
    classes[at(i)] = nearest % options.classes;
  }
  return classes;
}

}  // namespace

SyntheticScene make_synthetic_scene(const SyntheticOptions& options) {
  RandomStream random(options.seed, Purpose::scene);
  const Matrix spectra = class_spectra(options, random);
  SyntheticScene scene{options.rows, options.cols,
                       MatrixF(options.bands, options.rows * options.cols),
                       land_cover(options, random)};
  for (Index i = 0; i < scene.pixels.cols(); ++i) {
    RandomStream pixel(options.seed, Purpose::scene, static_cast<std::uint64_t>(i) + 1);
    const double mixed = options.mixing * pixel.uniform();
    const double light = 0.6 + 0.8 * pixel.uniform();
    const Index other = pixel.below(options.classes);
    for (Index b = 0; b < options.bands; ++b) {
      const double reflectance =
          (1 - mixed) * spectra(b, scene.classes[at(i)]) + mixed * spectra(b, other);
      scene.pixels(b, i) = static_cast<float>(light * reflectance + options.noise * pixel.normal());
    }
  }
  return scene;
}

}  // namespace hyperatom
