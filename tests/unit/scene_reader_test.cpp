// Scenes from files of every kind, and what their headers claim.
#include "hyperatom/io/scene_reader.hpp"

#include <gdal_priv.h>
#include <gmock/gmock.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/io/label_reader.hpp"
#include "hyperatom/io/raw_cube.hpp"
#include "tests/support/envi.hpp"
#include "tests/support/mat5.hpp"
#include "tests/support/npy.hpp"
#include "tests/support/real_data.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom {
namespace {

using test::contains;
using test::Envi;
using test::real_data;
using test::TemporaryFolder;
using test::thrown;
using test::write_file;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Scene read_scene(const std::filesystem::path& path, const SceneOptions& options = {}) {
  return read_all(*open_scene(path, options));
}

Scene read_envi(const Envi& envi) {
  const TemporaryFolder folder;
  return read_scene(envi.write(folder));
}

std::string envi_error(const Envi& envi) {
  const TemporaryFolder folder;
  const auto path = envi.write(folder);
  const std::string message = thrown<DataError>([&] { read_scene(path); });
  EXPECT_TRUE(message.starts_with(path.string() + ": ")) << message;
  return message;
}

void expect_envi_values(const Scene& scene) {
  ASSERT_EQ(scene.data.pixels.rows(), Envi::bands);
  ASSERT_EQ(scene.data.pixels.cols(), Envi::rows * Envi::cols);
  for (int row = 0; row < Envi::rows; ++row)
    for (int col = 0; col < Envi::cols; ++col)
      for (int band = 0; band < Envi::bands; ++band)
        EXPECT_EQ(scene.data.pixels(band, row * Envi::cols + col),
                  static_cast<float>(Envi::value(row, col, band)));
  EXPECT_THAT(scene.data.valid, testing::Each(1));
}

// ---- Marking ------------------------------------------------------------------------------------

TEST(MarkValid, TakesOutNoDataAndNonFiniteInAnyBandAndZeroInAll) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Strip strip;
  strip.pixels.resize(2, 6);
  strip.pixels << 1, -9, 3, 0, 0, nan,  //
      2, 5, -infinity, 0, 7, 1;
  const MatrixF before = strip.pixels;
  mark_valid(strip, -9);
  EXPECT_THAT(strip.valid, ElementsAre(1, 0, 0, 0, 1, 0));
  for (Index i = 0; i < 6; ++i)
    EXPECT_EQ(strip.pixels.col(i), strip.valid[static_cast<size_t>(i)] != 0
                                       ? Eigen::VectorXf(before.col(i))
                                       : Eigen::VectorXf::Zero(2));
}

TEST(MarkValid, KnowsNoDataBeyondTheRangeOfFloat) {
  Strip strip;
  strip.pixels.resize(1, 2);
  strip.pixels << 1, std::numeric_limits<float>::lowest();
  mark_valid(strip, std::numeric_limits<double>::lowest());
  EXPECT_THAT(strip.valid, ElementsAre(1, 0));
}

// ---- ENVI ---------------------------------------------------------------------------------------

template <class T>
void expect_envi_type(const std::string& type) {
  for (const std::string interleave : {"bsq", "bil", "bip"}) {
    Envi envi;
    envi.type = type;
    envi.interleave = interleave;
    envi.payload = Envi::values<T>(interleave);
    expect_envi_values(read_envi(envi));
    envi.offset = "5";
    envi.payload = "12345" + envi.payload;
    expect_envi_values(read_envi(envi));
  }
}

TEST(EnviScene, ReadsAllTypesAndInterleaves) {
  expect_envi_type<std::uint8_t>("1");
  expect_envi_type<std::int16_t>("2");
  expect_envi_type<std::int32_t>("3");
  expect_envi_type<float>("4");
  expect_envi_type<double>("5");
  expect_envi_type<std::uint16_t>("12");
  expect_envi_type<std::uint32_t>("13");
}

TEST(EnviScene, ReadsIntegersOf64BitsIfGdalDoes) {
  Envi envi;
  envi.type = "14";
  envi.payload = Envi::values<std::int64_t>("bsq");
  try {
    expect_envi_values(read_envi(envi));
  } catch (const DataError& error) {
    EXPECT_PRED2(contains, error.what(), "can't be opened as a raster");  // before GDAL 3.7
  }
}

TEST(EnviScene, ReadsTheOtherByteOrder) {
  Envi envi;
  envi.byte_order = "1";
  for (size_t i = 0; i < envi.payload.size(); i += 2)
    std::swap(envi.payload[i], envi.payload[i + 1]);
  expect_envi_values(read_envi(envi));
}

TEST(EnviScene, ReadsByRows) {
  const TemporaryFolder folder;
  const auto source = open_scene(Envi().write(folder));
  const Scene all = read_all(*source);
  Strip strip;
  for (const Index row : {1, 0}) {
    source->read(row, 1, strip);
    EXPECT_EQ(strip.pixels, all.data.pixels.middleCols(3 * row, 3));
  }
  EXPECT_EQ(all.info.format, "ENVI");
  EXPECT_THAT(all.info.source_bands, ElementsAre(0, 1));
  EXPECT_THAT(all.info.notes, IsEmpty());
  EXPECT_EQ(all.info.wavelengths.size(), 0);
  EXPECT_FALSE(all.info.georeference.transform);
}

