// A raster whose file holds its numbers one after the other, read past GDAL: by large pieces, on
// all threads, where GDAL takes a row of a band at a time through its cache.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hyperatom/io/array_file.hpp"
#include "hyperatom/io/descriptor.hpp"

class GDALDataset;

namespace hyperatom {

class RawCube {
 public:
  /// Null where only GDAL knows how to read: all but ENVI files that are not compressed. The file
  /// is as long as it should be (check_raw_size).
  static std::unique_ptr<RawCube> open(GDALDataset& dataset, const std::string& path);

  /// The bands (from 0) of rows [first, first + count), as GDAL converts them to float: bands x
  /// (count * cols). Throws DataError "<path>: ...".
  void read(Index first, Index count, std::span<const Index> bands, MatrixF& pixels);

 private:
  RawCube() = default;

  void read_piece(Index first, Index count, std::span<const Index> bands, float* pixels,
                  std::vector<std::byte>& buffer) const;
  void fetch(Index from, std::byte* bytes, Index count) const;

  std::string path_;  // for messages
  Descriptor file_;
  Index cols_ = 0;
  Element element_ = Element::u8;
  bool swapped_ = false;
  Index start_ = 0;                                      // of the first value, in bytes
  Index pixel_step_ = 0, row_step_ = 0, band_step_ = 0;  // from a value to the next, in bytes
  std::vector<std::vector<std::byte>> buffers_;          // one for each thread
};

}  // namespace hyperatom
