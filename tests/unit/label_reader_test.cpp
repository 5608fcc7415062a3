#include "hyperatom/io/label_reader.hpp"

#include <cpl_conv.h>
#include <fmt/format.h>
#include <gdal_priv.h>
#include <gtest/gtest.h>
#include <ogr_spatialref.h>
#include <ogrsf_frmts.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "hyperatom/base/error.hpp"
#include "hyperatom/io/gdal.hpp"
#include "hyperatom/io/raster_writer.hpp"
#include "hyperatom/io/scene_reader.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom::test {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int32_t>;

// ---- Fixtures

OGRSpatialReference epsg(int code) {
  OGRSpatialReference crs;
  crs.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
  EXPECT_EQ(crs.importFromEPSG(code), OGRERR_NONE);
  return crs;
}

std::string wkt(int code) {
  char* text = nullptr;
  epsg(code).exportToWkt(&text);
  std::string result = text;
  CPLFree(text);
  return result;
}

constexpr std::array<double, 6> berlin_grid = {380000, 10, 0, 5820000, 0, -10};

/// A scene on UTM 33N with pixels of 10 m.
SceneInfo scene_of(Index rows, Index cols) {
  SceneInfo scene;
  scene.path = "scene.bsq";
  scene.rows = rows;
  scene.cols = cols;
  scene.georeference = {wkt(32633), berlin_grid};
  return scene;
}

GDALDriver& driver(const char* name) {
  GDALAllRegister();
  return *GetGDALDriverManager()->GetDriverByName(name);
}

struct RasterFixture {
  int cols = 3, rows = 2;
  std::vector<double> values = {0, 1, 2, 3, 1, 1};
  GDALDataType type = GDT_Byte;
  int bands = 1;
  int crs = 32633;
  std::optional<std::array<double, 6>> grid = berlin_grid;
  std::optional<double> no_data = {};
  std::vector<std::string> names = {};
  std::vector<Colour> colours = {};  ///< from value 0
};

void fill(GDALDataset& dataset, const RasterFixture& fixture) {
  if (fixture.crs != 0) {
    const OGRSpatialReference crs = epsg(fixture.crs);
    dataset.SetSpatialRef(&crs);
  }
  if (auto grid = fixture.grid) dataset.SetGeoTransform(grid->data());
  GDALRasterBand& band = *dataset.GetRasterBand(1);
  if (fixture.no_data) band.SetNoDataValue(*fixture.no_data);
  CPLStringList names;
  for (const std::string& name : fixture.names) names.AddString(name.c_str());
  if (names.size() > 0) band.SetCategoryNames(names.List());
  GDALColorTable table;
  for (size_t i = 0; i < fixture.colours.size(); ++i) {
    const Colour& c = fixture.colours[i];
    const GDALColorEntry entry = {c[0], c[1], c[2], 255};
    table.SetColorEntry(static_cast<int>(i), &entry);
  }
  if (!fixture.colours.empty()) band.SetColorTable(&table);
  std::vector<double> values = fixture.values;
  EXPECT_EQ(band.RasterIO(GF_Write, 0, 0, fixture.cols, fixture.rows, values.data(), fixture.cols,
                          fixture.rows, GDT_Float64, 0, 0, nullptr),
            CE_None);
}

fs::path write_raster(const fs::path& path, const char* format, const RasterFixture& fixture) {
  const CPLConfigOptionSetter with_aux_xml("GDAL_PAM_ENABLED", "YES", false);
  GDALDriver& target = driver(format);
  const bool creates = target.GetMetadataItem(GDAL_DCAP_CREATE) != nullptr;
  const Dataset dataset((creates ? target : driver("MEM"))
                            .Create(creates ? path.c_str() : "", fixture.cols, fixture.rows,
                                    fixture.bands, fixture.type, nullptr));
  fill(*dataset, fixture);
  if (!creates)
    const Dataset copy(
        target.CreateCopy(path.c_str(), dataset.get(), 0, nullptr, nullptr, nullptr));
  return path;
}

struct Feature {
  std::string text;  ///< the class; empty: null
  std::string wkt;
};

struct VectorFixture {
  const char* format = "GPKG";
  int crs = 32633;
  OGRFieldType field = OFTString;
  std::vector<std::string> more_fields = {"other"};
  int layers = 1;
};

