#include "hyperatom/io/raster_writer.hpp"

#include <cpl_conv.h>
#include <cpl_minixml.h>
#include <fmt/format.h>
#include <gdal_priv.h>
#include <gdal_rat.h>
#include <gtest/gtest.h>
#include <ogr_spatialref.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <utility>

#include "hyperatom/base/error.hpp"
#include "hyperatom/io/gdal.hpp"
#include "hyperatom/io/label_reader.hpp"
#include "hyperatom/io/qml.hpp"
#include "hyperatom/io/scene_reader.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom::test {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

Georeference utm33() {
  OGRSpatialReference crs;
  crs.importFromEPSG(32633);
  char* wkt = nullptr;
  crs.exportToWkt(&wkt);
  Georeference georeference{wkt, std::array<double, 6>{380000, 10, 0, 5820000, 0, -10}};
  CPLFree(wkt);
  return georeference;
}

RasterContent three_classes() {
  RasterContent content;
  content.class_names = {"corn", "wood & <field>, \"dry\"", "W\xc3\xa4lder"};
  content.class_colours = {{255, 0, 0}, {0, 128, 7}, {1, 2, 3}};
  return content;
}

std::vector<std::int32_t> random_ids(Index count, Index classes) {
  Random random(7);
  std::vector<std::int32_t> ids;
  for (Index i = 0; i < count; ++i)
    ids.push_back(static_cast<std::int32_t>(random.below(classes + 1)));
  return ids;
}

/// Writes a whole map, `at_once` rows at a time.
void write_map(const fs::path& path, Index rows, Index cols, const std::vector<std::int32_t>& ids,
               const RasterContent& content, const RasterOptions& options, Index at_once = 1000) {
  RasterWriter writer(path, rows, cols, utm33(), content, options);
  for (Index first = 0; first < rows; first += at_once) {
    const Index count = std::min(at_once, rows - first);
    writer.write(first, count,
                 std::vector<std::int32_t>(ids.begin() + first * cols,
                                           ids.begin() + (first + count) * cols));
  }
  writer.finish();
}

void write_small(const fs::path& path, const RasterOptions& options = {}) {
  write_map(path, 2, 3, {0, 1, 2, 3, 1, 1}, three_classes(), options);
}

/// A raster as another program sees it: with its .aux.xml.
class Opened {
 public:
  explicit Opened(const fs::path& path) : dataset_(open_raster(path)) {
    dataset_
        ->GetSpatialRef();  // GDAL loads the .aux.xml with it, but not with the names of classes
  }
  GDALDataset& operator*() const { return *dataset_; }
  GDALDataset* operator->() const { return dataset_.get(); }

 private:
  CPLConfigOptionSetter with_aux_xml_{"GDAL_PAM_ENABLED", "YES", false};
  Dataset dataset_;
};

std::vector<std::int32_t> ids_of(GDALDataset& dataset) {
  const int cols = dataset.GetRasterXSize(), rows = dataset.GetRasterYSize();
  std::vector<std::int32_t> ids(static_cast<size_t>(cols) * static_cast<size_t>(rows));
  EXPECT_EQ(dataset.GetRasterBand(1)->RasterIO(GF_Read, 0, 0, cols, rows, ids.data(), cols, rows,
                                               GDT_Int32, 0, 0, nullptr),
            CE_None);
  return ids;
}

std::vector<std::string> categories_of(GDALDataset& dataset) {
  std::vector<std::string> names;
  for (char** name = dataset.GetRasterBand(1)->GetCategoryNames(); name && *name; ++name)
    names.emplace_back(*name);
  return names;
}

void expect_place(GDALDataset& dataset) {
  const Georeference expected = utm33();
  std::array<double, 6> transform{};
  EXPECT_EQ(dataset.GetGeoTransform(transform.data()), CE_None);
  EXPECT_EQ(transform, *expected.transform);
  ASSERT_NE(dataset.GetSpatialRef(), nullptr);
  OGRSpatialReference crs;
  crs.importFromEPSG(32633);
  EXPECT_TRUE(dataset.GetSpatialRef()->IsSame(&crs));
}

void expect_colours(GDALRasterBand& band, const std::vector<Colour>& colours) {
  const GDALColorTable* table = band.GetColorTable();
  ASSERT_NE(table, nullptr);
  for (size_t c = 0; c < colours.size(); ++c) {
    const GDALColorEntry& entry = *table->GetColorEntry(static_cast<int>(c) + 1);
    EXPECT_EQ(entry.c1, colours[c][0]);
    EXPECT_EQ(entry.c2, colours[c][1]);
    EXPECT_EQ(entry.c3, colours[c][2]);
  }
}

