// Labels from files: rasters of the scene's size in any format that scenes come in, or vector
// polygons and points.
//
// A raster's values are the classes: 0 (and no-data) is none. Category names and colours are kept
// where the file has them. Polygons are burnt by pixel centre, points into their pixel, reprojected
// when their CRS differs from the scene's; the classes are the values of one field: numbers keep
// their order, texts are sorted. Nothing is resampled: what does not fit is refused.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hyperatom/scene/labels.hpp"
#include "hyperatom/scene/scene.hpp"

namespace hyperatom {

struct LabelOptions {
  std::string variable = {};     ///< of a .mat file; empty: the only one that fits
  std::string class_field = {};  ///< of vector data; empty: the only field
  /// Burn every pixel that a polygon touches, not only those whose centre one covers. A polygon
  /// that covers the centre comes first.
  bool all_touched = false;
  bool crs_is_scene = false;  ///< vector data without a CRS: take it to be the scene's
};

struct LabelsRead {
  Labels labels;
  std::vector<std::string> notes;  ///< e.g. polygons partly outside the scene, with counts
  /// What a raster of ours says of itself: GDAL's metadata whose names begin with HYPERATOM_.
  std::map<std::string, std::string> metadata;
};

/// Throws DataError "<path>: ..." with both sizes or CRSs, or the fields there are.
LabelsRead read_labels(const std::filesystem::path& path, const SceneInfo& scene,
                       const LabelOptions& options = {});

/// A raster of any size, for commands that have labels but no scene.
LabelsRead read_label_raster(const std::filesystem::path& path, const std::string& variable = {});

}  // namespace hyperatom
