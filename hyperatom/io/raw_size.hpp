// Whether a raw raster (ENVI, ERDAS .lan) is as long as its header promises, and laid out as GDAL
// takes it to be: GDAL reads what is missing as zeros, and frames of bands as values, without a
// word.
#pragma once

#include <filesystem>

class GDALDataset;

namespace hyperatom {

/// Throws DataError "<path>: ..." with both sizes, or for header fields that are not what they
/// should be. Rasters of other formats pass. A compressed ENVI file is decompressed once for it.
void check_raw_size(GDALDataset& dataset, const std::filesystem::path& path);

}  // namespace hyperatom