void expect_attribute_table(GDALRasterBand& band, const RasterContent& content) {
  const GDALRasterAttributeTable* table = band.GetDefaultRAT();
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->GetRowCount(), static_cast<int>(content.class_names.size()));
  const int name = table->GetColOfUsage(GFU_Name), green = table->GetColOfUsage(GFU_Green);
  for (int row = 0; row < table->GetRowCount(); ++row) {
    EXPECT_EQ(table->GetValueAsInt(row, table->GetColOfUsage(GFU_MinMax)), row + 1);
    EXPECT_EQ(table->GetValueAsString(row, name), content.class_names[static_cast<size_t>(row)]);
    EXPECT_EQ(table->GetValueAsInt(row, green), content.class_colours[static_cast<size_t>(row)][1]);
  }
}

double no_data_of(GDALRasterBand& band) {
  int has = 0;
  const double value = band.GetNoDataValue(&has);
  EXPECT_TRUE(has);
  return value;
}

class MapFormats : public testing::TestWithParam<const char*> {};

TEST_P(MapFormats, HoldClassesNamesColoursAndPlace) {
  const TemporaryFolder folder;
  const RasterContent content = three_classes();
  const std::vector<std::int32_t> ids = random_ids(300 * 37, 3);
  write_map(folder / "map.tif", 300, 37, ids, content, {.format = GetParam()}, 7);
  const Opened map(folder / "map.tif");
  GDALRasterBand& band = *map->GetRasterBand(1);
  EXPECT_EQ(map->GetRasterCount(), 1);
  EXPECT_EQ(band.GetRasterDataType(), GDT_Byte);
  EXPECT_EQ(ids_of(*map), ids);
  EXPECT_EQ(categories_of(*map),
            (std::vector<std::string>{"Unclassified", "corn", "wood & <field>, \"dry\"",
                                      "W\xc3\xa4lder"}));
  expect_colours(band, content.class_colours);
  expect_attribute_table(band, content);
  expect_place(*map);
  EXPECT_EQ(no_data_of(band), 0);
  EXPECT_STREQ(band.GetDescription(), "class");
  EXPECT_STREQ(map->GetMetadataItem("COMPRESSION", "IMAGE_STRUCTURE"), "DEFLATE");
  EXPECT_EQ(folder.names(), (Names{"map.tif", "map.tif.aux.xml", "map.qml"}));
}

INSTANTIATE_TEST_SUITE_P(RasterWriter, MapFormats, testing::Values("GTiff", "COG", "gtiff"));

TEST(RasterWriter, CogHasOverviewsOfTheMostFrequentClass) {
  const TemporaryFolder folder;
  std::vector<std::int32_t> ids(1024 * 1024, 3);
  for (size_t i = 0; i < ids.size(); i += 5) ids[i] = 1;  // an average would give class 2
  write_map(folder / "map.tif", 1024, 1024, ids, three_classes(), {.format = "COG"});
  const Opened map(folder / "map.tif");
  EXPECT_STREQ(map->GetMetadataItem("LAYOUT", "IMAGE_STRUCTURE"), "COG");
  ASSERT_GE(map->GetRasterBand(1)->GetOverviewCount(), 1);
  GDALRasterBand& overview = *map->GetRasterBand(1)->GetOverview(0);
  std::vector<std::uint8_t> row(static_cast<size_t>(overview.GetXSize()));
  ASSERT_EQ(overview.RasterIO(GF_Read, 0, 5, overview.GetXSize(), 1, row.data(),
                              overview.GetXSize(), 1, GDT_Byte, 0, 0, nullptr),
            CE_None);
  EXPECT_EQ(row, std::vector<std::uint8_t>(row.size(), 3));
}

TEST(RasterWriter, CogDoesNotFillTheMemory) {
  if (std::getenv("GDAL_CACHEMAX") != nullptr) GTEST_SKIP() << "GDAL_CACHEMAX is set";
  const TemporaryFolder folder;
  write_small(folder / "map.tif", {.format = "COG"});
  EXPECT_LT(GDALGetCacheMax64(), 65 << 20);  // by default, 5 % of the memory
}

TEST(RasterWriter, EnviClassificationNeedsNoOtherFile) {
  const TemporaryFolder folder;
  const std::vector<std::int32_t> ids = random_ids(30 * 17, 3);
  write_map(folder / "map.bsq", 30, 17, ids, three_classes(), {.format = "ENVI"}, 4);
  EXPECT_EQ(folder.names(), (Names{"map.bsq", "map.hdr", "map.qml"}));
  const std::string header = read_file(folder / "map.hdr");
  EXPECT_PRED2(contains, header, "file type = ENVI Classification");
  EXPECT_PRED2(contains, header, "classes = 4");
  EXPECT_FALSE(contains(header, ".hyperatom-")) << header;
  const Opened map(folder / "map.bsq");
  EXPECT_EQ(ids_of(*map), ids);
  // A comma can't be written into a header.
  EXPECT_EQ(categories_of(*map),
            (std::vector<std::string>{"Unclassified", "corn", "wood & <field>; \"dry\"",
                                      "W\xc3\xa4lder"}));
  expect_colours(*map->GetRasterBand(1), three_classes().class_colours);
  expect_place(*map);
  EXPECT_EQ(no_data_of(*map->GetRasterBand(1)), 0);
}

