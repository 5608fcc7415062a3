// How pixels are scaled before a kernel sees them: fitted once on the scene trained on, without its
// labels, kept in the model, never refitted on the scene to classify. Per band b of a pixel x
//
//   x_b -> (x_b - offset_b) * scale_b,    then    x -> x / ||x||    for the kinds with "unit"
//
//   none           offset 0                scale 1
//   unit           offset 0                scale 1                                 then / ||x||
//   standard       offset mean             scale 1 / standard deviation (population)
//   standard+unit  as standard                                                     then / ||x||
//   minmax         offset minimum          scale 1 / (maximum - minimum)
//   mnf            of x / ||x||: offset mean   scale 1, then x -> mix x            then / ||x||
//
// mix turns bands into fewer features, in which the noise is white and what is mostly noise weighs
// little.
//
// A band that is constant in the training pixels has scale 0 in the kinds that fit one: it adds
// nothing, rather than NaN. A pixel of length 0 stays 0; callers mask it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

struct Normalizer {
  std::string kind = "none";
  Vector offset;  ///< bands
  Vector scale;   ///< bands
  RowMatrix mix;  ///< features x bands of mnf, else empty

  /// Columns of two pixels that are neighbours in the scene.
  using Pair = std::array<Index, 2>;

  /// pixels: bands x n; `pairs` tell mnf what noise is. Throws OptionError for an unknown kind,
  /// DataError without pixels, with one that is not finite, or with too few pairs for mnf.
  static Normalizer fit(std::string_view kind, const Eigen::Ref<const MatrixF>& pixels,
                        std::span<const Pair> pairs = {});

  /// features x n. A column of the result depends on that column alone, to the last bit. Throws
  /// DataError for another number of bands than was fitted.
  Matrix apply(const Eigen::Ref<const MatrixF>& pixels) const;

  /// Likewise into a matrix that is there.
  void apply(const Eigen::Ref<const MatrixF>& pixels, Eigen::Ref<Matrix> result) const;

  /// What apply() divides a pixel by.
  struct Lengths {
    double features = 1;
    double offset = 1;
  };
  /// The way back, as far as features tell of bands: a pixel is nearly
  /// lengths.features * spectra(its features) + lengths.offset * offset.
  Lengths lengths(const Eigen::Ref<const Eigen::VectorXf>& pixel) const;
  Matrix spectra(const MatrixView& features) const;

  Index bands() const { return offset.size(); }
  Index features() const { return mix.size() > 0 ? mix.rows() : bands(); }
};

/// Whether fitting this kind looks at the pixels. Throws OptionError for an unknown kind.
bool learns_from_pixels(std::string_view kind);

/// Whether fitting this kind needs pairs of neighbours.
bool learns_from_noise(std::string_view kind);

/// The kinds there are.
std::vector<std::string> normalizer_kinds();

}  // namespace hyperatom