fs::path write_vector(const fs::path& path, const std::vector<Feature>& features,
                      const VectorFixture& fixture = {}) {
  const Dataset dataset(driver(fixture.format).Create(path.c_str(), 0, 0, 0, GDT_Unknown, nullptr));
  OGRSpatialReference crs;
  if (fixture.crs != 0) crs = epsg(fixture.crs);
  for (int l = 0; l < fixture.layers; ++l) {
    OGRLayer& layer = *dataset->CreateLayer(fmt::format("layer{}", l + 1).c_str(),
                                            fixture.crs != 0 ? &crs : nullptr, wkbUnknown);
    OGRFieldDefn field("crop", fixture.field);
    EXPECT_EQ(layer.CreateField(&field), OGRERR_NONE);
    for (const std::string& name : fixture.more_fields) {
      OGRFieldDefn other(name.c_str(), OFTInteger);
      EXPECT_EQ(layer.CreateField(&other), OGRERR_NONE);
    }
    for (const Feature& feature : features) {
      const OGRFeatureUniquePtr row(OGRFeature::CreateFeature(layer.GetLayerDefn()));
      if (!feature.text.empty()) row->SetField("crop", feature.text.c_str());
      OGRGeometry* geometry = nullptr;
      if (!feature.wkt.empty()) {
        EXPECT_EQ(OGRGeometryFactory::createFromWkt(feature.wkt.c_str(), nullptr, &geometry),
                  OGRERR_NONE);
        row->SetGeometryDirectly(geometry);
      }
      EXPECT_EQ(layer.CreateFeature(row.get()), OGRERR_NONE);
    }
  }
  return path;
}

using Ring = std::vector<std::array<double, 2>>;  // column, row; not closed

/// A polygon of pixel coordinates in the scene's map coordinates, or reprojected to `code`.
std::string polygon_wkt(const Ring& ring, int code = 32633) {
  const OGRSpatialReference from = epsg(32633), to = epsg(code);
  const std::unique_ptr<OGRCoordinateTransformation> projection(
      OGRCreateCoordinateTransformation(&from, &to));
  std::vector<std::string> points;
  for (size_t i = 0; i <= ring.size(); ++i) {
    const auto& [col, row] = ring[i % ring.size()];
    double x = berlin_grid[0] + 10 * col, y = berlin_grid[3] - 10 * row;
    projection->Transform(1, &x, &y);
    points.push_back(fmt::format("{:.12f} {:.12f}", x, y));
  }
  return fmt::format("POLYGON(({}))", fmt::join(points, ","));
}

std::string point_wkt(double col, double row) {
  return fmt::format("POINT({} {})", berlin_grid[0] + 10 * col, berlin_grid[3] - 10 * row);
}

/// Whether a point is in a ring: an odd number of edges lies to its right.
bool inside(const Ring& ring, double x, double y) {
  bool odd = false;
  for (size_t i = 0, j = ring.size() - 1; i < ring.size(); j = i++) {
    const auto [xi, yi] = ring[i];
    const auto [xj, yj] = ring[j];
    if ((yi > y) != (yj > y) && x < (xj - xi) * (y - yi) / (yj - yi) + xi) odd = !odd;
  }
  return odd;
}

Ids burnt_by_centre(const Ring& ring, Index rows, Index cols) {
  Ids ids;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      ids.push_back(inside(ring, static_cast<double>(col) + 0.5, static_cast<double>(row) + 0.5));
  return ids;
}

/// A star with `corners` corners around a place, of pixel coordinates.
Ring star(Random& random, double col, double row, double radius, int corners) {
  Ring ring;
  for (int i = 0; i < corners; ++i) {
    const double angle = 2 * std::numbers::pi * i / corners, r = radius * random.uniform(0.3, 1);
    ring.push_back({col + r * std::cos(angle), row + r * std::sin(angle)});
  }
  return ring;
}

