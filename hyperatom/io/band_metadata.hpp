// What a raster's metadata say of its bands: wavelengths, and which bands are bad.
#pragma once

#include <string>
#include <vector>

#include "hyperatom/base/types.hpp"

class GDALDataset;

namespace hyperatom {

/// The numbers of an ENVI list "{1, 2.5, ...}", or of a single one. Throws DataError "<path>: ..."
/// for what is not a number; `field` is for the message.
std::vector<double> parse_envi_list(const std::string& path, const std::string& field,
                                    const std::string& text);

/// Micrometres, one per band of the file, from the ENVI domain, the bands' metadata, their names or
/// their IMAGERY domain, whichever comes first; empty when unknown. What was guessed or could not
/// be used is added to the notes. Throws DataError when their number is not that of the bands.
Vector read_wavelengths(GDALDataset& dataset, const std::string& path,
                        std::vector<std::string>& notes);

/// The bands that ENVI's `bbl` does not call bad, from 0. Throws DataError when it has another
/// length, or leaves none.
std::vector<Index> read_good_bands(GDALDataset& dataset, const std::string& path,
                                   std::vector<std::string>& notes);

}  // namespace hyperatom
