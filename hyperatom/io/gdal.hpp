// What the readers and writers of this folder share of GDAL: opening, closing, and its errors as
// ours.
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

/// Opens for reading, without writing helper files beside the data. Throws DataError "<path>: ...".
Dataset open_raster(const std::filesystem::path& path);
Dataset open_vector(const std::filesystem::path& path);

}  // namespace hyperatom