Ring box(double left, double top, double right, double bottom) {
  return {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
}

std::string refusal(const fs::path& path, const SceneInfo& scene,
                    const LabelOptions& options = {}) {
  return thrown<DataError>([&] { read_labels(path, scene, options); });
}

const LabelOptions by_crop = {.class_field = "crop"};

// ---- Rasters

TEST(LabelRaster, KeepsIdsNamesAndColours) {
  const TemporaryFolder folder;
  const RasterFixture fixture = {.names = {"none", "corn", "", "wood", "never seen"},
                                 .colours = {{0, 0, 0}, {1, 2, 3}, {4, 5, 6}, {7, 8, 9}}};
  for (const char* format : {"GTiff", "ENVI"}) {
    const fs::path path = write_raster(folder / (std::string("labels.") + format), format, fixture);
    const LabelsRead read = read_labels(path, scene_of(2, 3));
    EXPECT_EQ(read.labels.rows, 2);
    EXPECT_EQ(read.labels.cols, 3);
    EXPECT_EQ(read.labels.ids, (Ids{0, 1, 2, 3, 1, 1}));
    ASSERT_EQ(read.labels.classes(), 4) << format;
    EXPECT_EQ(read.labels.names[0], "corn");
    EXPECT_EQ(read.labels.names[1], "class 2");
    EXPECT_EQ(read.labels.names[3], "never seen");
    EXPECT_EQ(read.labels.colours[2], (Colour{7, 8, 9}));
    EXPECT_EQ(read.labels.counts(), (std::vector<Index>{3, 1, 1, 0}));
    EXPECT_TRUE(read.labels.parts.empty());
    EXPECT_EQ(read_label_raster(path).labels.ids, read.labels.ids);
  }
}

TEST(LabelRaster, ReadingLeavesNothingBehind) {
  const TemporaryFolder folder;
  const fs::path path = write_raster(folder / "a.png", "PNG", {.crs = 0, .grid = {}});
  const std::set<std::string> before = folder.names();
  read_labels(path, scene_of(2, 3));
  EXPECT_EQ(folder.names(), before);
}

TEST(LabelRaster, IndicesOfAPaletteAreClasses) {
  const TemporaryFolder folder;
  const fs::path path = write_raster(
      folder / "a.png", "PNG",
      {.crs = 0, .grid = {}, .colours = {{0, 0, 0}, {200, 0, 0}, {0, 200, 0}, {9, 9, 200}}});
  const Labels labels = read_labels(path, scene_of(2, 3)).labels;
  EXPECT_EQ(labels.ids, (Ids{0, 1, 2, 3, 1, 1}));
  EXPECT_EQ(labels.names, (std::vector<std::string>{"class 1", "class 2", "class 3"}));
  EXPECT_EQ(labels.colours, (std::vector<Colour>{{200, 0, 0}, {0, 200, 0}, {9, 9, 200}}));
}

TEST(LabelRaster, NoDataIsNone) {
  const TemporaryFolder folder;
  const double nan = std::nan("");
  write_raster(folder / "a.tif", "GTiff",
               {.values = {-9999, 1, 2, 0, 1, 1}, .type = GDT_Int16, .no_data = -9999});
  EXPECT_EQ(read_labels(folder / "a.tif", scene_of(2, 3)).labels.ids, (Ids{0, 1, 2, 0, 1, 1}));
  write_raster(folder / "b.tif", "GTiff",
               {.values = {nan, 1, 2, 0, 1, 300}, .type = GDT_Float32, .no_data = nan});
  const Labels labels = read_labels(folder / "b.tif", scene_of(2, 3)).labels;
  EXPECT_EQ(labels.ids, (Ids{0, 1, 2, 0, 1, 300}));
  EXPECT_EQ(labels.classes(), 300);
}

TEST(LabelRaster, RefusesWhatIsNoClass) {
  const TemporaryFolder folder;
  const auto message = [&](double value, GDALDataType type) {
    write_raster(folder / "a.tif", "GTiff", {.values = {0, 1, 2, 1, value, 1}, .type = type});
    return refusal(folder / "a.tif", scene_of(2, 3));
  };
  const std::string start = (folder / "a.tif").string() + ": value ";
  const std::string end = " at row 1, column 1 is no class: expected whole numbers from 0 to 65535";
  EXPECT_EQ(message(-3, GDT_Int16), start + "-3" + end);
  EXPECT_EQ(message(65536, GDT_Int32), start + "65536" + end);
  EXPECT_EQ(message(1.5, GDT_Float32), start + "1.5" + end);
  EXPECT_EQ(message(std::nan(""), GDT_Float32), start + "nan" + end);
}

TEST(LabelRaster, RefusesOtherShapes) {
  const TemporaryFolder folder;
  const std::string path = write_raster(folder / "a.tif", "GTiff", {}).string();
  EXPECT_EQ(refusal(path, scene_of(3, 2)),
            path + ": has 2 x 3 pixels (rows x columns), expected 3 x 2 as scene.bsq has");
  write_raster(path, "GTiff", {.bands = 3});
  EXPECT_EQ(refusal(path, scene_of(2, 3)), path + ": has 3 bands, expected one with class numbers");
  write_raster(folder / "rgb.png", "PNG", {.bands = 3, .crs = 0, .grid = {}});
  EXPECT_EQ(refusal(folder / "rgb.png", scene_of(2, 3)),
            (folder / "rgb.png").string() + ": has 3 bands, expected one with class numbers");
  write_raster(path, "GTiff", {.type = GDT_CFloat32});
  EXPECT_EQ(refusal(path, scene_of(2, 3)), path + ": holds complex numbers, expected whole ones");
  EXPECT_EQ(refusal(folder / "no.tif", scene_of(2, 3)),
            (folder / "no.tif").string() + ": no such file");
  write_file(folder / "text.tif", "nothing of use");
  EXPECT_PRED2(contains, refusal(folder / "text.tif", scene_of(2, 3)),
               "text.tif: can't be opened as a raster");
}

TEST(LabelRaster, RefusesEmptyMaps) {
  const TemporaryFolder folder;
  const fs::path path =
      write_raster(folder / "a.tif", "GTiff", {.values = {0, 9, 0, 9, 9, 0}, .no_data = 9});
  EXPECT_EQ(refusal(path, scene_of(2, 3)),
            path.string() + ": has no labelled pixel: all 6 are 0 or no-data");
}

TEST(LabelRaster, RefusesAnotherPlace) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.tif").string();
  write_raster(path, "GTiff", {.crs = 32632});
  EXPECT_EQ(refusal(path, scene_of(2, 3)),
            path +
                ": has the CRS WGS 84 / UTM zone 32N (EPSG:32632), expected WGS 84 / UTM zone "
                "33N (EPSG:32633) as scene.bsq has");
  auto grid = berlin_grid;
  grid[0] += 10;
  write_raster(path, "GTiff", {.grid = grid});
  EXPECT_EQ(refusal(path, scene_of(2, 3)),
            path +
                ": lies 1 pixels away from scene.bsq: its transform is (380010, 10, 0, 5820000, "
                "0, -10), expected (380000, 10, 0, 5820000, 0, -10)");
  grid = berlin_grid;
  grid[5] = -10.1;  // the top agrees, the bottom does not
  write_raster(path, "GTiff", {.grid = grid});
  EXPECT_PRED2(contains, refusal(path, scene_of(2, 3)), "lies 0.02 pixels away from scene.bsq");
}