TEST(EnviScene, RefusesComplexNumbers) {
  Envi envi;
  envi.type = "6";
  envi.payload = std::string(96, 'x');
  EXPECT_PRED2(contains, envi_error(envi), "complex numbers (CFloat32) in band 1");
}

TEST(EnviScene, RefusesAFileThatIsShorterThanItsHeaderPromises) {
  Envi envi;
  for (const std::string few : {"", "x"}) {  // too few for GDAL to look at
    envi.payload = few;
    envi_error(envi);
  }
  for (size_t length = 2; length < Envi().payload.size(); ++length) {
    envi.payload = Envi().payload.substr(0, length);
    EXPECT_PRED2(contains, envi_error(envi),
                 "found " + std::to_string(length) + " bytes, expected 24");
  }
}

TEST(EnviScene, RefusesHeaderFieldsThatLie) {
  for (std::string Envi::*field : {&Envi::samples, &Envi::lines, &Envi::band_count, &Envi::offset,
                                   &Envi::type, &Envi::byte_order, &Envi::interleave})
    for (const std::string value : {"-1", "2147483648", "2147483647", "1000000", "65536",
                                    "99999999999999999999", "text", "2x"}) {
      Envi envi;
      envi.*field = value;
      SCOPED_TRACE(envi.header());
      envi_error(envi);
    }
  for (std::string Envi::*field : {&Envi::samples, &Envi::lines, &Envi::band_count, &Envi::type})
    for (const std::string value : {"0", ""}) {
      Envi envi;
      envi.*field = value;
      SCOPED_TRACE(envi.header());
      envi_error(envi);
    }
}

TEST(EnviScene, ReadsWavelengthsInBothUnits) {
  Envi envi;
  envi.more = "wavelength units = Micrometers\nwavelength = {0.5,\n 0.4}\n";
  EXPECT_EQ(read_envi(envi).info.wavelengths, Vector({{0.5, 0.4}}));
  envi.more = "wavelength units = nm\nwavelength = {500, 600}\n";
  const Scene scene = read_envi(envi);
  EXPECT_EQ(scene.info.wavelengths, Vector({{0.5, 0.6}}));
  EXPECT_THAT(scene.info.notes, IsEmpty());
}

TEST(EnviScene, GuessesMissingUnitsAndSaysSo) {
  Envi envi;
  envi.more = "wavelength = {500, 600}\n";
  Scene scene = read_envi(envi);
  EXPECT_EQ(scene.info.wavelengths, Vector({{0.5, 0.6}}));
  EXPECT_THAT(scene.info.notes, ElementsAre(HasSubstr("taken to be nanometres")));
  envi.more = "wavelength units = Unknown\nwavelength = {0.5, 0.6}\n";
  scene = read_envi(envi);
  EXPECT_EQ(scene.info.wavelengths, Vector({{0.5, 0.6}}));
  EXPECT_THAT(scene.info.notes, ElementsAre(HasSubstr("taken to be micrometres")));
}

TEST(EnviScene, LeavesOutWavelengthsThatCannotBeUsed) {
  for (const std::string more : {"wavelength units = GHz\nwavelength = {1, 2}\n",
                                 "wavelength units = nm\nwavelength = {0, nan}\n"}) {
    Envi envi;
    envi.more = more;
    const Scene scene = read_envi(envi);
    EXPECT_EQ(scene.info.wavelengths.size(), 0);
    EXPECT_THAT(scene.info.notes, ElementsAre(HasSubstr("not used")));
  }
}

TEST(EnviScene, TakesWavelengthsFromBandNames) {
  Envi envi;
  envi.more = "band names = {band 1 (0.4554 Micrometers), b (x) (0.4694 Micrometers)}\n";
  EXPECT_EQ(read_envi(envi).info.wavelengths, Vector({{0.4554, 0.4694}}));
  envi.more = "band names = {band 1 (0.4554 Micrometers), b (0.4694 Apples)}\n";
  EXPECT_EQ(read_envi(envi).info.wavelengths.size(), 0);
}

TEST(EnviScene, RefusesListsOfTheWrongLength) {
  Envi envi;
  envi.more = "wavelength = {1, 2, 3}\n";
  EXPECT_PRED2(contains, envi_error(envi), "found 3 wavelengths, expected 2");
  envi.more = "bbl = {1}\n";
  EXPECT_PRED2(contains, envi_error(envi),
               "found 1 entries in the list of bad bands 'bbl', expected 2");
  envi.more = "bbl = {0, 0}\n";
  EXPECT_PRED2(contains, envi_error(envi), "found all 2 bands marked bad");
  envi.more = "wavelength = {1, two}\n";
  EXPECT_PRED2(contains, envi_error(envi), "found \"two\" in 'wavelength', expected a number");
  envi.more = "wavelength = {}\nbbl = { }\n";
  EXPECT_EQ(read_envi(envi).info.wavelengths.size(), 0);
}

TEST(EnviScene, LeavesOutBadBands) {
  Envi envi;
  envi.more = "bbl = {0, 1}\nwavelength units = um\nwavelength = {0.4, 0.5}\n";
  const Scene scene = read_envi(envi);
  EXPECT_EQ(scene.info.bands, 1);
  EXPECT_THAT(scene.info.source_bands, ElementsAre(1));
  EXPECT_EQ(scene.info.wavelengths, Vector({{0.5}}));
  EXPECT_EQ(scene.data.pixels(0, 0), Envi::value(0, 0, 1));
  EXPECT_THAT(scene.info.notes, ElementsAre("1 of 2 bands are marked bad and left out"));
}

