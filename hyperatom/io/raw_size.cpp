#include "hyperatom/io/raw_size.hpp"

#include <gdal_priv.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hyperatom/base/safetensors.hpp"
#include "hyperatom/io/band_metadata.hpp"
#include "hyperatom/io/data_error.hpp"

namespace hyperatom {
namespace {

constexpr std::int64_t lan_header = 128;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();

/// A field of an ENVI header that is a whole number; 0, if that is possible, without it.
std::int64_t envi_number(GDALDataset& dataset, const std::string& path, const char* field,
                         std::int64_t least, std::int64_t most = any) {
  const char* text = dataset.GetMetadataItem(field, "ENVI");
  if (text == nullptr && least == 0) return 0;
  const std::optional<std::int64_t> value = whole_number(text != nullptr ? text : "");
  if (!value || *value < least || *value > most)
    fail(path, "found {} = {} in the ENVI header, expected a whole number from {}{}", field,
         in_quotes(text != nullptr ? text : ""), least,
         most == any ? "" : fmt::format(" to {}", most));
  return *value;
}

void check_interleave(GDALDataset& dataset, const std::string& path) {
  const char* text = dataset.GetMetadataItem("interleave", "ENVI");
  for (const char* known : {"bsq", "bil", "bip"})
    if (text != nullptr && EQUAL(text, known)) return;
  fail(path, "found interleave = {} in the ENVI header, expected bsq, bil or bip",
       in_quotes(text != nullptr ? text : ""));
}

std::int64_t bits_of(GDALDataset& dataset) {
  return 8 * GDALGetDataTypeSizeBytes(dataset.GetRasterBand(1)->GetRasterDataType());
}

/// rows * cols * bands samples of `bits` bits, each row of a band in whole bytes.
std::int64_t payload(GDALDataset& dataset, std::int64_t bits, const std::string& path) {
  std::int64_t bytes = (dataset.GetRasterXSize() * bits + 7) / 8;
  if (__builtin_mul_overflow(bytes, dataset.GetRasterYSize(), &bytes) ||
      __builtin_mul_overflow(bytes, dataset.GetRasterCount(), &bytes))
    fail(path, "found an absurd size: {} x {} x {}", dataset.GetRasterYSize(),
         dataset.GetRasterXSize(), dataset.GetRasterCount());
  return bytes;
}

/// The bytes that a gzip file decompresses to, counted up to `enough`.
std::int64_t decompressed_size(const std::filesystem::path& path, std::int64_t enough) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) fail(path.string(), "can't be read");
  std::vector<char> buffer(1 << 18);
  std::int64_t size = 0;
  while (size < enough) {
    const int n = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    if (n < 0) {
      int code = 0;
      fail(path.string(), "holds damaged compressed data: {}", gzerror(file.get(), &code));
    }
    if (n == 0) break;
    size += n;
  }
  return size;
}

void expect_size(const std::string& path, GDALDataset& dataset, std::int64_t found,
                 std::int64_t expected, const char* what) {
  if (found < expected)
    fail(path,
         "found {} bytes{}, expected {} for {} rows x {} cols x {} bands: the file is cut "
         "short or its header is wrong",
         found, what, expected, dataset.GetRasterYSize(), dataset.GetRasterXSize(),
         dataset.GetRasterCount());
}

/// Bytes to skip before and after every frame.
struct Frames {
  std::int64_t before = 0, after = 0;
};

Frames envi_frames(GDALDataset& dataset, const std::string& path, const char* field) {
  const char* text = dataset.GetMetadataItem(field, "ENVI");
  const std::vector<double> list = parse_envi_list(path, field, text != nullptr ? text : "");
  if (list.empty()) return {};
  constexpr double most = 1 << 30;
  if (list.size() != 2 || !std::ranges::all_of(list, [](double n) {
        return n >= 0 && n <= most && n == std::floor(n);
      }))
    fail(path, "found {} = {} in the ENVI header, expected two whole numbers from 0 to {}", field,
         in_quotes(text), most);
  return {static_cast<std::int64_t>(list[0]), static_cast<std::int64_t>(list[1])};
}

