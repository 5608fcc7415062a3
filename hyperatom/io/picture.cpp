#include "hyperatom/io/picture.hpp"

#include <cpl_conv.h>
#include <cpl_vsi.h>
#include <gdal_priv.h>

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "hyperatom/io/gdal.hpp"
#include "hyperatom/io/staged_files.hpp"
#include "hyperatom/io/writing.hpp"

namespace hyperatom {
namespace {

namespace fs = std::filesystem;

constexpr int channels = 3;
constexpr Index widest = std::numeric_limits<int>::max() / channels;  // what GDAL can count

/// Encoded in memory, because libpng loses the reason for which a file can't be written. Empty if
/// GDAL can't.
std::string encode(Index rows, Index cols, std::vector<std::uint8_t> rgb) {
  static std::atomic<std::uint64_t> counter = 0;
  const std::string name = fmt::format("/vsimem/hyperatom-{}.png", counter++);
  const int width = static_cast<int>(cols), height = static_cast<int>(rows);
  GDALDriverManager& drivers = *GetGDALDriverManager();
  const Dataset picture(
      drivers.GetDriverByName("MEM")->Create("", width, height, channels, GDT_Byte, nullptr));
  if (!picture ||
      picture->RasterIO(GF_Write, 0, 0, width, height, rgb.data(), width, height, GDT_Byte,
                        channels, nullptr, channels, channels * cols, 1, nullptr) != CE_None)
    return {};
  const CPLConfigOptionSetter without_aux_xml("GDAL_PAM_ENABLED", "NO", false);
  Dataset copy(drivers.GetDriverByName("PNG")->CreateCopy(name.c_str(), picture.get(), TRUE,
                                                          nullptr, nullptr, nullptr));
  const bool done = copy != nullptr;
  copy.reset();
  vsi_l_offset length = 0;
  const std::unique_ptr<GByte, decltype(&VSIFree)> bytes(
      VSIGetMemFileBuffer(name.c_str(), &length, TRUE), VSIFree);
  return done && bytes ? std::string(reinterpret_cast<const char*>(bytes.get()), length) : "";
}

}  // namespace

void write_png(const fs::path& path, Index rows, Index cols, std::span<const std::uint8_t> rgb,
               bool overwrite) {
  prepare_gdal();
  const bool possible = rows >= 1 && cols >= 1 && rows <= widest && cols <= widest;
  if (!possible || static_cast<Index>(rgb.size()) != channels * rows * cols)
    throw OptionError(fmt::format(
        "{}: {} bytes for a picture of {} x {} pixels, expected {}", path.string(), rgb.size(),
        rows, cols, possible ? std::to_string(channels * rows * cols) : "another size"));
  const std::string aux_xml = path.filename().string() + ".aux.xml";
  expect_free(path, overwrite);
  expect_free(folder_of(path) / aux_xml, overwrite);
  expect_folder(path);
  StagedFiles staged(path);
  std::string png;
  guarded(path, staged.folder(), [&] {
    png = encode(rows, cols, {rgb.begin(), rgb.end()});
    return !png.empty();
  });
  write_whole(path, staged.folder() / path.filename(), png);
  expect_free(path, overwrite);
  staged.publish({aux_xml});
}

}  // namespace hyperatom