TEST(RasterWriter, ManyClassesNeedSixteenBits) {
  const TemporaryFolder folder;
  for (const Index classes : {255, 256, 1000}) {
    RasterContent content;
    for (Index c = 1; c <= classes; ++c) content.class_names.push_back(fmt::format("name {}", c));
    const std::vector<std::int32_t> ids = random_ids(40 * 50, classes);
    write_map(folder / "map.tif", 40, 50, ids, content, {.overwrite = true});
    const Opened map(folder / "map.tif");
    EXPECT_EQ(map->GetRasterBand(1)->GetRasterDataType(), classes > 255 ? GDT_UInt16 : GDT_Byte);
    EXPECT_EQ(ids_of(*map), ids);
    EXPECT_EQ(categories_of(*map).size(), static_cast<size_t>(classes) + 1);
    expect_colours(*map->GetRasterBand(1), default_colours(classes));
  }
}

TEST(RasterWriter, ValuesKeepEveryBit) {
  const TemporaryFolder folder;
  Random random(3);
  MatrixF values = random.normals(3, 70 * 41).cast<float>();
  values(0, 5) = std::numeric_limits<float>::quiet_NaN();
  values(2, 9) = -0.0f;
  RasterContent content{.type = RasterContent::Type::values, .bands = {"score, corn", "b", "c"}};
  for (const char* format : {"GTiff", "COG", "ENVI"}) {
    const fs::path path = folder / (std::string("scores.") + format);
    RasterWriter writer(path, 70, 41, utm33(), content, {.format = format});
    for (Index row = 0; row < 70; row += 10)
      writer.write(row, 10, MatrixF(values.middleCols(row * 41, 10 * 41)));
    writer.finish();
    const Opened map(path);
    ASSERT_EQ(map->GetRasterCount(), 3);
    expect_place(*map);
    for (int b = 0; b < 3; ++b) {
      GDALRasterBand& band = *map->GetRasterBand(b + 1);
      EXPECT_EQ(band.GetRasterDataType(), GDT_Float32);
      EXPECT_TRUE(std::isnan(no_data_of(band)));
      Eigen::RowVectorXf read(70 * 41);
      ASSERT_EQ(
          band.RasterIO(GF_Read, 0, 0, 41, 70, read.data(), 41, 70, GDT_Float32, 0, 0, nullptr),
          CE_None);
      const Eigen::RowVectorXf expected = values.row(b);
      EXPECT_EQ(std::memcmp(read.data(), expected.data(), sizeof(float) * 70 * 41), 0) << format;
    }
    EXPECT_STREQ(map->GetRasterBand(1)->GetDescription(),
                 std::string(format) == "ENVI" ? "score; corn" : "score, corn");
    EXPECT_FALSE(fs::exists(fs::path(path).replace_extension(".qml")));
  }
}

// ---- Scenes

/// Three bands of 5 rows and 4 columns; pixel 7 has no data, pixel 9 none in one band.
MatrixF small_scene() {
  Random random(5);
  MatrixF values = random.normals(3, 5 * 4).cast<float>();
  values.col(7).setConstant(std::numeric_limits<float>::quiet_NaN());
  values(1, 9) = std::numeric_limits<float>::quiet_NaN();
  return values;
}

RasterContent scene_content() {
  RasterContent content{.type = RasterContent::Type::values, .bands = {"blue", "green", "far"}};
  content.wavelengths = Vector({{0.4554, 0.1 + 0.2, 2.4465}});
  content.no_data = -9999.0f;
  content.metadata = {{"HYPERATOM_MODEL", "a=b: {\"c\", <d> & 'e'}"}, {"HYPERATOM_SEED", "7"}};
  return content;
}

fs::path write_scene(const fs::path& path, const MatrixF& values, const RasterContent& content,
                     const RasterOptions& options) {
  RasterWriter writer(path, 5, 4, utm33(), content, options);
  writer.write(0, 2, MatrixF(values.leftCols(8)));
  writer.write(2, 3, MatrixF(values.rightCols(12)));
  writer.finish();
  return path;
}

class SceneFormats : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(RasterWriter, SceneFormats, testing::Values("GTiff", "ENVI", "COG"));

