// How pixels are scaled before a kernel sees them: fitted once on the training pixels, kept in the
// model, never refitted on the scene to classify. Per band b of a pixel x
//
//   x_b -> (x_b - offset_b) * scale_b,    then    x -> x / ||x||    for the kinds with "unit"
//
//   none           offset 0                scale 1
//   unit           offset 0                scale 1                                 then / ||x||
//   standard       offset mean             scale 1 / standard deviation (population)
//   standard+unit  as standard                                                     then / ||x||
//   minmax         offset minimum          scale 1 / (maximum - minimum)
//
// A band that is constant in the training pixels has scale 0 in the kinds that fit one: it adds
// nothing, rather than NaN. A pixel of length 0 stays 0; callers mask it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

struct Normalizer {
  std::string kind = "none";
  Vector offset;  ///< bands
  Vector scale;   ///< bands

  /// pixels: bands x n. Throws OptionError for an unknown kind, DataError without pixels or with
  /// one that is not finite.
  static Normalizer fit(std::string_view kind, const Eigen::Ref<const MatrixF>& pixels);

  /// bands x n. A column of the result depends on that column alone, to the last bit. Throws
  /// DataError for another number of bands than was fitted.
  Matrix apply(const Eigen::Ref<const MatrixF>& pixels) const;

  Index bands() const { return offset.size(); }
};

/// Whether fitting this kind looks at the pixels. Throws OptionError for an unknown kind.
bool learns_from_pixels(std::string_view kind);

/// The kinds there are.
std::vector<std::string> normalizer_kinds();

}  // namespace hyperatom