TEST(LabelRaster, AcceptsAlmostTheSamePlaceAndNone) {
  const TemporaryFolder folder;
  auto grid = berlin_grid;
  grid[0] += 0.009;
  const auto reads = [&](const RasterFixture& fixture, const SceneInfo& scene) {
    write_raster(folder / "a.tif", "GTiff", fixture);
    EXPECT_EQ(read_labels(folder / "a.tif", scene).labels.classes(), 3);
  };
  reads({.grid = grid}, scene_of(2, 3));
  reads({.crs = 0, .grid = {}}, scene_of(2, 3));
  SceneInfo nowhere = scene_of(2, 3);
  nowhere.georeference = {};
  reads({}, nowhere);
}

TEST(LabelRaster, RefusesAShortenedEnviFile) {
  const TemporaryFolder folder;
  RasterFixture fixture = {.cols = 100, .rows = 100, .values = std::vector<double>(10000, 2)};
  const fs::path path = write_raster(folder / "a.bsq", "ENVI", fixture);
  fs::resize_file(path, 9999);
  EXPECT_PRED2(contains, refusal(path, scene_of(100, 100)), "9999");
}

TEST(LabelArray, ReadsNpy) {
  const TemporaryFolder folder;
  const auto npy = [&](const std::string& shape, const std::string& bytes) {
    std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize(117, ' ');
    write_file(folder / "a.npy",
               std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + bytes);
    return folder / "a.npy";
  };
  const Labels labels =
      read_labels(npy("2, 3", std::string("\0\1\2\3\1\1", 6)), scene_of(2, 3)).labels;
  EXPECT_EQ(labels.ids, (Ids{0, 1, 2, 3, 1, 1}));
  EXPECT_EQ(labels.names, (std::vector<std::string>{"class 1", "class 2", "class 3"}));
  EXPECT_EQ(labels.colours, default_colours(3));
  EXPECT_EQ(read_label_raster(folder / "a.npy").labels.rows, 2);
  EXPECT_PRED2(contains, refusal(npy("3, 2", "\1\1\1\1\1\1"), scene_of(2, 3)), "3 x 2");
  EXPECT_PRED2(contains, refusal(npy("2, 3", std::string(6, '\0')), scene_of(2, 3)),
               "has no labelled pixel");
  EXPECT_PRED2(contains, refusal(npy("2, 3, 1", std::string(6, '\1')), scene_of(2, 3)),
               "2 x 3 x 1");
}

TEST(LabelRaster, KeepsWhatWeSaidOfIt) {
  for (const char* format : {"GTiff", "ENVI", "COG"}) {
    const TemporaryFolder folder;
    RasterContent content;
    content.class_names = {"corn"};
    content.metadata = {{"HYPERATOM_MODEL", "a=b: <c>"}, {"HYPERATOM_", "x"}, {"OTHER", "y"}};
    RasterWriter writer(folder / "map.tif", 1, 2, {}, content, {.format = format});
    writer.write(0, 1, Ids{1, 0});
    writer.finish();
    const std::map<std::string, std::string> expected = {{"HYPERATOM_MODEL", "a=b: <c>"},
                                                         {"HYPERATOM_", "x"}};
    EXPECT_EQ(read_label_raster(folder / "map.tif").metadata, expected) << format;
    EXPECT_EQ(read_labels(folder / "map.tif", scene_of(1, 2)).metadata, expected) << format;
  }
}

// ---- Files that would make GDAL read others