TEST_P(SceneFormats, AreReadBackAsScenes) {
  const TemporaryFolder folder;
  const MatrixF values = small_scene();
  const RasterContent content = scene_content();
  const fs::path path = write_scene(folder / "scene.img", values, content, {.format = GetParam()});
  const auto source = open_scene(path);
  const SceneInfo& info = source->info();
  EXPECT_EQ(info.wavelengths, content.wavelengths);
  EXPECT_EQ(info.no_data, -9999);
  EXPECT_TRUE(info.notes.empty());
  EXPECT_EQ(info.georeference.transform, utm33().transform);
  OGRSpatialReference expected, found;
  expected.importFromEPSG(32633);
  ASSERT_EQ(found.importFromWkt(info.georeference.crs.c_str()), OGRERR_NONE);
  EXPECT_TRUE(found.IsSame(&expected));
  const Scene scene = read_all(*source);
  for (Index i = 0; i < 20; ++i) {
    const bool valid = i != 7 && i != 9;
    EXPECT_EQ(scene.data.valid[static_cast<size_t>(i)] != 0, valid) << i;
    if (valid) {
      EXPECT_EQ(scene.data.pixels.col(i), values.col(i)) << i;
    }
  }
}

TEST_P(SceneFormats, SayTheSameToOthers) {
  const TemporaryFolder folder;
  const RasterContent content = scene_content();
  const fs::path path =
      write_scene(folder / "scene.img", small_scene(), content, {.format = GetParam()});
  const Opened scene(path);
  for (const auto& [name, value] : content.metadata)
    EXPECT_STREQ(scene->GetMetadataItem(name.c_str()), value.c_str());
  std::array<float, 20> stored{};
  GDALRasterBand& band = *scene->GetRasterBand(2);
  ASSERT_EQ(band.RasterIO(GF_Read, 0, 0, 4, 5, stored.data(), 4, 5, GDT_Float32, 0, 0, nullptr),
            CE_None);
  EXPECT_EQ(stored[7], -9999);
  EXPECT_EQ(stored[9], -9999);
  EXPECT_EQ(no_data_of(band), -9999);
  EXPECT_STREQ(band.GetMetadataItem("wavelength"), "0.30000000000000004");
  EXPECT_STREQ(band.GetMetadataItem("wavelength_units"), "Micrometers");
}

TEST(RasterWriter, EnviHeaderHasTheFieldsOfEnvi) {
  const TemporaryFolder folder;
  write_scene(folder / "scene.bsq", small_scene(), scene_content(), {.format = "ENVI"});
  const std::string header = read_file(folder / "scene.hdr");
  EXPECT_PRED2(contains, header, "\nwavelength = {0.4554, 0.30000000000000004, 2.4465}\n");
  EXPECT_PRED2(contains, header, "\nwavelength units = Micrometers\n");
  EXPECT_PRED2(contains, header, "\ndata ignore value = -9999\n");
  EXPECT_EQ(folder.names(), (Names{"scene.bsq", "scene.hdr", "scene.bsq.aux.xml"}));
}

TEST_P(SceneFormats, DropWhatMetadataCannotHold) {
  const TemporaryFolder folder;
  RasterContent content = scene_content();
  content.metadata = {{"A", " \t x \n\x01y  "}, {"B", "  "}};
  const fs::path path =
      write_scene(folder / "scene.img", small_scene(), content, {.format = GetParam()});
  const Opened scene(path);
  EXPECT_STREQ(scene->GetMetadataItem("A"), "x y");
  EXPECT_EQ(scene->GetMetadataItem("B"), nullptr);
}

TEST(RasterWriter, ReadingAnEnviSceneLeavesItsFilesAlone) {
  const TemporaryFolder folder;
  const fs::path path =
      write_scene(folder / "scene.bsq", small_scene(), scene_content(), {.format = "ENVI"});
  const std::string aux = read_file(folder / "scene.bsq.aux.xml");
  { const Opened scene(path); }
  read_all(*open_scene(path));
  EXPECT_EQ(read_file(folder / "scene.bsq.aux.xml"), aux);
  EXPECT_EQ(folder.names(), (Names{"scene.bsq", "scene.hdr", "scene.bsq.aux.xml"}));
}

TEST(RasterWriter, RefusesValuesThatWouldBeNoData) {
  const TemporaryFolder folder;
  MatrixF values = small_scene();
  values(2, 18) = -9999;
  EXPECT_EQ(thrown<IoError>([&] { write_scene(folder / "a.tif", values, scene_content(), {}); }),
            (folder / "a.tif").string() +
                ": value -9999 of band 3 in row 4 is the one that stands for no data");
  EXPECT_EQ(folder.names(), Names{});
}

