// A scene made in code: farmland under one sensor, of any height, read strip by strip.
//
// Band b of a pixel at the place p, in a field:
//
//   x_b = light(p) t_b sum_m w_m(p) r_bm + s_b n_b(p)
//
//   r_m    reflectance of material m. A class is leaves, straw and soil in the shares of its
//          family of crops, times absorption features of the family and of its own. Two classes
//          share a family and differ by their own features alone; `contrast` is their depth.
//   w      shares that add up to 1: the class of the field; a weed (another class) and bare soil,
//          which vary smoothly over the land and a little from pixel to pixel, up to `mixing`; the
//          path, where the pixel reaches over the edge of the field.
//   light  of a smooth terrain, times that of the field, with a variation from pixel to pixel.
//   t, s   transmission of the air, low at 1.4 and 1.9 um, and the sensor's noise, higher there and
//          at short wavelengths. n is close to normal.
//
// Fields are the cells of a bent, jittered grid. Labelled are the pixels well inside some of them.
// The last class of four or more, the last two of eight or more, are rare: small plots, each in a
// field of grass. Triangles that the swath misses and a few dead pixels have no data.
//
// Every random number belongs to a field or a pixel by its place: strips of any height give the
// same bits. Memory: 4 bytes per pixel for the labels, and a little per field.
#pragma once

#include <cstdint>
#include <memory>

#include "hyperatom/base/options.hpp"
#include "hyperatom/scene/labels.hpp"
#include "hyperatom/scene/scene.hpp"

namespace hyperatom {

struct SyntheticOptions {
  Index rows = 120;
  Index cols = 120;
  Index bands = 100;
  Index classes = 8;
  Index field = 18;
  double contrast = 0.13;
  double mixing = 0.5;
  double noise = 0.02;
  double shading = 0.2;
  double labelled = 0.6;
  std::uint64_t seed = 0;

  Fields fields();
};

/// Values are apparent reflectances, about 0 to 0.6, below 0 where there is little but noise. What
/// has no data is not valid, and 0, in a strip; a file is to hold info().no_data there.
class SyntheticScene final : public SceneSource {
 public:
  /// Throws OptionError for an option out of its range, or when there is no room for a field of
  /// every class.
  explicit SyntheticScene(const SyntheticOptions& options);
  ~SyntheticScene() override;

  const SceneInfo& info() const override { return info_; }
  void read(Index first, Index count, Strip& strip) override;
  /// Of valid pixels alone; every class has some.
  const Labels& labels() const { return labels_; }

 private:
  class Land;

  SceneInfo info_;
  Labels labels_;
  std::unique_ptr<const Land> land_;
};

}  // namespace hyperatom
