// Rasters to files, row by row: class maps that QGIS and ENVI open with our classes and colours,
// and float rasters of scores or spectra, which the scene reader reads back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hyperatom/scene/labels.hpp"
#include "hyperatom/scene/scene.hpp"

namespace hyperatom {

struct RasterOptions {
  std::string format = "GTiff";            ///< GDAL's name of the driver: GTiff, ENVI or COG
  std::vector<std::string> creation = {};  ///< creation options, NAME=VALUE
  bool overwrite = false;                  ///< replace what is there
};

/// What the bands of a raster are.
struct RasterContent {
  enum class Type { classes, values };
  Type type = Type::classes;
  std::vector<std::string> bands = {"class"};  ///< descriptions, one per band
  /// Of classes 1, 2, ...; for Type::classes. An empty name: no pixel has that number, and no
  /// legend shows it.
  std::vector<std::string> class_names = {};
  std::vector<Colour> class_colours = {};  ///< likewise; empty: ours
  Vector wavelengths = {};                 ///< micrometres, one per band or none; for Type::values
  /// What stands for no data in the file, where write() is given NaN; absent: NaN. For
  /// Type::values.
  std::optional<float> no_data = {};
  /// Of the file as a whole, for whoever asks GDAL: names of letters, digits and _; values lose
  /// control characters, and blanks at their ends; without a value, items are left out.
  std::map<std::string, std::string> metadata = {};
};

/// Writes into a temporary folder within the target's; finish() completes the file and its
/// companions (.qml, .aux.xml, .hdr), reads them back, and moves them to their places, and a writer
/// that is destroyed before leaves nothing behind and what was there untouched. Memory: about three
/// rows of tiles of at most 32 MB each, unless creation options ask for larger tiles; for COG,
/// GDAL's block cache (prepare_gdal) on top.
class RasterWriter {
 public:
  /// Throws IoError if something is there and may not be overwritten, or if it can't be written;
  /// OptionError for an unknown format or creation option, or content that contradicts itself.
  RasterWriter(const std::filesystem::path& path, Index rows, Index cols,
               const Georeference& georeference, const RasterContent& content,
               const RasterOptions& options = {});
  ~RasterWriter();
  RasterWriter(RasterWriter&&) noexcept;
  RasterWriter& operator=(RasterWriter&&) = delete;

  /// Rows [first, first + count) of a one-band class map: ids, 0 = no data. Rows come in order,
  /// without gaps, in pieces of any size: the bytes of the file don't depend on them.
  void write(Index first, Index count, const std::vector<std::int32_t>& ids);
  /// The same for values: one row per band, one column per pixel; NaN = no data. A value that would
  /// be taken for no data is refused.
  void write(Index first, Index count, const MatrixF& values);
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyperatom
