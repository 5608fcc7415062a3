// Labels from polygons and points: the part of the label reader that knows OGR.
//
// Every feature is brought to pixel coordinates (reprojected if need be, then through the inverse
// of the scene's transform) and burnt alone into its bounding box, so that two features that claim
// one pixel for different classes are noticed. Memory: the scene's labels and one bounding box.
#pragma once

#include <filesystem>

#include "hyperatom/io/label_reader.hpp"

namespace hyperatom {

/// Whether OGR finds layers in it and GDAL no image.
bool is_vector_file(const std::filesystem::path& path);

LabelsRead read_vector_labels(const std::filesystem::path& path, const SceneInfo& scene,
                              const LabelOptions& options);

}  // namespace hyperatom