TEST(EnviScene, MarksNoDataInAnyGoodBand) {
  Envi envi;
  envi.more = "data ignore value = 12\n";  // row 0, col 1, band 1
  Scene scene = read_envi(envi);
  EXPECT_EQ(scene.info.no_data, 12);
  EXPECT_THAT(scene.data.valid, ElementsAre(1, 0, 1, 1, 1, 1));
  EXPECT_EQ(scene.data.pixels.col(1).norm(), 0);
  envi.more += "bbl = {1, 0}\n";
  EXPECT_THAT(read_envi(envi).data.valid, testing::Each(1));
}

TEST(EnviScene, AppliesGainsAfterNoData) {
  Envi envi;
  envi.more =
      "data gain values = {0.5, 2}\ndata offset values = {0, 10}\ndata ignore value = 12\n"
      "reflectance scale factor = 10000\n";
  const Scene scene = read_envi(envi);
  EXPECT_THAT(scene.data.valid, ElementsAre(1, 0, 1, 1, 1, 1));
  EXPECT_EQ(scene.data.pixels(0, 0), 0.5f);
  EXPECT_EQ(scene.data.pixels(1, 0), 14.0f);
  EXPECT_EQ(scene.data.pixels(1, 5), 2.0f * static_cast<float>(Envi::value(1, 2, 1)) + 10);
  EXPECT_THAT(scene.info.notes, ElementsAre(HasSubstr("reflectance scale factor 10000")));
}

TEST(EnviScene, RefusesGainsOfZero) {
  Envi envi;
  envi.more = "data gain values = {0, 2}\n";
  EXPECT_PRED2(contains, envi_error(envi), "found gain 0");
}

/// The bytes of Envi's values by line or pixel, with a few before and after each line.
std::string framed(const std::string& interleave, size_t before, size_t after) {
  const std::string values = Envi::values<std::int16_t>(interleave);
  const size_t line = values.size() / Envi::rows;
  std::string bytes;
  for (size_t at = 0; at < values.size(); at += line)
    bytes += std::string(before, 'b') + values.substr(at, line) + std::string(after, 'a');
  return bytes;
}

TEST(EnviScene, SkipsMajorFramesOfLines) {
  for (const std::string interleave : {"bil", "bip"}) {
    Envi envi;
    envi.interleave = interleave;
    envi.more = "major frame offsets = {5, 3}\nminor frame offsets = {0, 0}\n";
    envi.payload = framed(interleave, 5, 3);
    expect_envi_values(read_envi(envi));
    envi.payload.pop_back();
    EXPECT_PRED2(contains, envi_error(envi), "found 39 bytes, expected 40");
  }
}

TEST(EnviScene, RefusesFramesThatGdalReadsWrongly) {
  Envi envi;
  envi.payload = std::string(100, 'x');
  envi.more = "major frame offsets = {5, 0}\n";
  EXPECT_PRED2(contains, envi_error(envi),
               "found major_frame_offsets = \"{5, 0}\" in the ENVI header with interleave bsq, "
               "expected none: only those of bil and bip can be read");
  for (const std::string interleave : {"bsq", "bil", "bip"}) {
    envi.interleave = interleave;
    envi.more = "minor frame offsets = {0, 2}\n";
    EXPECT_PRED2(contains, envi_error(envi),
                 "found minor_frame_offsets = \"{0, 2}\" in the ENVI header, expected none: they "
                 "can't be read");
  }
  for (const std::string list : {"{1}", "{1, 2, 3}", "{-1, 2}", "{0.5, 0}", "{1, 2147483647}"}) {
    envi.more = "major frame offsets = " + list + "\n";
    EXPECT_PRED2(contains, envi_error(envi),
                 "found major_frame_offsets = \"" + list +
                     "\" in the ENVI header, expected two whole numbers from 0");
  }
  envi.more = "major frame offsets = {1, x}\n";
  EXPECT_PRED2(contains, envi_error(envi), "found \"x\" in 'major_frame_offsets'");
  envi = Envi();
  envi.more = "major frame offsets = {0, 0}\nminor frame offsets = {}\n";
  expect_envi_values(read_envi(envi));
}

