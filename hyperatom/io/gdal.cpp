#include "hyperatom/io/gdal.hpp"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <fmt/format.h>
#include <gdal_priv.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <mutex>
#include <span>
#include <string_view>

#include "hyperatom/base/error.hpp"

namespace hyperatom {

void CloseDataset::operator()(GDALDataset* dataset) const {
  GDALClose(GDALDataset::ToHandle(dataset));
}

struct GdalMessages::Receiver {
  static void CPL_STDCALL receive(CPLErr level, CPLErrorNum, const char* message) {
    auto* self = static_cast<GdalMessages*>(CPLGetErrorHandlerUserData());
    if (level < CE_Warning) return;
    if (level >= CE_Failure && !self->failed_) {
      self->messages_.clear();  // warnings that came before are of no interest beside an error
      self->failed_ = true;
    }
    if (level >= CE_Failure || !self->failed_) self->messages_.emplace_back(message);
  }
};

GdalMessages::GdalMessages() { CPLPushErrorHandlerEx(Receiver::receive, this); }

GdalMessages::~GdalMessages() { CPLPopErrorHandler(); }

std::string GdalMessages::text() const {
  if (messages_.empty()) return "no reason given";
  std::string line = fmt::format("{}", fmt::join(messages_, "; "));
  for (char& c : line)
    if (c == '\n' || c == '\r') c = ' ';
  return line;
}

namespace {

constexpr GIntBig usual_cache = 64 << 20;
constexpr double largest_cache = 512 << 20;

bool user_bounds_cache() { return CPLGetConfigOption("GDAL_CACHEMAX", nullptr) != nullptr; }

}  // namespace

void prepare_gdal() {
  static std::once_flag once;
  std::call_once(once, [] {
    GDALAllRegister();
    // Reading must leave nothing beside the data: no statistics, no index of a compressed file.
    CPLSetConfigOption("GDAL_PAM_ENABLED", "NO");
    CPLSetConfigOption("CPL_VSIL_GZIP_WRITE_PROPERTIES", "NO");
    // Otherwise a table of an SQLite file (GeoPackage, MBTiles) could be any other file.
    CPLSetConfigOption("OGR_SQLITE_STATIC_VIRTUAL_OGR", "NO");
    CPLSetConfigOption("SPATIALITE_LOAD", "NO");
    if (!user_bounds_cache()) GDALSetCacheMax64(usual_cache);
  });
}

void make_room_for_blocks(GDALDataset& dataset) {
  double row_of_blocks = 0;
  for (auto&& band : dataset.GetBands()) {
    int width = 0, height = 0;
    band->GetBlockSize(&width, &height);
    const double across = std::ceil(dataset.GetRasterXSize() / static_cast<double>(width));
    row_of_blocks += across * width * height * GDALGetDataTypeSizeBytes(band->GetRasterDataType());
  }
  const double wanted = std::min(static_cast<double>(usual_cache) + row_of_blocks, largest_cache);
  if (!user_bounds_cache() && wanted > static_cast<double>(GDALGetCacheMax64()))
    GDALSetCacheMax64(static_cast<GIntBig>(wanted));
}

namespace {

namespace fs = std::filesystem;

/// Drivers whose files name other data, which GDAL then opens with any driver.
constexpr std::array virtual_drivers = {"VRT", "OGR_VRT"};
constexpr std::array following_drivers = {
    // mosaics, catalogues and products of several files
    "DERIVED", "DIMAP", "ECRGTOC", "ERS", "GTI", "KMLSUPEROVERLAY", "MAP", "MRF", "PCIDSK", "PRF",
    "Rasterlite", "RPFTOC", "RS2", "SAFE", "SENTINEL2", "STACIT", "STACTA", "TIL", "TSX", "Zarr",
    // drawings with pictures in other files; a program that would be run
    "CAD", "GPSBabel",
    // services and databases
    "AmigoCloud", "Carto", "CSW", "DAAS", "EEDA", "EEDAI", "Elasticsearch", "GMLAS", "HTTP",
    "MSSQLSpatial", "MySQL", "NGW", "OAPIF", "ODBC", "OGCAPI", "OGR_OGDI", "PGeo", "PLMOSAIC",
    "PLSCENES", "PostGISRaster", "PostgreSQL", "WCS", "WFS", "WMS", "WMTS",
    // libhdf5, which must not run in this process (docs/decisions/008-hdf5-in-a-helper.md)
    "BAG", "HDF5", "HDF5Image", "KEA"};

bool is_one_of(std::string_view name, std::span<const char* const> names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_named_vrt(const fs::path& path) { return EQUAL(path.extension().c_str(), ".vrt"); }

bool is_trusted(std::string_view driver, const fs::path& path) {
  return !is_one_of(driver, following_drivers) &&
         (is_named_vrt(path) || !is_one_of(driver, virtual_drivers));
}

CPLStringList trusted_drivers(const fs::path& path) {
  GDALDriverManager& all = *GetGDALDriverManager();
  CPLStringList names;
  for (int i = 0; i < all.GetDriverCount(); ++i)
    if (const char* name = all.GetDriver(i)->GetDescription(); is_trusted(name, path))
      names.AddString(name);
  return names;
}

/// The file's name such that GDAL can't take it for one of its own, which stand at the start.
std::string plain_name(const fs::path& path) {
  if (path.is_relative()) return "./" + path.string();
  return path.string().starts_with("/vsi") ? "/." + path.string() : path.string();
}

/// Null if no trusted driver can.
Dataset open_trusted(const fs::path& path, unsigned flags) {
  // GML: no download of schemas, no .gfs beside the data. @: of no concern to other drivers.
  const char* const options[] = {"@DOWNLOAD_SCHEMA=NO", "@WRITE_GFS=NO", nullptr};
  return Dataset(
      GDALDataset::FromHandle(GDALOpenEx(plain_name(path).c_str(), flags | GDAL_OF_READONLY,
                                         trusted_drivers(path).List(), options, nullptr)));
}

/// Says so if a driver that is not trusted knows the file.
void expect_no_follower(const fs::path& path) {
  GDALDriverManager& all = *GetGDALDriverManager();
  GDALOpenInfo file(plain_name(path).c_str(), GDAL_OF_READONLY | GDAL_OF_RASTER | GDAL_OF_VECTOR);
  for (int i = 0; i < all.GetDriverCount(); ++i) {
    GDALDriver& driver = *all.GetDriver(i);
    const std::string name = driver.GetDescription();
    if (is_trusted(name, path) || driver.pfnIdentify == nullptr || driver.pfnIdentify(&file) <= 0)
      continue;
    throw DataError(fmt::format(
        "{}: found a file of GDAL's driver {}, which reads other files or addresses that the file "
        "names, expected the data themselves{}",
        path.string(), name,
        is_one_of(name, virtual_drivers) ? ", or a name that ends in .vrt" : ""));
  }
}

/// Some headers name the file with the values.
void expect_own_folder(GDALDataset& dataset, const fs::path& path) {
  if (is_named_vrt(path)) return;
  std::error_code ignored;
  const fs::path absolute = fs::absolute(path);
  const fs::path folder = fs::is_directory(path, ignored) ? absolute : absolute.parent_path();
  const CPLStringList files(dataset.GetFileList());
  for (int i = 0; i < files.size(); ++i) {
    const fs::path relative = fs::absolute(files[i]).lexically_normal().lexically_relative(
        (folder / "").lexically_normal());
    if (relative.empty() || *relative.begin() == "..")
      throw DataError(fmt::format("{}: would read {}, expected files of its own folder only",
                                  path.string(), files[i]));
  }
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// What GDAL does not say of files that people often bring.
std::string probable_cause(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return "; it is a folder, expected a file";
  if (fs::file_size(path, ignored) == 0) return "; the file is empty";
  std::string start(2, ' ');
  std::ifstream(path, std::ios::binary).read(start.data(), 2);
  if (start == "PK") return "; it is a zip archive (of NumPy? then save the array alone, as .npy)";
  const bool header =
      is_there(fs::path(path).replace_extension(".hdr")) || is_there(fs::path(path) += ".hdr");
  return header ? "" : "; if it is an ENVI file, its header (.hdr) is missing";
}

Dataset open(const fs::path& path, unsigned flags, const char* what) {
  prepare_gdal();
  if (!is_there(path)) throw DataError(fmt::format("{}: no such file", path.string()));
  const GdalMessages messages;
  Dataset dataset = open_trusted(path, flags | GDAL_OF_VERBOSE_ERROR);
  if (!dataset) {
    const std::string reason = messages.text();
    expect_no_follower(path);
    throw DataError(fmt::format("{}: can't be opened as {}: {}{}", path.string(), what, reason,
                                probable_cause(path)));
  }
  expect_own_folder(*dataset, path);
  return dataset;
}

}  // namespace

Dataset open_raster(const fs::path& path) { return open(path, GDAL_OF_RASTER, "a raster"); }

Dataset open_vector(const fs::path& path) { return open(path, GDAL_OF_VECTOR, "vector data"); }

Dataset try_open(const fs::path& path) {
  prepare_gdal();
  if (!is_there(path)) return nullptr;
  const GdalMessages messages;
  Dataset dataset = open_trusted(path, GDAL_OF_RASTER | GDAL_OF_VECTOR);
  if (!dataset) expect_no_follower(path);
  return dataset;
}

}  // namespace hyperatom