TEST(RasterWriter, RefusesContentThatContradictsItself) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.tif").string();
  const auto message = [&](const RasterContent& content) {
    return thrown<OptionError>([&] { write_scene(path, small_scene(), content, {}); });
  };
  RasterContent content = scene_content();
  content.wavelengths = Vector({{0.4, 0.5}});
  EXPECT_EQ(message(content), path + ": 2 wavelengths for 3 bands");
  content.wavelengths = Vector({{0.4, 0.5, 0}});
  EXPECT_EQ(message(content), path + ": wavelengths 0.4, 0.5, 0, expected positive numbers");
  content = scene_content();
  content.no_data = std::numeric_limits<float>::infinity();
  EXPECT_EQ(message(content), path + ": inf can't stand for no data, expected a finite number");
  for (const std::string name : {"", "a=b", "a:b", "a b", "\xc3\xa4"}) {
    content = scene_content();
    content.metadata[name] = "x";
    EXPECT_EQ(message(content),
              path + ": metadata \"" + name +
                  "\" can't be written, expected a name of letters, digits and _");
  }
  RasterContent classes = three_classes();
  classes.no_data = 1.0f;
  EXPECT_EQ(message(classes), path + ": wavelengths and no data are of values, not of classes");
}

// ---- Maps again

TEST_P(MapFormats, KeepMetadata) {
  const TemporaryFolder folder;
  RasterContent content = three_classes();
  content.metadata = scene_content().metadata;
  write_map(folder / "map.tif", 2, 3, {0, 1, 2, 3, 1, 1}, content, {.format = GetParam()});
  const Opened map(folder / "map.tif");
  for (const auto& [name, value] : content.metadata)
    EXPECT_STREQ(map->GetMetadataItem(name.c_str()), value.c_str());
}

/// Classes 2, 4 and 5 of 5.
RasterContent numbered_with_gaps() {
  RasterContent content;
  content.class_names = {"", "corn", "", "wood", "soil"};
  content.class_colours = {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {5, 5, 5}};
  return content;
}

TEST(RasterWriter, NumbersMayHaveGaps) {
  for (const char* format : {"GTiff", "COG", "ENVI"}) {
    const TemporaryFolder folder;
    write_map(folder / "map.tif", 1, 5, {2, 4, 5, 0, 2}, numbered_with_gaps(), {.format = format});
    const Labels labels = read_label_raster(folder / "map.tif").labels;
    EXPECT_EQ(labels.ids, (std::vector<std::int32_t>{2, 4, 5, 0, 2})) << format;
    EXPECT_EQ(labels.names,
              (std::vector<std::string>{"class 1", "corn", "class 3", "wood", "soil"}))
        << format;
    EXPECT_EQ(labels.colours, numbered_with_gaps().class_colours) << format;
    if (fs::exists(folder / "map.hdr")) {  // where a name can't be empty
      EXPECT_PRED2(contains, read_file(folder / "map.hdr"), "Unclassified, class 1, corn, class 3");
    }
    const std::string qml = read_file(folder / "map.qml");
    EXPECT_FALSE(contains(qml, "value=\"1\"") || contains(qml, "value=\"3\"")) << qml;
    EXPECT_PRED2(contains, qml, "color=\"#040404\" value=\"4\" label=\"wood\"");
  }
}

TEST(RasterWriter, GapsAreNotInTheAttributeTable) {
  const TemporaryFolder folder;
  write_map(folder / "map.tif", 1, 1, {2}, numbered_with_gaps(), {});
  const Opened map(folder / "map.tif");
  const GDALRasterAttributeTable* table = map->GetRasterBand(1)->GetDefaultRAT();
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->GetRowCount(), 3);
  for (const auto& [row, value, name] :
       {std::tuple{0, 2, "corn"}, std::tuple{1, 4, "wood"}, std::tuple{2, 5, "soil"}}) {
    EXPECT_EQ(table->GetValueAsInt(row, table->GetColOfUsage(GFU_MinMax)), value);
    EXPECT_STREQ(table->GetValueAsString(row, table->GetColOfUsage(GFU_Name)), name);
    EXPECT_EQ(table->GetValueAsInt(row, table->GetColOfUsage(GFU_Red)), value);
  }
}

TEST(RasterWriter, RefusesPixelsInAGap) {
  const TemporaryFolder folder;
  EXPECT_EQ(thrown<IoError>([&] {
              write_map(folder / "map.tif", 2, 1, {2, 3}, numbered_with_gaps(), {});
            }),
            (folder / "map.tif").string() + ": class 3 in row 1 has no name");
  RasterContent nameless = numbered_with_gaps();
  nameless.class_names.assign(5, "");
  EXPECT_PRED2(contains,
               thrown<OptionError>([&] { write_map(folder / "map.tif", 1, 1, {0}, nameless, {}); }),
               "map.tif: none of the 5 classes has a name");
}

TEST(RasterWriter, NamesThatVanishWhenCleanedAreNoGaps) {
  const TemporaryFolder folder;
  RasterContent content = three_classes();
  content.class_names[1] = "\x01";
  write_map(folder / "map.tif", 1, 1, {2}, content, {});
  EXPECT_EQ(read_label_raster(folder / "map.tif").labels.names[1], "class 2");
  EXPECT_PRED2(contains, read_file(folder / "map.qml"), "value=\"2\" label=\"class 2\"");
}