void write_gzip(const std::filesystem::path& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

TEST(EnviScene, ReadsCompressedFilesAndLeavesNothingBesideThem) {
  const TemporaryFolder folder;
  Envi envi;
  envi.more = "file compression = 1\n";
  const auto path = envi.write(folder);
  write_gzip(path, envi.payload);
  const Scene scene = read_scene(path);
  expect_envi_values(scene);
  EXPECT_THAT(scene.info.notes, ElementsAre(HasSubstr("compressed as a whole")));
  EXPECT_THAT(folder.names(), ElementsAre("x.hdr", "x.img"));

  write_gzip(path, envi.payload.substr(0, 23));
  EXPECT_PRED2(contains, thrown<DataError>([&] { open_scene(path); }),
               "found 23 bytes after decompression, expected 24");
  const std::string whole = test::read_file(path);
  write_file(path, whole.substr(0, whole.size() - 9));
  thrown<DataError>([&] { open_scene(path); });
}

/// A GeoTIFF of Envi's values.
std::filesystem::path write_tiff(const TemporaryFolder& folder,
                                 const std::function<void(GDALDataset&)>& change = {}) {
  GDALAllRegister();
  const auto path = folder / "x.tif";
  auto* driver = GetGDALDriverManager()->GetDriverByName("GTiff");
  auto* dataset =
      driver->Create(path.c_str(), Envi::cols, Envi::rows, Envi::bands, GDT_Int16, nullptr);
  std::string values = Envi::values<std::int16_t>("bsq");
  EXPECT_EQ(dataset->RasterIO(GF_Write, 0, 0, Envi::cols, Envi::rows, values.data(), Envi::cols,
                              Envi::rows, GDT_Int16, Envi::bands, nullptr, 0, 0, 0, nullptr),
            CE_None);
  if (change) change(*dataset);
  GDALClose(dataset);
  return path;
}

// ---- Past GDAL ----------------------------------------------------------------------------------

/// Rows, columns and bands of more than one piece and one tile (io/raw_cube.cpp).
constexpr int many_rows = 70, many_cols = 150, many_bands = 31;

/// Values of any bits, and those that a float can hardly hold, in either byte order.
template <class T>
std::string any_values(bool swapped) {
  std::mt19937 random(7);
  std::vector<T> values(many_rows * many_cols * many_bands);
  for (T& value : values) {
    std::array<unsigned char, sizeof(T)> bytes;
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    std::memcpy(&value, bytes.data(), sizeof value);
  }
  using Limits = std::numeric_limits<T>;
  const std::array special = {Limits::max(),
                              Limits::lowest(),
                              Limits::min(),
                              Limits::denorm_min(),
                              Limits::infinity(),
                              Limits::quiet_NaN(),
                              T(-Limits::infinity()),
                              T(0),
                              T(1)};
  std::ranges::copy(special, values.begin() + 5);
  std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  if (swapped)
    for (size_t at = 0; at < bytes.size(); at += sizeof(T))
      std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                   bytes.begin() + static_cast<std::ptrdiff_t>(at + sizeof(T)));
  return bytes;
}

