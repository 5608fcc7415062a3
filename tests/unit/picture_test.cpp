#include "hyperatom/io/picture.hpp"

#include <gdal_priv.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <iostream>
#include <vector>

#include "hyperatom/base/error.hpp"
#include "hyperatom/io/gdal.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom::test {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;
using Bytes = std::vector<std::uint8_t>;

Bytes random_picture(Index rows, Index cols) {
  Random random(4);
  Bytes rgb;
  for (Index i = 0; i < 3 * rows * cols; ++i)
    rgb.push_back(static_cast<std::uint8_t>(random.below(256)));
  return rgb;
}

/// The bytes of a picture as another program reads them.
Bytes picture_of(const fs::path& path, int rows, int cols) {
  const Dataset file = open_raster(path);
  EXPECT_STREQ(file->GetDriverName(), "PNG");
  EXPECT_EQ(file->GetRasterYSize(), rows);
  EXPECT_EQ(file->GetRasterXSize(), cols);
  EXPECT_EQ(file->GetRasterCount(), 3);
  Bytes rgb(static_cast<size_t>(3 * rows * cols));
  EXPECT_EQ(file->RasterIO(GF_Read, 0, 0, cols, rows, rgb.data(), cols, rows, GDT_Byte, 3, nullptr,
                           3, 3 * cols, 1, nullptr),
            CE_None);
  return rgb;
}

TEST(Picture, KeepsEveryByteAndNeedsNoOtherFile) {
  for (const auto& [rows, cols] : {std::pair{1, 1}, std::pair{7, 300}, std::pair{300, 7}}) {
    const TemporaryFolder folder;
    const Bytes rgb = random_picture(rows, cols);
    write_png(folder / "a.png", rows, cols, rgb, false);
    EXPECT_EQ(picture_of(folder / "a.png", rows, cols), rgb);
    EXPECT_EQ(folder.names(), Names{"a.png"});
  }
}

TEST(Picture, ReplacesOnlyWhenAsked) {
  const TemporaryFolder folder;
  write_file(folder / "a.png", "old");
  write_file(folder / "a.png.aux.xml", "<PAMDataset/>");
  const Bytes rgb = random_picture(2, 2);
  EXPECT_EQ(thrown<IoError>([&] { write_png(folder / "a.png", 2, 2, rgb, false); }),
            (folder / "a.png").string() + ": exists; --overwrite replaces it");
  EXPECT_EQ(read_file(folder / "a.png"), "old");
  write_png(folder / "a.png", 2, 2, rgb, true);
  EXPECT_EQ(picture_of(folder / "a.png", 2, 2), rgb);
  EXPECT_EQ(folder.names(), Names{"a.png"});  // what was said of the old picture is gone
}

TEST(Picture, RefusesWhatCannotBeWritten) {
  const TemporaryFolder folder;
  const Bytes rgb = random_picture(2, 2);
  fs::create_directory(folder / "a.png");
  EXPECT_EQ(thrown<IoError>([&] { write_png(folder / "a.png", 2, 2, rgb, true); }),
            (folder / "a.png").string() + ": can't be written: Is a directory");
  EXPECT_EQ(thrown<IoError>([&] { write_png(folder / "no" / "a.png", 2, 2, rgb, true); }),
            (folder / "no/a.png").string() + ": can't be written: there is no folder " +
                (folder / "no").string());
  const std::string path = (folder / "b.png").string();
  EXPECT_EQ(thrown<OptionError>([&] { write_png(path, 2, 3, rgb, true); }),
            path + ": 12 bytes for a picture of 2 x 3 pixels, expected 18");
  EXPECT_THROW(write_png(path, 0, 3, {}, true), OptionError);
  EXPECT_EQ(folder.names(), Names{"a.png"});
}

bool survives_file_limit(const TemporaryFolder& folder, rlim_t limit) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limits = {limit, limit};
  if (setrlimit(RLIMIT_FSIZE, &limits) != 0) return false;
  try {
    write_png(folder / "a.png", 50, 40, random_picture(50, 40), true);
  } catch (const IoError& error) {
    const std::string message = error.what();
    const bool good = contains(message, "a.png: can't be written: File too large") &&
                      read_file(folder / "a.png") == "old" && folder.names() == Names{"a.png"};
    if (!good) std::cout << "limit " << limit << ": " << message << std::endl;
    return good;
  }
  return picture_of(folder / "a.png", 50, 40) == random_picture(50, 40);
}

TEST(Picture, FullDiskLeavesTheOldPicture) {
  for (const rlim_t limit : {1, 8, 100, 1000, 4096, 6000, 100000}) {
    const TemporaryFolder folder;
    write_file(folder / "a.png", "old");
    EXPECT_TRUE(succeeded(status_of_child([&] { return survives_file_limit(folder, limit); })))
        << limit;
  }
}

}  // namespace
}  // namespace hyperatom::test