TEST(LabelFiles, RefusesAVirtualFileUnderAnotherName) {
  const TemporaryFolder folder;
  write_vector(folder / "secret.gpkg", {{"a", point_wkt(0.5, 0.5)}});
  const std::string text =
      "<OGRVRTDataSource><OGRVRTLayer name=\"layer1\"><SrcDataSource relativeToVRT=\"1\">"
      "secret.gpkg</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>";
  write_file(folder / "labels.gpkg", text);
  EXPECT_PRED2(contains, refusal(folder / "labels.gpkg", scene_of(1, 1), by_crop),
               "labels.gpkg: found a file of GDAL's driver OGR_VRT, which reads other files or "
               "addresses that the file names, expected the data themselves, or a name that ends "
               "in .vrt");
  EXPECT_PRED2(contains, refusal(folder / "labels.gpkg", scene_of(1, 1)), "driver OGR_VRT");
  write_file(folder / "labels.vrt", text);
  EXPECT_EQ(read_labels(folder / "labels.vrt", scene_of(1, 1), by_crop).labels.ids, Ids{1});
}

/// A table that is another file, in a database that is otherwise in order.
void add_virtual_table(const fs::path& database, const std::string& module) {
  const Dataset dataset(GDALDataset::Open(database.c_str(), GDAL_OF_VECTOR | GDAL_OF_UPDATE));
  const GdalMessages messages;  // of the second table, which only a GeoPackage has
  for (const std::string& sql :
       {std::string("PRAGMA writable_schema=ON"),
        "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('table', 'v', "
        "'v', 0, 'CREATE VIRTUAL TABLE v USING " +
            module + "')",
        std::string("INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES ('v', "
                    "'attributes', 'v')")})
    dataset->ReleaseResultSet(dataset->ExecuteSQL(sql.c_str(), nullptr, nullptr));
}

TEST(LabelFiles, TablesAreNoOtherFiles) {
  const TemporaryFolder folder;
  write_file(folder / "secret.csv", "a,b\n1,2\n3,4\n");
  const std::string secret = "''" + (folder / "secret.csv").string() + "''";
  for (const char* format : {"GPKG", "SQLite"})
    for (const std::string& module :
         {"VirtualOGR(" + secret + ")",
          "VirtualText(" + secret + ", UTF-8, 1, POINT, NONE, '','')"}) {
      const fs::path path = folder / (std::string("a.") + format);
      fs::remove(path);
      write_vector(path, {{"a", point_wkt(0.5, 0.5)}}, {.format = format});
      add_virtual_table(path, module);
      const Dataset dataset = open_vector(path);
      const GdalMessages messages;
      EXPECT_EQ(dataset->GetLayerByName("layer1")->GetFeatureCount(), 1);
      OGRLayer* table = dataset->GetLayerByName("v");
      EXPECT_TRUE(table == nullptr || table->GetLayerDefn()->GetFieldCount() == 0)
          << format << " " << module;
    }
}

TEST(LabelFiles, RefusesNamesThatOnlyGdalKnows) {
  const std::string address = "/vsicurl/http://127.0.0.1:9/x.tif";
  EXPECT_EQ(refusal(address, scene_of(1, 1)), address + ": no such file");
  EXPECT_EQ(refusal("PG:host=127.0.0.1", scene_of(1, 1)), "PG:host=127.0.0.1: no such file");
}

TEST(LabelVector, ReadingLeavesNothingBehind) {
  const TemporaryFolder folder;
  const fs::path path =
      write_vector(folder / "a.gml", {{"a", point_wkt(0.5, 0.5)}}, {.format = "GML"});
  fs::remove(folder / "a.xsd");
  const std::set<std::string> before = folder.names();
  read_labels(path, scene_of(1, 1), by_crop);
  EXPECT_EQ(folder.names(), before);
}

// ---- Polygons and points

TEST(LabelVector, BurnsByPixelCentre) {
  Random random(11);
  for (int round = 0; round < 20; ++round) {
    const TemporaryFolder folder;
    const Ring ring = star(random, random.uniform(5, 35), random.uniform(5, 25),
                           random.uniform(1, 20), 5 + static_cast<int>(random.below(10)));
    const fs::path path = write_vector(folder / "a.gpkg", {{"corn", polygon_wkt(ring)}});
    const Labels labels = read_labels(path, scene_of(30, 40), by_crop).labels;
    EXPECT_EQ(labels.ids, burnt_by_centre(ring, 30, 40)) << round;
    EXPECT_EQ(labels.parts, labels.ids);
  }
}

TEST(LabelVector, ReprojectsToTheScene) {
  Random random(12);
  for (const int code : {4326, 32632, 3857, 3035}) {
    const TemporaryFolder folder;
    const Ring ring = star(random, 20, 15, 14, 9);
    const fs::path path =
        write_vector(folder / "a.gpkg", {{"corn", polygon_wkt(ring, code)}}, {.crs = code});
    EXPECT_EQ(read_labels(path, scene_of(30, 40), by_crop).labels.ids,
              burnt_by_centre(ring, 30, 40))
        << code;
  }
}