bool same_number(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

void expect_what_gdal_reads(const Envi& envi) {
  SCOPED_TRACE(envi.header());
  const TemporaryFolder folder;
  const auto path = envi.write(folder);
  GDALAllRegister();
  const std::unique_ptr<GDALDataset> dataset(
      GDALDataset::FromHandle(GDALOpen(path.c_str(), GA_ReadOnly)));
  ASSERT_NE(dataset, nullptr);
  const auto cube = RawCube::open(*dataset, path.string());
  ASSERT_NE(cube, nullptr);
  std::vector<Index> all(many_bands);
  std::iota(all.begin(), all.end(), Index{0});
  for (const std::vector<Index>& bands : {all, {2, 3, 17}})
    for (const auto& [first, count] : {std::pair{0, many_rows}, {many_rows - 3, 3}, {11, 1}}) {
      const ThreadLimit threads(1 + first % 2);
      MatrixF found, expected(bands.size(), count * many_cols);
      cube->read(first, count, bands, found);
      std::vector<int> from_one;
      for (const Index band : bands) from_one.push_back(static_cast<int>(band) + 1);
      const auto item = static_cast<GSpacing>(sizeof(float)), column = item * expected.rows();
      ASSERT_EQ(dataset->RasterIO(GF_Read, 0, first, many_cols, count, expected.data(), many_cols,
                                  count, GDT_Float32, static_cast<int>(bands.size()),
                                  from_one.data(), column, column * many_cols, item, nullptr),
                CE_None);
      ASSERT_EQ(found.rows(), expected.rows());
      ASSERT_EQ(found.cols(), expected.cols());
      EXPECT_TRUE(std::ranges::equal(found.reshaped(), expected.reshaped(), same_number));
    }
}

template <class T>
void expect_what_gdal_reads_of(const std::string& type) {
  Envi envi;
  envi.lines = std::to_string(many_rows);
  envi.samples = std::to_string(many_cols);
  envi.band_count = std::to_string(many_bands);
  envi.type = type;
  for (const bool swapped : {false, true}) {
    envi.byte_order = swapped ? "1" : "0";
    const std::string values = any_values<T>(swapped);
    for (const std::string interleave : {"bsq", "bil", "bip"}) {
      envi.interleave = interleave;
      envi.more.clear();
      for (const int offset : {0, 13}) {
        envi.offset = std::to_string(offset);
        envi.payload = std::string(static_cast<size_t>(offset), 'x') + values;
        expect_what_gdal_reads(envi);
      }
      if (interleave == "bsq") continue;
      envi.offset = "0";
      envi.more = "major frame offsets = {5, 3}\n";
      envi.payload = values + std::string(many_rows * 8, 'x');
      expect_what_gdal_reads(envi);
    }
  }
}

TEST(RawCube, ReadsWhatGdalReads) {
  expect_what_gdal_reads_of<std::uint8_t>("1");
  expect_what_gdal_reads_of<std::int16_t>("2");
  expect_what_gdal_reads_of<std::int32_t>("3");
  expect_what_gdal_reads_of<float>("4");
  expect_what_gdal_reads_of<double>("5");
  expect_what_gdal_reads_of<std::uint16_t>("12");
  expect_what_gdal_reads_of<std::uint32_t>("13");
  if (GDALVersionInfo("VERSION_NUM") < std::string("3070000")) return;
  expect_what_gdal_reads_of<std::int64_t>("14");
  expect_what_gdal_reads_of<std::uint64_t>("15");
}

TEST(RawCube, LeavesToGdalWhatOnlyItUnderstands) {
  const TemporaryFolder folder;
  Envi envi;
  envi.more = "file compression = 1\n";
  const auto compressed = envi.write(folder);
  write_gzip(compressed, envi.payload);
  for (const auto& path : {compressed, write_tiff(folder)}) {
    GDALAllRegister();
    const std::unique_ptr<GDALDataset> dataset(
        GDALDataset::FromHandle(GDALOpen(path.c_str(), GA_ReadOnly)));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(RawCube::open(*dataset, path.string()), nullptr);
  }
}

TEST(RawCube, SaysThatAFileWasCutWhileItWasRead) {
  const TemporaryFolder folder;
  for (const std::string interleave : {"bsq", "bil", "bip"}) {
    Envi envi;
    envi.interleave = interleave;
    const auto path = envi.write(folder);
    const auto source = open_scene(path);
    std::filesystem::resize_file(path, 23);
    Strip strip;
    source->read(0, 1, strip);
    const std::string message = thrown<DataError>([&] { source->read(1, 1, strip); });
    EXPECT_EQ(message, path.string() + ": can't be read: it has become shorter");
  }
}

// ---- Other formats of GDAL ----------------------------------------------------------------------

TEST(GdalScene, ReadsGeoTiffWithItsGeoreferenceAndMetadata) {
  const TemporaryFolder folder;
  const auto path = write_tiff(folder, [](GDALDataset& dataset) {
    double transform[6] = {100, 30, 0, 200, 0, -30};
    dataset.SetGeoTransform(transform);
    OGRSpatialReference crs;
    crs.SetWellKnownGeogCS("WGS84");
    dataset.SetSpatialRef(&crs);
    dataset.GetRasterBand(1)->SetNoDataValue(112);
    for (int band : {1, 2}) {
      dataset.GetRasterBand(band)->SetMetadataItem("wavelength", band == 1 ? "450" : "550");
      dataset.GetRasterBand(band)->SetMetadataItem("wavelength_units", "Nanometers");
    }
    dataset.GetRasterBand(2)->SetScale(0.5);
    dataset.GetRasterBand(2)->SetOffset(1);
  });
  const Scene scene = read_scene(path);
  EXPECT_EQ(scene.info.format, "GTiff");
  EXPECT_EQ(scene.info.georeference.transform, (std::array<double, 6>{100, 30, 0, 200, 0, -30}));
  EXPECT_PRED2(contains, scene.info.georeference.crs, "WGS");
  EXPECT_EQ(scene.info.wavelengths, Vector({{0.45, 0.55}}));
  EXPECT_THAT(scene.data.valid, ElementsAre(1, 1, 1, 1, 0, 1));
  EXPECT_EQ(scene.data.pixels(0, 0), 1.0f);
  EXPECT_EQ(scene.data.pixels(1, 0), 2.0f);
}

TEST(GdalScene, TakesWavelengthsFromTheImageryDomain) {
  const TemporaryFolder folder;
  const auto path = write_tiff(folder, [](GDALDataset& dataset) {
    for (int band : {1, 2})
      dataset.GetRasterBand(band)->SetMetadataItem("CENTRAL_WAVELENGTH_UM",
                                                   band == 1 ? "0.450" : "0.550", "IMAGERY");
  });
  EXPECT_EQ(read_scene(path).info.wavelengths, Vector({{0.45, 0.55}}));
}

TEST(GdalScene, RefusesATruncatedGeoTiff) {
  const TemporaryFolder folder;
  const auto path = write_tiff(folder);
  const std::string whole = test::read_file(path);
  for (size_t length = 0; length < whole.size(); ++length) {
    write_file(path, whole.substr(0, length));
    EXPECT_TRUE(thrown<DataError>([&] { read_scene(path); }).starts_with(path.string() + ": "))
        << length << " of " << whole.size();
  }
}

/// ERDAS 7.4: 128 bytes of header, then rows of bands.
std::string lan_file() {
  std::string header = "HEAD74";
  const auto append = [&](auto value) {
    header.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  append(std::int16_t{2});  // 16 bits
  append(std::int16_t{Envi::bands});
  header.resize(16, '\0');
  append(std::int32_t{Envi::cols});
  append(std::int32_t{Envi::rows});
  header.resize(128, '\0');
  return header + Envi::values<std::int16_t>("bil");
}

TEST(GdalScene, ReadsErdasLan) {
  const TemporaryFolder folder;
  write_file(folder / "x.lan", lan_file());
  const Scene scene = read_scene(folder / "x.lan");
  EXPECT_EQ(scene.info.format, "LAN");
  expect_envi_values(scene);
  write_file(folder / "x.lan", lan_file().substr(0, 150));
  EXPECT_PRED2(contains, thrown<DataError>([&] { open_scene(folder / "x.lan"); }),
               "found 150 bytes, expected 152");
}

TEST(GdalScene, SaysWhatCannotBeOpened) {
  const TemporaryFolder folder;
  EXPECT_EQ(thrown<DataError>([&] { open_scene(folder / "none"); }),
            (folder / "none").string() + ": no such file");
  write_file(folder / "text", "not a raster");
  EXPECT_PRED2(contains, thrown<DataError>([&] { open_scene(folder / "text"); }),
               "can't be opened as a raster");
}

// ---- Files that would make GDAL read others -----------------------------------------------------

std::string vrt_of(const std::string& source) {
  return "<VRTDataset rasterXSize=\"3\" rasterYSize=\"2\"><VRTRasterBand dataType=\"Int16\" "
         "band=\"1\"><SimpleSource><SourceFilename relativeToVRT=\"1\">" +
         source +
         "</SourceFilename><SourceBand>1</SourceBand></SimpleSource></VRTRasterBand></VRTDataset>";
}

TEST(GdalScene, ReadsAVirtualRasterOnlyUnderItsName) {
  const TemporaryFolder folder;
  write_tiff(folder);
  write_file(folder / "scene.tif", vrt_of("x.tif"));
  EXPECT_EQ(thrown<DataError>([&] { open_scene(folder / "scene.tif"); }),
            (folder / "scene.tif").string() +
                ": found a file of GDAL's driver VRT, which reads other files or addresses that "
                "the file names, expected the data themselves, or a name that ends in .vrt");
  for (const std::string name : {"scene.vrt", "scene.VRT"}) {
    write_file(folder / name, vrt_of("x.tif"));
    EXPECT_EQ(read_scene(folder / name).data.pixels(0, 1), 11);
  }
}

TEST(GdalScene, RefusesDescriptionsOfServices) {
  const TemporaryFolder folder;
  for (const std::string name : {"scene.xml", "scene.vrt"}) {
    write_file(folder / name,
               "<GDAL_WMS><Service name=\"TMS\"><ServerUrl>http://127.0.0.1:9/${z}/${x}/${y}"
               "</ServerUrl></Service></GDAL_WMS>");
    EXPECT_EQ(thrown<DataError>([&] { open_scene(folder / name); }),
              (folder / name).string() +
                  ": found a file of GDAL's driver WMS, which reads other files or addresses that "
                  "the file names, expected the data themselves");
  }
}

TEST(GdalScene, RefusesAHeaderThatNamesAFileOfAnotherFolder) {
  const TemporaryFolder folder;
  const auto label = [&](const std::string& data) {
    return "PDS_VERSION_ID = PDS3\nRECORD_TYPE = FIXED_LENGTH\nRECORD_BYTES = 3\n"
           "^IMAGE = (\"" +
           data +
           "\", 1)\nOBJECT = IMAGE\n LINES = 2\n LINE_SAMPLES = 3\n"
           " SAMPLE_TYPE = UNSIGNED_INTEGER\n SAMPLE_BITS = 8\n BANDS = 1\n"
           " BAND_STORAGE_TYPE = BAND_SEQUENTIAL\nEND_OBJECT = IMAGE\nEND\n";
  };
  std::filesystem::create_directory(folder / "in");
  write_file(folder / "in/own.img", "abcdef");
  write_file(folder / "secret.img", "ABCDEF");
  write_file(folder / "in/scene.lbl", label("own.img"));
  EXPECT_EQ(read_scene(folder / "in/scene.lbl").data.pixels(0, 5), 'f');
  write_file(folder / "in/scene.lbl", label("../secret.img"));
  const std::string message = thrown<DataError>([&] { open_scene(folder / "in/scene.lbl"); });
  EXPECT_PRED2(contains, message, "scene.lbl: would read ");
  EXPECT_PRED2(contains, message, "secret.img, expected files of its own folder only");
}

TEST(GdalScene, RefusesNamesThatOnlyGdalKnows) {
  for (const std::string& name :
       {std::string("/vsicurl/http://127.0.0.1:9/x.tif"), std::string("http://127.0.0.1:9/x.tif"),
        std::string("WMS:http://127.0.0.1:9/"), vrt_of("/etc/passwd")}) {
    EXPECT_EQ(thrown<DataError>([&] { open_scene(name); }), name + ": no such file");
    EXPECT_EQ(thrown<DataError>([&] {
                const TemporaryFolder folder;
                open_scene(write_tiff(folder), {"", name});
              }),
              name + ": no such file");
  }
}

TEST(GdalScene, TakesAFileForAFileWhateverItsName) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::filesystem::rename(write_tiff(folder), folder / "GTIFF_DIR:2:y.tif");
  EXPECT_EQ(read_scene("GTIFF_DIR:2:y.tif").data.pixels(0, 1), 11);
  std::filesystem::current_path(before);
}

/// A GeoTIFF with two bands of 16-bit tiles of that side, none of which is stored.
std::filesystem::path write_tiles(const TemporaryFolder& folder, int side) {
  const std::string text = std::to_string(side);
  const std::string width = "BLOCKXSIZE=" + text, height = "BLOCKYSIZE=" + text;
  const char* options[] = {"TILED=YES", "SPARSE_OK=YES", width.c_str(), height.c_str(), nullptr};
  const auto path = folder / ("tiles" + text + ".tif");
  GDALClose(GetGDALDriverManager()->GetDriverByName("GTiff")->Create(
      path.c_str(), side + 1, side, 2, GDT_Int16, const_cast<char**>(options)));
  return path;
}

TEST(GdalScene, KeepsGdalsBlockCacheSmall) {
  if (std::getenv("GDAL_CACHEMAX") != nullptr) GTEST_SKIP() << "GDAL_CACHEMAX is set";
  constexpr GIntBig megabyte = 1 << 20;
  const TemporaryFolder folder;
  open_scene(write_tiff(folder));
  EXPECT_LT(GDALGetCacheMax64(), 65 * megabyte);
  open_scene(write_tiles(folder, 4096));  // a row of blocks: 2 x 2 x 32 MB
  EXPECT_EQ(GDALGetCacheMax64(), (64 + 128) * megabyte);
  open_scene(write_tiles(folder, 16384));
  EXPECT_EQ(GDALGetCacheMax64(), 512 * megabyte);
}

// ---- Arrays -------------------------------------------------------------------------------------

std::string cube_npy() {
  return test::npy_file(test::npy_header("<i2", "(2, 3, 2)"), Envi::values<std::int16_t>("bip"));
}

TEST(ArrayScene, ReadsNumpyByContent) {
  const TemporaryFolder folder;
  write_file(folder / "cube.dat", cube_npy());
  const auto source = open_scene(folder / "cube.dat");
  EXPECT_EQ(source->info().format, "NumPy");
  expect_envi_values(read_all(*source));
  Strip strip;
  source->read(1, 1, strip);
  EXPECT_EQ(strip.pixels(1, 2), static_cast<float>(Envi::value(1, 2, 1)));
}

TEST(ArrayScene, PicksTheOnlyCubeOfAMatFileOrTheOneNamed) {
  const TemporaryFolder folder;
  const auto path = folder / "x.mat";
  const test::Mat5Writer w;
  const auto cube = [&](const std::string& name, std::int16_t start) {
    return w.variable(
        name, test::mat5::class_int16, {1, 1, 2},
        w.small_element(test::mat5::int16,
                        w.numbers<std::int16_t>({start, static_cast<std::int16_t>(start + 1)})));
  };
  const std::string flat =
      w.variable("gt", test::mat5::class_uint8, {1, 1}, w.small_element(test::mat5::uint8, "\1"));
  write_file(path, w.file(flat + cube("a", 5)));
  EXPECT_EQ(read_scene(path).data.pixels, MatrixF({{5}, {6}}));
  EXPECT_EQ(open_scene(path)->info().format, "MATLAB 5");

  write_file(path, w.file(flat + cube("a", 5) + cube("b", 7)));
  EXPECT_EQ(read_scene(path, {"b", {}}).data.pixels, MatrixF({{7}, {8}}));
  EXPECT_EQ(thrown<DataError>([&] { open_scene(path); }),
            path.string() +
                ": found 2 arrays of rows x cols x bands, expected one or the name of one: "
                "a (1 x 1 x 2 int16), b (1 x 1 x 2 int16)");
  EXPECT_EQ(
      thrown<DataError>([&] {
        open_scene(path, {"gt", {}});
      }),
      path.string() +
          ": found no numeric array 'gt' of rows x cols x bands; there are: gt (1 x 1 uint8), "
          "a (1 x 1 x 2 int16), b (1 x 1 x 2 int16)");
  write_file(path, w.file(""));
  EXPECT_PRED2(contains, thrown<DataError>([&] { open_scene(path); }), "found no variables");
}

/// MATLAB 4: type, rows, cols, imaginary, length of the name; the name; values.
std::string mat4_file(bool big_endian) {
  std::string bytes;
  for (const std::uint32_t number : {big_endian ? 1000u : 0u, 2u, 3u, 0u, 2u})
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(number >> 8 * (big_endian ? 3 - i : i));
  return bytes + std::string("x\0", 2) + std::string(6 * sizeof(double), '\1');
}

TEST(ArrayScene, SaysWhatToDoWithMatlab4) {
  const TemporaryFolder folder;
  const auto path = folder / "x.mat";
  const std::string message =
      path.string() + ": is a MATLAB 4 file; save it again with -v7 or -v7.3";
  for (const bool big_endian : {false, true}) {
    write_file(path, mat4_file(big_endian));
    EXPECT_EQ(thrown<DataError>([&] { open_scene(path); }), message);
    EXPECT_EQ(thrown<DataError>([&] { read_label_raster(path); }), message);
    EXPECT_EQ(thrown<DataError>([&] { read_labels(path, {}); }), message);
  }
}

TEST(ArrayScene, TakesNothingElseForMatlab4) {
  const TemporaryFolder folder;
  const auto path = folder / "x.mat";
  const std::string good = mat4_file(false);
  const auto expect_other = [&](const std::string& bytes) {
    write_file(path, bytes);
    EXPECT_PRED2(contains, thrown<DataError>([&] { open_scene(path); }), "can't be opened");
  };
  for (const size_t at : {0u, 1u, 12u, 13u, 16u, 17u, 20u, 21u}) {  // of all but the sizes
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] + 7);
    expect_other(bytes);
  }
  expect_other(good.substr(0, good.size() - 1));
  expect_other(std::string(200, '\0'));
  Envi zeros;
  zeros.payload.assign(24, '\0');
  EXPECT_THAT(read_envi(zeros).data.valid, testing::Each(0));
}