/// What frames add to the size. GDAL does not know the minor ones, and skips the major ones before
/// and after every line, which is right unless they are bands.
std::int64_t frame_bytes(GDALDataset& dataset, const std::string& path, std::int64_t offset) {
  const Frames minor = envi_frames(dataset, path, "minor_frame_offsets");
  const Frames major = envi_frames(dataset, path, "major_frame_offsets");
  if (minor.before + minor.after > 0)
    fail(path,
         "found minor_frame_offsets = {} in the ENVI header, expected none: they can't be read",
         in_quotes(dataset.GetMetadataItem("minor_frame_offsets", "ENVI")));
  const std::int64_t added = major.before + major.after;
  if (added == 0) return 0;
  const std::string text = in_quotes(dataset.GetMetadataItem("major_frame_offsets", "ENVI"));
  if (EQUAL(dataset.GetMetadataItem("interleave", "ENVI"), "bsq"))
    fail(path,
         "found major_frame_offsets = {} in the ENVI header with interleave bsq, expected none: "
         "only those of bil and bip can be read",
         text);
  const std::int64_t line = payload(dataset, bits_of(dataset), path) / dataset.GetRasterYSize();
  constexpr std::int64_t limit = std::numeric_limits<int>::max();  // beyond it GDAL ignores them
  if (offset > limit || line > limit || offset + line + added >= limit)
    fail(path, "found major_frame_offsets = {} in the ENVI header, expected less", text);
  return added * dataset.GetRasterYSize();
}

void check_envi(GDALDataset& dataset, const std::filesystem::path& path) {
  const std::string name = path.string();
  if (envi_number(dataset, name, "samples", 1) != dataset.GetRasterXSize() ||
      envi_number(dataset, name, "lines", 1) != dataset.GetRasterYSize() ||
      envi_number(dataset, name, "bands", 1) != dataset.GetRasterCount())
    fail(name, "the ENVI header is not what GDAL makes of it: samples, lines or bands differ");
  envi_number(dataset, name, "data_type", 1);  // GDAL would take 4x for 4
  envi_number(dataset, name, "byte_order", 0, 1);
  check_interleave(dataset, name);
  const std::int64_t offset = envi_number(dataset, name, "header_offset", 0);
  const std::int64_t frames = frame_bytes(dataset, name, offset);
  std::int64_t expected = payload(dataset, bits_of(dataset), name);
  if (__builtin_add_overflow(expected, offset, &expected) ||
      __builtin_add_overflow(expected, frames, &expected))
    fail(name, "found header_offset = {} in the ENVI header, expected less", offset);
  if (envi_number(dataset, name, "file_compression", 0) == 0)
    expect_size(name, dataset, static_cast<std::int64_t>(std::filesystem::file_size(path)),
                expected, "");
  else
    expect_size(name, dataset, decompressed_size(path, expected), expected, " after decompression");
}

void check_lan(GDALDataset& dataset, const std::filesystem::path& path) {
  GDALRasterBand& band = *dataset.GetRasterBand(1);
  const char* packed = band.GetMetadataItem("NBITS", "IMAGE_STRUCTURE");
  const std::int64_t bits = packed != nullptr ? whole_number(packed).value_or(8) : bits_of(dataset);
  expect_size(path.string(), dataset, static_cast<std::int64_t>(std::filesystem::file_size(path)),
              lan_header + payload(dataset, bits, path.string()), "");
}

}  // namespace

void check_raw_size(GDALDataset& dataset, const std::filesystem::path& path) {
  const std::string driver = dataset.GetDriverName();
  if (driver == "ENVI") check_envi(dataset, path);
  if (driver == "LAN") check_lan(dataset, path);
}

}  // namespace hyperatom