TEST(LabelVector, BurnsOnRotatedGrids) {
  const TemporaryFolder folder;
  SceneInfo scene = scene_of(30, 40);
  scene.georeference.transform = {380000, 6, 8, 5820000, 8, -6};
  Random random(13);
  const Ring ring = star(random, 20, 15, 14, 9);
  std::vector<std::string> points;
  for (size_t i = 0; i <= ring.size(); ++i) {
    const auto& [col, row] = ring[i % ring.size()];
    points.push_back(fmt::format("{} {}", 380000 + 6 * col + 8 * row, 5820000 + 8 * col - 6 * row));
  }
  const fs::path path = write_vector(
      folder / "a.gpkg", {{"corn", fmt::format("POLYGON(({}))", fmt::join(points, ","))}});
  EXPECT_EQ(read_labels(path, scene, by_crop).labels.ids, burnt_by_centre(ring, 30, 40));
}

TEST(LabelVector, BurnsAllTouchedPixelsOnRequest) {
  const TemporaryFolder folder;
  const fs::path path =
      write_vector(folder / "a.gpkg", {{"corn", polygon_wkt(box(1.6, 1.6, 3.4, 2.7))}});
  EXPECT_EQ(read_labels(path, scene_of(4, 5), by_crop).labels.ids,
            (Ids{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(
      read_labels(path, scene_of(4, 5), {.class_field = "crop", .all_touched = true}).labels.ids,
      (Ids{0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(LabelVector, CoveringComesBeforeTouching) {
  const TemporaryFolder folder;
  const fs::path path = write_vector(folder / "a.gpkg", {{"a", polygon_wkt(box(0, 0, 1.4, 1))},
                                                         {"b", polygon_wkt(box(1.4, 0, 3.2, 1))},
                                                         {"c", polygon_wkt(box(3.2, 0, 3.4, 1))}});
  const LabelsRead read =
      read_labels(path, scene_of(1, 5), {.class_field = "crop", .all_touched = true});
  EXPECT_EQ(read.labels.ids, (Ids{1, 2, 2, 0, 0}));
  EXPECT_EQ(read.labels.parts, (Ids{1, 2, 2, 0, 0}));
  EXPECT_EQ(read.notes, (std::vector<std::string>{"1 pixel is claimed by features of different "
                                                  "classes and left unlabelled"}));
}

TEST(LabelVector, BurnsHolesPartsAndPoints) {
  const TemporaryFolder folder;
  const auto map = [](double col, double row) {
    return fmt::format("{} {}", berlin_grid[0] + 10 * col, berlin_grid[3] - 10 * row);
  };
  const std::string holed =
      fmt::format("MULTIPOLYGON((({0},{1},{2},{3},{0}),({4},{5},{6},{7},{4})))", map(0, 0),
                  map(3, 0), map(3, 3), map(0, 3), map(1, 1), map(2, 1), map(2, 2), map(1, 2));
  const std::string points = fmt::format("MULTIPOINT({},{})", map(4.01, 0.99), map(4.5, 3.99));
  const fs::path path =
      write_vector(folder / "a.gpkg", {{"b", holed}, {"a", point_wkt(1.5, 1.5)}, {"c", points}});
  const LabelsRead read = read_labels(path, scene_of(4, 5), by_crop);
  EXPECT_EQ(read.labels.ids, (Ids{2, 2, 2, 0, 3, 2, 1, 2, 0, 0, 2, 2, 2, 0, 0, 0, 0, 0, 0, 3}));
  EXPECT_EQ(read.labels.parts, (Ids{1, 1, 1, 0, 3, 1, 2, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 4}));
  EXPECT_EQ(read.labels.names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(read.notes.empty());
}

TEST(LabelVector, NumbersAreIds) {
  for (const OGRFieldType type : {OFTInteger, OFTInteger64, OFTReal}) {
    const TemporaryFolder folder;
    const fs::path path = write_vector(
        folder / "a.gpkg",
        {{"7", point_wkt(0.5, 0.5)}, {"2", point_wkt(1.5, 0.5)}, {"0", point_wkt(2.5, 0.5)}},
        {.field = type});
    const LabelsRead read = read_labels(path, scene_of(1, 3), by_crop);
    EXPECT_EQ(read.labels.ids, (Ids{7, 2, 0}));
    EXPECT_EQ(read.labels.names, (std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7"}));
    EXPECT_EQ(read.notes, (std::vector<std::string>{"1 feature has no class and is not used"}));
  }
}

TEST(LabelVector, RefusesNumbersThatAreNoIds) {
  const auto message = [](const char* value, OGRFieldType type) {
    const TemporaryFolder folder;
    return refusal(
        write_vector(folder / "a.gpkg", {{"1", point_wkt(0, 0)}, {value, point_wkt(0.5, 0.5)}},
                     {.field = type}),
        scene_of(1, 3), by_crop);
  };
  const std::string end =
      " of field \"crop\" in feature 2 is no class: expected whole numbers from 1 to 65535, or "
      "text";
  EXPECT_PRED2(contains, message("-1", OFTInteger), "value -1" + end);
  EXPECT_PRED2(contains, message("65536", OFTInteger64), "value 65536" + end);
  EXPECT_PRED2(contains, message("1.5", OFTReal), "value 1.5" + end);
}

TEST(LabelVector, NotesWhatIsNotUsed) {
  const TemporaryFolder folder;
  const fs::path path =
      write_vector(folder / "a.gpkg", {{"corn", polygon_wkt(box(-2, -2, 2, 2))},    // partly
                                       {"corn", polygon_wkt(box(-9, -9, -8, -8))},  // outside
                                       {"wood", point_wkt(50, 0)},                  // outside
                                       {"", polygon_wkt(box(0, 0, 4, 4))},          // no class
                                       {"  ", polygon_wkt(box(0, 0, 4, 4))},        // no class
                                       {"wood", ""},                                // no geometry
                                       {"wood", polygon_wkt(box(3.6, 3.6, 3.9, 3.9))}});  // tiny
  const LabelsRead read = read_labels(path, scene_of(4, 4), by_crop);
  EXPECT_EQ(read.labels.ids, (Ids{1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(read.labels.names, (std::vector<std::string>{"corn", "wood"}));
  EXPECT_EQ(read.notes, (std::vector<std::string>{
                            "2 features have no class and are not used",
                            "1 feature has no geometry and is not used",
                            "2 features lie outside the scene and are not used",
                            "1 feature lies partly outside the scene: only the part inside is used",
                            "1 feature covers no pixel centre and is not used"}));
}

TEST(LabelVector, DisputedPixelsAreNotLabelled) {
  const TemporaryFolder folder;
  const fs::path path =
      write_vector(folder / "a.gpkg", {{"a", polygon_wkt(box(0, 0, 3, 1))},
                                       {"b", polygon_wkt(box(2, 0, 5, 1))},
                                       {"a", polygon_wkt(box(1, 0, 3, 1))},  // over a, and a + b
                                       {"b", polygon_wkt(box(4, 0, 5, 1))}});
  const LabelsRead read = read_labels(path, scene_of(1, 6), by_crop);
  EXPECT_EQ(read.labels.ids, (Ids{1, 1, 0, 2, 2, 0}));
  EXPECT_EQ(read.labels.parts, (Ids{1, 1, 0, 2, 2, 0}));
  EXPECT_EQ(read.notes, (std::vector<std::string>{"1 pixel is claimed by features of different "
                                                  "classes and left unlabelled"}));
}

TEST(LabelVector, RefusesWhenNothingIsLabelled) {
  const TemporaryFolder folder;
  const std::string outside =
      write_vector(folder / "a.gpkg",
                   {{"a", polygon_wkt(box(-3, 0, -1, 1))}, {"b", polygon_wkt(box(9, 0, 10, 1))}})
          .string();
  EXPECT_EQ(refusal(outside, scene_of(4, 4), by_crop),
            outside + ": all 2 features with a class lie outside the scene");
  const std::string tiny =
      write_vector(folder / "b.gpkg", {{"a", polygon_wkt(box(1.1, 1.1, 1.2, 1.2))}}).string();
  EXPECT_EQ(refusal(tiny, scene_of(4, 4), by_crop),
            tiny +
                ": labels no pixel: of 1 features, 0 have no class, 0 lie outside the scene, 1 "
                "cover no pixel centre, and 0 pixels are claimed for different classes");
  const std::string empty =
      write_vector(folder / "c.gpkg", {{"", polygon_wkt(box(0, 0, 4, 4))}}).string();
  EXPECT_EQ(refusal(empty, scene_of(4, 4), by_crop),
            empty + ": field \"crop\" is empty in all 1 features");
}

TEST(LabelVector, ListsTheFields) {
  const TemporaryFolder folder;
  const std::string path =
      write_vector(folder / "a.gpkg", {{"a", point_wkt(0, 0)}, {"b", point_wkt(0, 0)}}).string();
  const std::string fields = "its fields: crop (String, 2 distinct), other (Integer, 0 distinct)";
  EXPECT_EQ(refusal(path, scene_of(4, 4), {.class_field = "corp"}),
            path + ": has no field \"corp\"; " + fields);
  EXPECT_EQ(refusal(path, scene_of(4, 4)),
            path + ": needs the name of the field with the classes; " + fields);
  write_vector(folder / "b.gpkg", {{"2020/01/01", point_wkt(0, 0)}}, {.field = OFTDate});
  EXPECT_PRED2(contains, refusal(folder / "b.gpkg", scene_of(4, 4), by_crop),
               "field \"crop\" is of type Date, expected numbers or text; its fields: ");
  write_vector(folder / "c.gpkg", {{"a", point_wkt(0.5, 0.5)}}, {.more_fields = {}});
  EXPECT_EQ(read_labels(folder / "c.gpkg", scene_of(1, 1)).labels.ids, Ids{1});
}

TEST(LabelVector, RefusesLayersAndLines) {
  const TemporaryFolder folder;
  const std::string two =
      write_vector(folder / "a.gpkg", {{"a", point_wkt(0, 0)}}, {.layers = 2}).string();
  EXPECT_EQ(refusal(two, scene_of(4, 4), by_crop),
            two + ": has 2 layers (layer1, layer2), expected one");
  const std::string line =
      write_vector(folder / "b.gpkg",
                   {{"a", point_wkt(0, 0)}, {"a", "LINESTRING(380000 5820000,380010 5820010)"}})
          .string();
  EXPECT_EQ(refusal(line, scene_of(4, 4), by_crop),
            line + ": feature 2 is a Line String, expected polygons or points");
}

TEST(LabelVector, AsksWhenTheCrsIsNotKnown) {
  const TemporaryFolder folder;
  const std::string path = write_vector(folder / "a.shp", {{"a", polygon_wkt(box(0, 0, 2, 1))}},
                                        {.format = "ESRI Shapefile", .crs = 0})
                               .string();
  ASSERT_FALSE(fs::exists(folder / "a.prj"));
  EXPECT_EQ(refusal(path, scene_of(1, 3), by_crop),
            path + ": has no CRS; if it matches the scene pass --label-crs scene");
  EXPECT_EQ(
      read_labels(path, scene_of(1, 3), {.class_field = "crop", .crs_is_scene = true}).labels.ids,
      (Ids{1, 1, 0}));
  SceneInfo scene = scene_of(1, 3);
  scene.georeference.crs.clear();
  EXPECT_EQ(read_labels(path, scene, by_crop).labels.ids, (Ids{1, 1, 0}));
  scene.georeference.transform.reset();
  EXPECT_EQ(refusal(path, scene, by_crop),
            path + ": holds map coordinates, but scene.bsq has no transform to place them with");
}

TEST(LabelVector, RefusesACrsThatTheSceneHasNot) {
  const TemporaryFolder folder;
  const std::string path = write_vector(folder / "a.gpkg", {{"a", point_wkt(0.5, 0.5)}}).string();
  SceneInfo scene = scene_of(1, 3);
  scene.georeference.crs.clear();
  EXPECT_EQ(refusal(path, scene, by_crop),
            path +
                ": has the CRS WGS 84 / UTM zone 33N (EPSG:32633), but scene.bsq has none to "
                "reproject it to");
}

TEST(LabelVector, RefusesAFieldOfARaster) {
  const TemporaryFolder folder;
  const std::string path = write_raster(folder / "a.tif", "GTiff", {}).string();
  EXPECT_EQ(refusal(path, scene_of(2, 3), by_crop),
            path + ": is no vector data and has no field \"crop\"");
}

TEST(LabelVector, RefusesADamagedShapefile) {
  const TemporaryFolder folder;
  std::vector<Feature> features(50, {"a", polygon_wkt(box(0, 0, 2, 1))});
  const fs::path path = write_vector(folder / "a.shp", features, {.format = "ESRI Shapefile"});
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_PRED2(contains, refusal(path, scene_of(1, 3), by_crop), "a.shp: ");
}

// ---- Berlin

fs::path berlin() {
  const char* data = std::getenv("HYPERATOM_DATA");
  return (data != nullptr ? fs::path(data) : fs::path(HYPERATOM_SOURCE_DIR) / "../shared/data") /
         "berlin";
}

TEST(LabelVector, BurnsTheBerlinPolygons) {
  const fs::path scene_path = berlin() / "HyMap02_Berlin_Urban_Gradient_2009.bsq";
  if (!fs::exists(scene_path)) GTEST_SKIP() << "no " << scene_path;
  const SceneInfo scene = open_scene(scene_path)->info();
  const fs::path path = berlin() / "LandCov_Vec_Berlin_Urban_Gradient_2009.shp";
  const auto labelled = [](const Labels& labels) {
    return labels.pixels() - std::count(labels.ids.begin(), labels.ids.end(), 0);
  };
  const Labels centre = read_labels(path, scene, {.class_field = "Level_2"}).labels;
  EXPECT_EQ(labelled(centre), 2577);
  EXPECT_EQ(centre.names, (std::vector<std::string>{"Grass", "Pavement", "Roof", "Soil", "Tree"}));
  const LabelsRead touched =
      read_labels(path, scene, {.class_field = "Level_2", .all_touched = true});
  // 2,868 pixels are touched; those of them that polygons of two classes touch without covering
  // the centre are left out.
  EXPECT_EQ(touched.notes,
            (std::vector<std::string>{
                "4 features lie partly outside the scene: only the parts inside are used",
                "130 pixels are claimed by features of different classes and left unlabelled"}));
  EXPECT_EQ(labelled(touched.labels), 2868 - 130);
  for (size_t i = 0; i < centre.ids.size(); ++i)
    if (centre.ids[i] != 0) {
      ASSERT_EQ(touched.labels.ids[i], centre.ids[i]);
    }
}

}  // namespace
}  // namespace hyperatom::test
