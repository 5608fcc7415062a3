// What the readers and writers of this folder share of GDAL: opening, closing, and its errors as
// ours. What is opened is not trusted.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

class GDALDataset;

namespace hyperatom {

struct CloseDataset {
  void operator()(GDALDataset* dataset) const;
};
using Dataset = std::unique_ptr<GDALDataset, CloseDataset>;

/// While it lives, what GDAL has to say on this thread is collected here instead of being printed.
class GdalMessages {
 public:
  GdalMessages();
  ~GdalMessages();
  GdalMessages(const GdalMessages&) = delete;
  GdalMessages& operator=(const GdalMessages&) = delete;

  bool failed() const { return failed_; }
  /// The errors, or else the warnings, on one line; "no reason given" without any.
  std::string text() const;

 private:
  struct Receiver;

  std::vector<std::string> messages_;
  bool failed_ = false;
};

/// Registers GDAL's drivers and sets what holds for the whole process, at the first call: nothing
/// is written beside data that are read, and the cache of blocks, by default 5 % of the memory, has
/// 64 MB unless GDAL_CACHEMAX says otherwise.
void prepare_gdal();

/// Raises the bound on that cache where a raster needs it: one that is read in strips is decoded
/// again for every strip unless a row of its blocks fits. Up to 512 MB, and not if GDAL_CACHEMAX is
/// set.
void make_room_for_blocks(GDALDataset& dataset);

/// Open a file (or folder) for reading, without writing helper files beside it. A file's content
/// can't make GDAL read elsewhere: drivers whose files name other data or addresses are refused
/// (VRT unless the file is called .vrt), and so are headers that name a file of another folder.
/// A name is a name in the file system, never one of GDAL's own (/vsicurl/..., PG:...).
/// Throw DataError "<path>: ...".
Dataset open_raster(const std::filesystem::path& path);
Dataset open_vector(const std::filesystem::path& path);

/// Either of them, with the same limits; null if it is neither.
Dataset try_open(const std::filesystem::path& path);

}  // namespace hyperatom
