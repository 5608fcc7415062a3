// Whether a raster lies where the scene does.
#pragma once

#include <string>

#include "hyperatom/scene/scene.hpp"

class GDALDataset;

namespace hyperatom {

/// What is known of both places must agree; what only one of them knows is accepted. Throws
/// DataError "<path>: ..." with both.
void expect_same_place(GDALDataset& dataset, const std::string& path, const SceneInfo& scene);

}  // namespace hyperatom