TEST(RasterWriter, BytesDoNotDependOnHowRowsCame) {
  const TemporaryFolder folder;
  const std::vector<std::int32_t> ids = random_ids(600 * 300, 3);
  write_map(folder / "whole.tif", 600, 300, ids, three_classes(), {});
  for (const Index at_once : {1, 7, 256, 300}) {
    write_map(folder / "pieces.tif", 600, 300, ids, three_classes(), {.overwrite = true}, at_once);
    EXPECT_TRUE(read_file(folder / "pieces.tif") == read_file(folder / "whole.tif")) << at_once;
    EXPECT_EQ(read_file(folder / "pieces.tif.aux.xml"), read_file(folder / "whole.tif.aux.xml"));
  }
}

TEST(RasterWriter, CreationOptionsOverrideOurs) {
  const TemporaryFolder folder;
  write_small(folder / "map.tif", {.creation = {"compress=LZW", "TILED=NO"}});
  const Opened map(folder / "map.tif");
  EXPECT_STREQ(map->GetMetadataItem("COMPRESSION", "IMAGE_STRUCTURE"), "LZW");
  int block_cols = 0, block_rows = 0;
  map->GetRasterBand(1)->GetBlockSize(&block_cols, &block_rows);
  EXPECT_EQ(block_cols, 3);
}

TEST(RasterWriter, NeedsNoGeoreference) {
  const TemporaryFolder folder;
  RasterWriter writer(folder / "map.tif", 1, 2, {}, three_classes());
  writer.write(0, 1, std::vector<std::int32_t>{1, 2});
  writer.finish();
  const Opened map(folder / "map.tif");
  EXPECT_EQ(map->GetSpatialRef(), nullptr);
  EXPECT_EQ(ids_of(*map), (std::vector<std::int32_t>{1, 2}));
}

TEST(RasterWriter, LabelReaderReadsMapsBack) {
  const TemporaryFolder folder;
  write_small(folder / "map.tif");
  const Labels labels = read_label_raster(folder / "map.tif").labels;
  EXPECT_EQ(labels.ids, (std::vector<std::int32_t>{0, 1, 2, 3, 1, 1}));
  EXPECT_EQ(labels.names, three_classes().class_names);
  EXPECT_EQ(labels.colours, three_classes().class_colours);
}

// ---- The style for QGIS

TEST(Qml, HasExactlyOurClasses) {
  const TemporaryFolder folder;
  RasterContent content = three_classes();
  content.class_names[0] = "a\x01\n\x7f \xef\xbf\xbf<script>'&amp;";
  content.class_names[2] = "W\xe4lder";  // Latin-1
  write_map(folder / "map.tif", 1, 1, {1}, content, {});
  CPLXMLNode* document = CPLParseXMLFile((folder / "map.qml").c_str());
  ASSERT_NE(document, nullptr) << read_file(folder / "map.qml");
  const CPLXMLNode* renderer = CPLGetXMLNode(document, "=qgis.pipe.rasterrenderer");
  ASSERT_NE(renderer, nullptr);
  EXPECT_STREQ(CPLGetXMLValue(renderer, "type", ""), "paletted");
  std::vector<std::string> entries;
  for (const CPLXMLNode* node = CPLGetXMLNode(renderer, "colorPalette")->psChild; node != nullptr;
       node = node->psNext)
    entries.push_back(fmt::format(
        "{} {} {} {}", CPLGetXMLValue(node, "value", ""), CPLGetXMLValue(node, "color", ""),
        CPLGetXMLValue(node, "alpha", ""), CPLGetXMLValue(node, "label", "")));
  EXPECT_EQ(entries, (std::vector<std::string>{"1 #ff0000 255 a <script>'&amp;",
                                               "2 #008007 255 wood & <field>, \"dry\"",
                                               "3 #010203 255 W\xc3\xa4lder"}));
  CPLDestroyXMLNode(document);
}

TEST(Qml, CleansText) {
  EXPECT_EQ(clean_text("plain \xe2\x82\xac"), "plain \xe2\x82\xac");
  EXPECT_EQ(clean_text(std::string("a\0b\tc\x1b", 6)), "abc");
  EXPECT_EQ(clean_text("x\xc2\x85y\xc2\xa0z"), "xy\xc2\xa0z");
  EXPECT_EQ(clean_text("\xff"), "\xc3\xbf");
}

// ---- Refusals

TEST(RasterWriter, RefusesToOverwriteUnlessAsked) {
  const TemporaryFolder folder;
  write_file(folder / "map.tif", "old");
  EXPECT_EQ(thrown<IoError>([&] { write_small(folder / "map.tif"); }),
            (folder / "map.tif").string() + ": exists; --overwrite replaces it");
  EXPECT_EQ(folder.names(), Names{"map.tif"});
  EXPECT_EQ(read_file(folder / "map.tif"), "old");
  write_small(folder / "map.tif", {.overwrite = true});
  EXPECT_EQ(ids_of(*Opened(folder / "map.tif")).size(), 6u);
}

