// A scene made in code: fields of land cover under one sensor.
//
// Every class has a spectrum: a smooth continuum that all classes share in part, times a few
// absorption features of its own. A pixel is the spectrum of its field's class, mixed with that of
// another class, under its own illumination, plus sensor noise. Fields are the cells of a Voronoi
// diagram.
#pragma once

#include <cstdint>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

struct SyntheticOptions {
  Index rows = 60;
  Index cols = 60;
  Index bands = 100;
  Index classes = 8;
  Index fields = 40;
  double contrast = 0.1;  ///< depth of the absorption features that tell classes apart
  double mixing = 0.6;    ///< largest share of another class in a pixel
  double noise = 0.04;    ///< of the sensor, relative to a reflectance of 1
  std::uint64_t seed = 0;
};

struct SyntheticScene {
  Index rows = 0;
  Index cols = 0;
  MatrixF pixels;              ///< bands x (rows * cols), row by row
  std::vector<Index> classes;  ///< of every pixel, from 0
};

SyntheticScene make_synthetic_scene(const SyntheticOptions& options);

}  // namespace hyperatom