TEST(ArrayScene, RefusesAnEmptyCube) {
  const TemporaryFolder folder;
  write_file(folder / "x.npy", test::npy_file(test::npy_header("<i2", "(0, 3, 2)"), ""));
  EXPECT_PRED2(contains, thrown<DataError>([&] { open_scene(folder / "x.npy"); }),
               "unnamed (0 x 3 x 2 int16)");
}

// ---- Masks --------------------------------------------------------------------------------------

TEST(SceneMask, TakesOutZeroAndNoData) {
  const TemporaryFolder folder;
  write_file(folder / "scene.npy", cube_npy());
  write_file(folder / "mask.img", std::string("\1\0\2\7\1\1", 6));
  write_file(folder / "mask.hdr",
             "ENVI\nsamples = 3\nlines = 2\nbands = 1\ndata type = 1\ninterleave = bsq\n"
             "data ignore value = 7\n");
  write_file(folder / "mask.npy",
             test::npy_file(test::npy_header("|b1", "(2, 3)"), std::string("\1\0\1\0\1\1", 6)));
  for (const std::string mask : {"mask.img", "mask.npy"}) {
    const auto source = open_scene(folder / "scene.npy", {"", folder / mask});
    EXPECT_THAT(read_all(*source).data.valid, ElementsAre(1, 0, 1, 0, 1, 1));
    Strip strip;
    source->read(1, 1, strip);
    EXPECT_THAT(strip.valid, ElementsAre(0, 1, 1));
    EXPECT_EQ(strip.pixels.col(0).norm(), 0);
    EXPECT_EQ(strip.pixels(0, 1), static_cast<float>(Envi::value(1, 1, 0)));
  }
}