TEST(RasterWriter, RefusesToOverwriteCompanions) {
  for (const char* name : {"map.qml", "map.bsq.aux.xml", "map.hdr", "map.bsq.ovr"}) {
    const TemporaryFolder folder;
    write_file(folder / name, "of another");
    EXPECT_EQ(thrown<IoError>([&] { write_small(folder / "map.bsq", {.format = "ENVI"}); }),
              (folder / name).string() + ": exists; --overwrite replaces it");
    EXPECT_EQ(folder.names(), Names{name});
    EXPECT_EQ(read_file(folder / name), "of another");
  }
}

TEST(RasterWriter, RefusesWhatAppearedInTheMeantime) {
  for (const char* name : {"map.tif", "map.qml"}) {
    const TemporaryFolder folder;
    RasterWriter writer(folder / "map.tif", 1, 1, {}, three_classes());
    writer.write(0, 1, std::vector<std::int32_t>{1});
    write_file(folder / name, "of another");
    EXPECT_EQ(thrown<IoError>([&] { writer.finish(); }),
              (folder / name).string() + ": exists; --overwrite replaces it");
    EXPECT_EQ(read_file(folder / name), "of another");
  }
}

TEST(RasterWriter, OverwritingRemovesWhatBelongedToTheOldMap) {
  const TemporaryFolder folder;
  write_small(folder / "map.tif");
  write_file(folder / "map.tif.ovr", "old overviews");
  RasterWriter writer(folder / "map.tif", 1, 1, {},
                      {.type = RasterContent::Type::values, .bands = {"score"}},
                      {.overwrite = true});
  writer.write(0, 1, MatrixF(MatrixF::Constant(1, 1, 0.5f)));
  writer.finish();
  EXPECT_FALSE(fs::exists(folder / "map.tif.ovr"));
  EXPECT_EQ(categories_of(*Opened(folder / "map.tif")).size(), 0u);
}

TEST(RasterWriter, RefusesFoldersAndMissingFolders) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "a.tif");
  EXPECT_EQ(thrown<IoError>([&] { write_small(folder / "a.tif", {.overwrite = true}); }),
            (folder / "a.tif").string() + ": can't be written: Is a directory");
  EXPECT_EQ(
      thrown<IoError>([&] { write_small(folder / "no" / "a.tif"); }),
      fmt::format("{0}/a.tif: can't be written: there is no folder {0}", (folder / "no").string()));
  EXPECT_EQ(folder.names(), Names{"a.tif"});
}

TEST(RasterWriter, RefusesBadOptions) {
  const TemporaryFolder folder;
  const auto message = [&](const RasterOptions& options) {
    return thrown<OptionError>([&] { write_small(folder / "map.tif", options); });
  };
  EXPECT_EQ(message({.format = "JPEG"}),
            "format \"JPEG\" is not known, expected GTiff, ENVI or COG");
  EXPECT_EQ(message({.creation = {"COMPRESS"}}),
            "creation option \"COMPRESS\" is not of the form NAME=VALUE");
  EXPECT_EQ(message({.creation = {"COMPRES=LZW"}}),
            "creation option \"COMPRES=LZW\": driver GTiff does not support creation "
            "option COMPRES");
  EXPECT_PRED2(contains, message({.creation = {"COMPRESS=BEST"}}),
               "creation option \"COMPRESS=BEST\": 'BEST' is an unexpected value for COMPRESS");
  EXPECT_PRED2(contains, message({.format = "ENVI", .creation = {"COMPRESS=LZW"}}),
               "driver ENVI does not support creation option COMPRESS");
  EXPECT_EQ(message({.format = "COG", .creation = {"TILING_SCHEME=GoogleMapsCompatible"}}),
            "creation option \"TILING_SCHEME=GoogleMapsCompatible\" would change the grid, which "
            "must stay the scene's");
  EXPECT_PRED2(contains,
               thrown<OptionError>([&] { write_small(folder / "map.hdr", {.format = "ENVI"}); }),
               "map.hdr: is the name of a file that goes with the raster");
  EXPECT_EQ(folder.names(), Names{});
}

TEST(RasterWriter, RefusesLossyClasses) {
  const TemporaryFolder folder;
  RasterContent content;
  content.class_names.assign(10, "c");
  const std::vector<std::int32_t> ids = random_ids(20 * 20, 10);
  EXPECT_PRED2(contains, thrown<IoError>([&] {
                 write_map(folder / "map.tif", 20, 20, ids, content, {.creation = {"NBITS=2"}});
               }),
               "differs in row 0 from what was given");
  EXPECT_EQ(folder.names(), Names{});
}

