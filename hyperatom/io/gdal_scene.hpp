// Scenes in the formats that GDAL reads; see scene_reader.hpp for what is promised of them.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "hyperatom/scene/scene.hpp"

namespace hyperatom {

std::unique_ptr<SceneSource> open_gdal_scene(const std::filesystem::path& path);

/// The first band of a raster on the scene's grid: whether each pixel is neither 0 nor no-data.
std::vector<char> read_gdal_mask(const std::filesystem::path& path, const SceneInfo& scene);

}  // namespace hyperatom