TEST(SceneMask, RefusesAnotherSize) {
  const TemporaryFolder folder;
  write_file(folder / "scene.npy", cube_npy());
  write_file(folder / "mask.npy",
             test::npy_file(test::npy_header("|b1", "(3, 2)"), std::string(6, '\1')));
  write_file(folder / "mask.img", std::string(6, '\1'));
  write_file(folder / "mask.hdr",
             "ENVI\nsamples = 2\nlines = 3\nbands = 1\ndata type = 1\ninterleave = bsq\n");
  const auto error = [&](const std::string& mask) {
    return thrown<DataError>([&] { open_scene(folder / "scene.npy", {"", folder / mask}); });
  };
  EXPECT_EQ(error("mask.img"), (folder / "mask.img").string() +
                                   ": found a mask of 3 x 2 pixels, expected the scene's 2 x 3");
  EXPECT_PRED2(contains, error("mask.npy"),
               "the scene's 2 x 3 pixels; there are: unnamed (3 x 2 bool)");
}

// ---- Real scenes: figures taken once with scipy and NumPy ---------------------------------------

TEST(RealScene, IndianPines) {
  const auto path = real_data("indian_pines/indian_pines.mat");
  HYPERATOM_NEEDS(path);
  const Scene scene = read_scene(path);
  ASSERT_EQ(scene.info.rows, 145);
  ASSERT_EQ(scene.info.cols, 145);
  ASSERT_EQ(scene.info.bands, 200);
  const MatrixF& pixels = scene.data.pixels;
  EXPECT_EQ(pixels.minCoeff(), 985);
  EXPECT_EQ(pixels.maxCoeff(), 9604);
  EXPECT_EQ(pixels.cast<double>().sum(), 11242525805.0);
  EXPECT_EQ(pixels(0, 0), 3172);
  EXPECT_EQ(pixels(1, 0), 4142);
  EXPECT_EQ(pixels(30, 10 * 145 + 20), 4621);
  EXPECT_EQ(pixels(199, 144 * 145 + 5), 1004);
}

