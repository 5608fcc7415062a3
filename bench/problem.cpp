#include "bench/problem.hpp"

#include <cmath>
#include <vector>

#include "hyperatom/base/random.hpp"
#include "hyperatom/learn/initialisation.hpp"
#include "hyperatom/scene/normalizer.hpp"

namespace hyperatom::bench {
namespace {

// The pixels are simpler than those of hyperatom/scene/synthetic.hpp and do not change with it: the
// figures of docs/benchmarks.md rest on them.

constexpr Index scene_rows = 40, scene_cols = 60, fields = 60;
constexpr double contrast = 0.1;  // depth of the absorption features that tell classes apart
constexpr double mixing = 0.6;    // largest share of another class in a pixel
// The noise decides how coherent the atoms are, and with it the ratio to ADMM: docs/benchmarks.md
// says how it was chosen.
constexpr double noise = 0.001;

struct Pixels {
  MatrixF spectra;             ///< bands x pixels, row by row
  std::vector<Index> classes;  ///< of every pixel, from 0
};

/// A continuum that all classes share in part, times four absorption features of the class.
Matrix class_spectra(const Size& size, RandomStream& random) {
  const auto place = [&](Index b) {
    return (static_cast<double>(b) + 0.5) / static_cast<double>(size.bands);
  };
  Matrix spectra(size.bands, size.classes);
  for (Index c = 0; c < size.classes; ++c) {
    const double tilt = 0.1 * random.normal();
    for (Index b = 0; b < size.bands; ++b) {
      const double x = place(b);
      spectra(b, c) = (0.35 + 0.3 * std::sin(2.5 * x) - 0.15 * x * x) * (1 + contrast * tilt * x);
    }
    for (int f = 0; f < 4; ++f) {
      const double centre = random.uniform();
      const double width = 0.02 + 0.06 * random.uniform();
      const double depth = contrast * (0.3 + 0.7 * random.uniform());
      for (Index b = 0; b < size.bands; ++b) {
        const double z = (place(b) - centre) / width;
        spectra(b, c) *= 1 - depth * std::exp(-z * z / 2);
      }
    }
  }
  return spectra;
}

/// The class of every pixel: that of the nearest of `fields` random points.
std::vector<Index> land_cover(const Size& size, RandomStream& random) {
  Matrix seeds(2, fields);
  for (Index f = 0; f < fields; ++f) {
    seeds(0, f) = random.uniform() * scene_rows;
    seeds(1, f) = random.uniform() * scene_cols;
  }
  std::vector<Index> classes;
  for (Index i = 0; i < scene_rows * scene_cols; ++i) {
    const Eigen::Vector2d here(static_cast<double>(i / scene_cols),
                               static_cast<double>(i % scene_cols));
    Index nearest = 0;
    (seeds.colwise() - here).colwise().squaredNorm().minCoeff(&nearest);
    classes.push_back(nearest % size.classes);
  }
  return classes;
}

/// The spectrum of the field's class, mixed with that of another, under its own light, plus noise.
Pixels make_pixels(const Size& size) {
  RandomStream random(0, Purpose::scene);
  const Matrix spectra = class_spectra(size, random);
  Pixels pixels{MatrixF(size.bands, scene_rows * scene_cols), land_cover(size, random)};
  for (Index i = 0; i < pixels.spectra.cols(); ++i) {
    RandomStream pixel(0, Purpose::scene, static_cast<std::uint64_t>(i) + 1);
    const double mixed = mixing * pixel.uniform();
    const double light = 0.6 + 0.8 * pixel.uniform();
    const Index other = pixel.below(size.classes);
    for (Index b = 0; b < size.bands; ++b) {
      const double reflectance = (1 - mixed) * spectra(b, pixels.classes[static_cast<size_t>(i)]) +
                                 mixed * spectra(b, other);
      pixels.spectra(b, i) = static_cast<float>(light * reflectance + noise * pixel.normal());
    }
  }
  return pixels;
}

}  // namespace

Problem::Problem(const Size& size, Index window, const Spec& kernel)
    : kernel_(make_kernel(kernel)) {
  const Pixels scene = make_pixels(size);
  samples_.classes = size.classes;
  samples_.pixels = Normalizer::fit("unit", scene.spectra).apply(scene.spectra);
  const auto reach =
      static_cast<Index>(std::lround((std::sqrt(static_cast<double>(window)) - 1) / 2));
  const Index rows = scene_rows - 2 * reach, cols = scene_cols - 2 * reach;
  samples_.windows.resize(window, rows * cols);
  for (Index i = 0; i < rows * cols; ++i) {
    const Index centre = (reach + i / cols) * scene_cols + reach + i % cols;
    samples_.labels.push_back(scene.classes[static_cast<size_t>(centre)]);
    Index s = 0;
    samples_.windows(s++, i) = centre;
    for (Index r = -reach; r <= reach; ++r)
      for (Index c = -reach; c <= reach; ++c)
        if (r != 0 || c != 0) samples_.windows(s++, i) = centre + r * scene_cols + c;
  }
  const auto order = RandomStream(0, Purpose::atoms).permutation(samples_.size());
  D_.resize(size.bands, size.atoms);
  for (Index j = 0; j < size.atoms; ++j) D_.col(j) = samples_.centre(order[static_cast<size_t>(j)]);
  K_ = kernel_->gram(D_, D_);
  kernel_columns_ = kernel_->gram(D_, samples_.pixels);
}

Columns Problem::columns(Index i) {
  pointers_.clear();
  for (Index s = 0; s < samples_.window(); ++s)
    pointers_.push_back(&kernel_columns_(0, samples_.windows(s, i)));
  return {pointers_, D_.cols()};
}

}  // namespace hyperatom::bench
