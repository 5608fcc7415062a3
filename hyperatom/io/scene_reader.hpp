// Scenes from files: everything that GDAL reads (ENVI, GeoTIFF, ERDAS .lan, ...) unless it only
// names other data (gdal.hpp), MATLAB .mat (v5 and v7.3), NumPy .npy.
//
// What a reader gives is ready for use: no-data, values that are not finite and all-zero pixels are
// marked as not valid; bands that the header calls bad (`bbl`) are left out; gains and offsets are
// applied; wavelengths are in micrometres. A file that is shorter than its header promises is an
// error, not zeros. What was guessed or left out is said in SceneInfo::notes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "hyperatom/scene/scene.hpp"

namespace hyperatom {

struct SceneOptions {
  std::string variable;  ///< of a .mat file; empty: the only one that fits
  std::filesystem::path
      mask;  ///< a raster of the scene's size: where it is 0, pixels are not valid; empty: none
};

/// Throws DataError "<path>: ..." with what was found and what was expected.
std::unique_ptr<SceneSource> open_scene(const std::filesystem::path& path,
                                        const SceneOptions& options = {});

}  // namespace hyperatom