TEST(RealScene, BerlinHyMap) {
  const auto path = real_data("berlin/HyMap02_Berlin_Urban_Gradient_2009.bsq");
  HYPERATOM_NEEDS(path);
  const Scene scene = read_scene(path);
  ASSERT_EQ(scene.info.rows, 100);
  ASSERT_EQ(scene.info.cols, 67);
  ASSERT_EQ(scene.info.bands, 111);
  ASSERT_EQ(scene.info.wavelengths.size(), 111);
  EXPECT_EQ(scene.info.wavelengths[0], 0.4554);
  EXPECT_EQ(scene.info.wavelengths[110], 2.4465);
  EXPECT_PRED2(contains, scene.info.georeference.crs, "UTM");
  ASSERT_TRUE(scene.info.georeference.transform);
  EXPECT_EQ((*scene.info.georeference.transform)[1], 9);
  const MatrixF& pixels = scene.data.pixels;
  EXPECT_EQ(pixels.maxCoeff(), 0.5206f);
  EXPECT_EQ(pixels(0, 0), 0.0294f);
  EXPECT_EQ(pixels(110, 99 * 67 + 66), 0.073f);
  EXPECT_EQ(pixels(50, 10 * 67 + 20), 0.0843f);
}

TEST(RealScene, BerlinEnmapWhosePayloadIsCompressed) {
  const auto path = real_data("berlin/EnMAP_BerlinUrbanGradient.bsq");
  HYPERATOM_NEEDS(path);
  const auto source = open_scene(path);
  const Scene scene = read_all(*source);
  ASSERT_EQ(scene.info.rows, 80);
  ASSERT_EQ(scene.info.cols, 60);
  ASSERT_EQ(scene.info.bands, 244);
  EXPECT_EQ(scene.info.no_data, -99);
  EXPECT_EQ(scene.info.wavelengths[0], 0.424);
  const MatrixF& pixels = scene.data.pixels;
  EXPECT_EQ(pixels.minCoeff(), -29);
  EXPECT_EQ(pixels.maxCoeff(), 5218);
  EXPECT_EQ(pixels.cast<double>().sum(), 1372206370.0);
  EXPECT_EQ(pixels(0, 0), 348);
  EXPECT_EQ(pixels(100, 40 * 60 + 30), 1307);
  EXPECT_EQ(pixels(243, 79 * 60 + 59), 693);
  Strip strip;
  source->read(40, 7, strip);
  EXPECT_EQ(strip.pixels, pixels.middleCols(40 * 60, 7 * 60));
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".properties"));
}

}  // namespace
}  // namespace hyperatom