TEST(RasterWriter, RefusesRowsThatDoNotFit) {
  const TemporaryFolder folder;
  const std::string path = (folder / "map.tif").string();
  using Ids = std::vector<std::int32_t>;
  RasterWriter writer(path, 3, 2, {}, three_classes());
  EXPECT_EQ(thrown<IoError>([&] {
              writer.write(0, 1, Ids{1, 2, 3});
            }),
            path + ": 3 classes were given for 1 rows of 2 columns");
  EXPECT_EQ(thrown<IoError>([&] {
              writer.write(0, 2, Ids{1, 2, 0, 4});
            }),
            path + ": class 4 in row 1 is not one of 0 to 3");
  EXPECT_EQ(thrown<IoError>([&] {
              writer.write(1, 1, Ids{1, 2});
            }),
            path + ": rows 1 to 1 were given, expected rows from 0 up to 2 in order");
  EXPECT_THROW(writer.write(0, 1, MatrixF(MatrixF::Zero(1, 2))), IoError);
  writer.write(0, 2, Ids{1, 2, 3, 0});
  EXPECT_EQ(thrown<IoError>([&] { writer.finish(); }),
            path + ": has 3 rows, but only 2 were given");
  writer.write(2, 1, Ids{1, 1});
  writer.finish();
  EXPECT_EQ(thrown<IoError>([&] { writer.finish(); }), path + ": is finished already");
  EXPECT_THROW(writer.write(0, 1, Ids{1, 2}), IoError);
}

// ---- Failures

TEST(RasterWriter, UnfinishedLeavesNothing) {
  const TemporaryFolder folder;
  write_file(folder / "map.tif", "old");
  {
    RasterWriter writer(folder / "map.tif", 2, 1, {}, three_classes(), {.overwrite = true});
    writer.write(0, 1, std::vector<std::int32_t>{1});
    RasterWriter moved = std::move(writer);
    EXPECT_EQ(folder.names().size(), 2u);
  }
  EXPECT_EQ(folder.names(), Names{"map.tif"});
  EXPECT_EQ(read_file(folder / "map.tif"), "old");
}

TEST(RasterWriter, FailedRenameRestoresCompanions) {
  const TemporaryFolder folder;
  write_small(folder / "map.tif");
  const std::string qml = read_file(folder / "map.qml"), tif = read_file(folder / "map.tif");
  RasterWriter writer(folder / "map.tif", 1, 1, {}, three_classes(), {.overwrite = true});
  writer.write(0, 1, std::vector<std::int32_t>{1});
  fs::remove(folder / "map.tif");
  fs::create_directory(folder / "map.tif");
  EXPECT_EQ(thrown<IoError>([&] { writer.finish(); }),
            (folder / "map.tif").string() + ": can't be written: Is a directory");
  EXPECT_EQ(read_file(folder / "map.qml"), qml);
}

/// Writes over an old map where no file may have more than `limit` bytes: whether that failed with
/// the system's reason and left the old files alone, or succeeded.
bool survives_file_limit(const TemporaryFolder& folder, const char* format, rlim_t limit) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limits = {limit, limit};
  if (setrlimit(RLIMIT_FSIZE, &limits) != 0) return false;
  const std::string old = read_file(folder / "map.tif");
  const Names names = folder.names();
  try {
    write_map(folder / "map.tif", 200, 100, random_ids(200 * 100, 3), three_classes(),
              {.format = format, .overwrite = true});
  } catch (const IoError& error) {
    const std::string message = error.what();
    const bool good = contains(message, "can't be written: ") &&
                      contains(message, "File too large") && !contains(message, ".hyperatom-") &&
                      folder.names() == names && read_file(folder / "map.tif") == old;
    if (!good) fmt::print("limit {}: {}\n", limit, message);
    return good;
  }
  return ids_of(*Opened(folder / "map.tif")) == random_ids(200 * 100, 3);
}

TEST(RasterWriter, FullDiskLeavesTheOldMapWhereverItStrikes) {
  for (const char* format : {"GTiff", "COG", "ENVI"})
    for (const rlim_t limit :
         {1, 100, 300, 500, 1000, 1500, 2000, 3000, 5000, 6000, 7000, 100000}) {
      const TemporaryFolder folder;
      write_small(folder / "map.tif", {.format = format});
      const int status =
          status_of_child([&] { return survives_file_limit(folder, format, limit); });
      EXPECT_TRUE(succeeded(status)) << format << " " << limit << " " << status;
    }
}

TEST(RasterWriter, FullFileSystemIsNamed) {
  const TemporaryFolder folder;
  if (geteuid() != 0 || mount("none", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "a small file system can't be mounted here";
  const std::string message = thrown<IoError>([&] {
    write_map(folder / "map.tif", 1000, 1000, random_ids(1000 * 1000, 3), three_classes(), {});
  });
  EXPECT_PRED2(contains, message, "map.tif: can't be written: No space left on device");
  EXPECT_EQ(folder.names(), Names{});
  umount(folder.path().c_str());
}

}  // namespace
}  // namespace hyperatom::test
