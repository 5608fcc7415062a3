#include "hyperatom/io/place.hpp"

#include <fmt/format.h>
#include <gdal_priv.h>
#include <ogr_spatialref.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hyperatom/io/crs.hpp"
#include "hyperatom/io/data_error.hpp"

namespace hyperatom {
namespace {

using Transform = std::array<double, 6>;

/// By how many pixels the corners of the scene lie elsewhere in the other transform.
double corner_shift(Transform scene, const Transform& other, Index rows, Index cols) {
  Transform inverse;
  if (!GDALInvGeoTransform(scene.data(), inverse.data())) return 0;
  double shift = 0;
  for (const double row : {0.0, static_cast<double>(rows)})
    for (const double col : {0.0, static_cast<double>(cols)}) {
      const double x = other[0] + other[1] * col + other[2] * row;
      const double y = other[3] + other[4] * col + other[5] * row;
      const double back_col = inverse[0] + inverse[1] * x + inverse[2] * y;
      const double back_row = inverse[3] + inverse[4] * x + inverse[5] * y;
      shift = std::max({shift, std::abs(back_col - col), std::abs(back_row - row)});
    }
  return shift;
}

std::string text(const Transform& t) { return fmt::format("({})", fmt::join(t, ", ")); }

}  // namespace

void expect_same_place(GDALDataset& dataset, const std::string& path, const SceneInfo& scene) {
  const OGRSpatialReference* crs = dataset.GetSpatialRef();
  if (crs != nullptr && !crs->IsEmpty() && !scene.georeference.crs.empty()) {
    const OGRSpatialReference expected = parse_crs(scene.georeference.crs, scene.path);
    if (!same_crs(*crs, expected))
      fail(path, "has the CRS {}, expected {} as {} has", name_of(*crs), name_of(expected),
           scene.path);
  }
  Transform transform;
  if (!scene.georeference.transform || dataset.GetGeoTransform(transform.data()) != CE_None) return;
  const Transform& expected = *scene.georeference.transform;
  const double shift = corner_shift(expected, transform, scene.rows, scene.cols);
  if (shift > 1e-3)
    fail(path, "lies {:.4g} pixels away from {}: its transform is {}, expected {}", shift,
         scene.path, text(transform), text(expected));
}

}  // namespace hyperatom
