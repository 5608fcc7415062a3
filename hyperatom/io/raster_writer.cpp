#include "hyperatom/io/raster_writer.hpp"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <fmt/format.h>
#include <gdal_priv.h>
#include <gdal_rat.h>
#include <ogr_spatialref.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "hyperatom/base/error.hpp"
#include "hyperatom/io/crs.hpp"
#include "hyperatom/io/gdal.hpp"
#include "hyperatom/io/qml.hpp"
#include "hyperatom/io/staged_files.hpp"
#include "hyperatom/io/writing.hpp"

namespace hyperatom {
namespace {

namespace fs = std::filesystem;
using Type = RasterContent::Type;

constexpr Index cell_bytes = 4;  // of a class (int32) or a value (float) on its way to GDAL
constexpr Index largest_class = 65535;

// ---- Options

/// The names that DESIGN.md promises, in GDAL's spelling.
std::string known_format(const std::string& format) {
  for (const char* name : {"GTiff", "ENVI", "COG"})
    if (EQUAL(format.c_str(), name)) return name;
  throw OptionError(fmt::format("format \"{}\" is not known, expected GTiff, ENVI or COG", format));
}

std::string name_of_option(const std::string& option) { return option.substr(0, option.find('=')); }

/// Whether the user gave an option of one of these names.
bool given(const std::vector<std::string>& creation, std::initializer_list<const char*> names) {
  return std::any_of(creation.begin(), creation.end(), [&](const std::string& option) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) {
      return EQUAL(name_of_option(option).c_str(), name);
    });
  });
}

void check_creation_options(GDALDriver& driver, const std::vector<std::string>& creation) {
  for (const std::string& option : creation) {
    if (option.find('=') == std::string::npos || option.front() == '=')
      throw OptionError(
          fmt::format("creation option \"{}\" is not of the form NAME=VALUE", option));
    if (given({option}, {"TILING_SCHEME", "TARGET_SRS", "RES", "EXTENT"}))
      throw OptionError(fmt::format(
          "creation option \"{}\" would change the grid, which must stay the scene's", option));
    const GdalMessages messages;
    CPLStringList list;
    list.AddString(option.c_str());
    if (!GDALValidateCreationOptions(GDALDriver::ToHandle(&driver), list.List()))
      throw OptionError(fmt::format("creation option \"{}\": {}", option, messages.text()));
  }
}

/// Options of ours that give way to the user's: to one of the same name, and to `unless`.
struct Default {
  const char* name;
  std::string value;
  const char* unless = "";
};

CPLStringList with_defaults(const std::vector<std::string>& creation,
                            const std::vector<Default>& defaults) {
  CPLStringList list;
  for (const std::string& option : creation) list.AddString(option.c_str());
  for (const Default& option : defaults)
    if (!given(creation, {option.name, option.unless}))
      list.SetNameValue(option.name, option.value.c_str());
  return list;
}

/// Sides of a tile so small that a row of tiles, which is what the writer holds, needs at most
/// 32 MB (or 16 rows).
Index tile_side(Index cols, Index bands) {
  Index side = 256;
  while (side > 16 && side * cols * bands * cell_bytes > Index{32} << 20) side /= 2;
  return side;
}

std::vector<Default> gtiff_defaults(Type type, Index cols, Index bands) {
  const std::string side = std::to_string(tile_side(cols, bands));
  std::vector<Default> defaults = {{"COMPRESS", "DEFLATE"},       {"TILED", "YES"},
                                   {"BLOCKXSIZE", side, "TILED"}, {"BLOCKYSIZE", side, "TILED"},
                                   {"INTERLEAVE", "BAND"},        {"BIGTIFF", "IF_SAFER"}};
  if (type == Type::values) defaults.push_back({"PREDICTOR", "3", "COMPRESS"});
  return defaults;
}

std::vector<Default> cog_defaults(Type type) {
  std::vector<Default> defaults = {{"COMPRESS", "DEFLATE"}, {"BIGTIFF", "IF_SAFER"}};
  defaults.push_back({"RESAMPLING", type == Type::classes ? "MODE" : "AVERAGE"});
  if (type == Type::values) defaults.push_back({"PREDICTOR", "YES", "COMPRESS"});
  return defaults;
}

// ---- What a map says of itself

/// ENVI headers know no escapes: a comma would end a name, a brace the list.
std::string envi_text(std::string text) {
  constexpr std::string_view special = ",{}", replacement = ";()";
  for (char& c : text)
    if (const size_t i = special.find(c); i != std::string_view::npos) c = replacement[i];
  return text;
}

/// For a class without a name, as the label reader has it.
std::string stand_in(size_t c) { return fmt::format("class {}", c + 1); }

GDALColorTable colour_table(const std::vector<Colour>& colours) {
  GDALColorTable table;
  const GDALColorEntry none = {0, 0, 0, 0};
  table.SetColorEntry(0, &none);
  for (size_t c = 0; c < colours.size(); ++c) {
    const GDALColorEntry entry = {colours[c][0], colours[c][1], colours[c][2], 255};
    table.SetColorEntry(static_cast<int>(c) + 1, &entry);
  }
  return table;
}

GDALDefaultRasterAttributeTable attribute_table(const std::vector<std::string>& names,
                                                const std::vector<Colour>& colours) {
  GDALDefaultRasterAttributeTable table;
  table.SetTableType(GRTT_THEMATIC);
  table.CreateColumn("Value", GFT_Integer, GFU_MinMax);
  table.CreateColumn("Class", GFT_String, GFU_Name);
  table.CreateColumn("Red", GFT_Integer, GFU_Red);
  table.CreateColumn("Green", GFT_Integer, GFU_Green);
  table.CreateColumn("Blue", GFT_Integer, GFU_Blue);
  for (size_t c = 0; c < names.size(); ++c) {
    if (names[c].empty()) continue;
    const int row = table.GetRowCount();
    table.SetRowCount(row + 1);
    table.SetValue(row, 0, static_cast<int>(c) + 1);
    table.SetValue(row, 1, names[c].c_str());
    for (int k = 0; k < 3; ++k) table.SetValue(row, 2 + k, int{colours[c][static_cast<size_t>(k)]});
  }
  return table;
}

/// The .aux.xml in which GDAL looks for metadata that a format has no place for.
std::string metadata_xml(const std::map<std::string, std::string>& metadata) {
  std::string items;
  for (const auto& [name, value] : metadata)
    items += fmt::format("    <MDI key=\"{}\">{}</MDI>\n", name, xml_text(value));
  return fmt::format("<PAMDataset>\n  <Metadata>\n{}  </Metadata>\n</PAMDataset>\n", items);
}

// ---- Files

/// Beside a raster, these are read as belonging to it.
std::vector<std::string> sidecars(const std::string& name, bool qml, bool envi) {
  std::vector<std::string> names = {name + ".aux.xml", name + ".ovr", name + ".msk"};
  if (qml) names.push_back(fs::path(name).replace_extension(".qml").string());
  if (envi) names.push_back(fs::path(name).replace_extension(".hdr").string());
  if (envi) names.push_back(name + ".hdr");
  return names;
}

}  // namespace

struct RasterWriter::Impl {
  Impl(const fs::path& path, Index rows, Index cols, const Georeference& georeference,
       const RasterContent& content, const RasterOptions& options);

  void check();
  void check_classes();
  void check_values() const;
  void check_metadata();
  void expect_all_free() const;
  void create();
  void describe();
  void describe_classes(GDALRasterBand& band);
  void describe_wavelengths();
  void place(const Georeference& georeference);
  MatrixF with_no_data(Index first, const MatrixF& values) const;
  void append(Index first, Index count, const void* cells);
  void flush();
  void close();
  void translate_to_cog();
  [[noreturn]] void differs(const std::string& how) const;
  void verify() const;
  void verify_rows(GDALDataset& file) const;
  void verify_classes(GDALRasterBand& band) const;
  void verify_metadata(GDALDataset& file) const;
  void finish();

  Index bands() const { return static_cast<Index>(content.bands.size()); }
  Index row_bytes() const { return cols * bands() * cell_bytes; }
  bool envi() const { return format == "ENVI"; }
  bool classes() const { return content.type == Type::classes; }
  std::string name() const { return path.filename().string(); }
  /// Names of classes live in the .aux.xml of a GeoTIFF; an ENVI header has a place of its own, and
  /// GDAL would repeat in an .aux.xml what was in the header before it was complete.
  const char* aux_xml() const { return envi() ? "NO" : "YES"; }
  GDALDataType cell_type() const { return classes() ? GDT_Int32 : GDT_Float32; }
  GDALDataType file_type() const {
    if (!classes()) return GDT_Float32;
    return content.class_names.size() > 255 ? GDT_UInt16 : GDT_Byte;
  }
  /// Of all bands of some rows, in the order of `buffer`.
  CPLErr transfer(GDALDataset& file, GDALRWFlag direction, Index first, Index count,
                  void* cells) const;

  fs::path path;
  Index rows, cols;
  RasterContent content;
  RasterOptions options;
  std::string format;
  std::unique_ptr<StagedFiles> staged;
  fs::path written;  ///< what the dataset below writes
  Dataset dataset;

  Index block_rows = 1;        ///< GDAL compresses this many rows at once
  Index next = 0;              ///< the row to be given next
  std::vector<char> buffer;    ///< rows that don't fill a block yet, pixel by pixel
  std::vector<size_t> hashes;  ///< of the rows given, to be compared with what was written
};

RasterWriter::Impl::Impl(const fs::path& path_, Index rows_, Index cols_,
                         const Georeference& georeference, const RasterContent& content_,
                         const RasterOptions& options_)
    : path(path_), rows(rows_), cols(cols_), content(content_), options(options_) {
  prepare_gdal();
  format = known_format(options.format);
  check();
  expect_all_free();
  expect_folder(path);
  staged = std::make_unique<StagedFiles>(path);
  const CPLConfigOptionSetter with_aux_xml("GDAL_PAM_ENABLED", aux_xml(), false);
  create();
  place(georeference);
  describe();
}

void RasterWriter::Impl::check() {
  constexpr Index limit = std::numeric_limits<int>::max();
  if (rows < 1 || cols < 1 || rows > limit || cols > limit || content.bands.empty())
    throw OptionError(fmt::format("{}: {} rows, {} columns, {} bands can't be written",
                                  path.string(), rows, cols, content.bands.size()));
  check_creation_options(*GetGDALDriverManager()->GetDriverByName(format.c_str()),
                         options.creation);
  check_metadata();
  if (classes())
    check_classes();
  else
    check_values();
}

void RasterWriter::Impl::check_classes() {
  const size_t count = content.class_names.size();
  if (content.bands.size() != 1 || count < 1 || static_cast<Index>(count) > largest_class)
    throw OptionError(fmt::format("{}: {} bands of {} classes, expected one band of 1 to {}",
                                  path.string(), content.bands.size(), count, largest_class));
  if (std::ranges::all_of(content.class_names, &std::string::empty))
    throw OptionError(fmt::format("{}: none of the {} classes has a name", path.string(), count));
  if (content.class_colours.empty())
    content.class_colours = default_colours(static_cast<Index>(count));
  if (content.class_colours.size() != count)
    throw OptionError(fmt::format("{}: {} colours for {} classes", path.string(),
                                  content.class_colours.size(), count));
  if (content.wavelengths.size() > 0 || content.no_data)
    throw OptionError(
        fmt::format("{}: wavelengths and no data are of values, not of classes", path.string()));
  for (size_t c = 0; c < count; ++c)
    if (std::string& name = content.class_names[c]; !name.empty()) {
      name = clean_text(name);
      if (name.empty()) name = stand_in(c);
    }
}

void RasterWriter::Impl::check_values() const {
  const Index wavelengths = content.wavelengths.size();
  if (wavelengths != 0 && wavelengths != bands())
    throw OptionError(
        fmt::format("{}: {} wavelengths for {} bands", path.string(), wavelengths, bands()));
  if (!content.wavelengths.allFinite() || (content.wavelengths.array() <= 0).any())
    throw OptionError(fmt::format("{}: wavelengths {}, expected positive numbers", path.string(),
                                  fmt::join(content.wavelengths, ", ")));
  if (content.no_data && !std::isfinite(*content.no_data))
    throw OptionError(fmt::format("{}: {} can't stand for no data, expected a finite number",
                                  path.string(), *content.no_data));
}

/// GDAL keeps items as NAME=VALUE, takes a colon for the end of a name too, and loses blanks at the
/// ends of values and items without one.
void RasterWriter::Impl::check_metadata() {
  const auto usable = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  for (auto& [name, value] : content.metadata) {
    if (name.empty() || !std::ranges::all_of(name, usable))
      throw OptionError(fmt::format(
          "{}: metadata \"{}\" can't be written, expected a name of letters, digits and _",
          path.string(), name));
    value = clean_text(value);
    value.erase(value.find_last_not_of(' ') + 1);
    value.erase(0, value.find_first_not_of(' '));
  }
  std::erase_if(content.metadata, [](const auto& item) { return item.second.empty(); });
}

void RasterWriter::Impl::expect_all_free() const {
  expect_free(path, options.overwrite);
  for (const std::string& sidecar : sidecars(name(), classes(), envi())) {
    if (sidecar == name())
      throw OptionError(
          fmt::format("{}: is the name of a file that goes with the raster, whose "
                      "own name is expected",
                      path.string()));
    expect_free(folder_of(path) / sidecar, options.overwrite);
  }
}

void RasterWriter::Impl::create() {
  const bool cog = format == "COG";
  written = staged->folder() / (cog ? "cog-source.tif" : name());
  const CPLStringList list =
      with_defaults(cog ? std::vector<std::string>{} : options.creation,
                    envi() ? std::vector<Default>{} : gtiff_defaults(content.type, cols, bands()));
  guarded(path, staged->folder(), [&] {
    dataset.reset(GetGDALDriverManager()
                      ->GetDriverByName(envi() ? "ENVI" : "GTiff")
                      ->Create(written.c_str(), static_cast<int>(cols), static_cast<int>(rows),
                               static_cast<int>(bands()), file_type(), list.List()));
    return dataset != nullptr;
  });
  if (envi()) dataset->SetDescription(name().c_str());  // the header quotes it
  int block_cols = 0, block_height = 0;
  dataset->GetRasterBand(1)->GetBlockSize(&block_cols, &block_height);
  block_rows = std::max(block_height, 1);
}

void RasterWriter::Impl::place(const Georeference& georeference) {
  if (!georeference.crs.empty()) {
    const OGRSpatialReference crs = parse_crs(georeference.crs, path.string());
    guarded(path, staged->folder(), [&] { return dataset->SetSpatialRef(&crs) == CE_None; });
  }
  if (!georeference.transform) return;
  std::array<double, 6> transform = *georeference.transform;
  guarded(path, staged->folder(),
          [&] { return dataset->SetGeoTransform(transform.data()) == CE_None; });
}

void RasterWriter::Impl::describe() {
  guarded(path, staged->folder(), [&] {
    for (Index b = 0; b < bands(); ++b) {
      GDALRasterBand& band = *dataset->GetRasterBand(static_cast<int>(b) + 1);
      const std::string text = clean_text(content.bands[static_cast<size_t>(b)]);
      band.SetDescription((envi() ? envi_text(text) : text).c_str());
      band.SetNoDataValue(classes() ? 0 : content.no_data.value_or(std::nanf("")));
    }
    if (classes()) describe_classes(*dataset->GetRasterBand(1));
    if (content.wavelengths.size() > 0) describe_wavelengths();
    if (envi()) return true;  // whose header has no place for metadata of others
    for (const auto& [name, value] : content.metadata)
      dataset->SetMetadataItem(name.c_str(), value.c_str());
    return true;
  });
}

/// An ENVI header lists them; elsewhere every band has its own, under the names that GDAL's ENVI
/// driver gives them and those that GDAL knows since 3.10.
void RasterWriter::Impl::describe_wavelengths() {
  const Vector& all = content.wavelengths;
  if (envi()) {
    dataset->SetMetadataItem("wavelength", fmt::format("{{{}}}", fmt::join(all, ", ")).c_str(),
                             "ENVI");
    dataset->SetMetadataItem("wavelength_units", "Micrometers", "ENVI");
    return;
  }
  for (Index b = 0; b < bands(); ++b) {
    GDALRasterBand& band = *dataset->GetRasterBand(static_cast<int>(b) + 1);
    const std::string text = fmt::format("{}", all[b]);
    band.SetMetadataItem("wavelength", text.c_str());
    band.SetMetadataItem("wavelength_units", "Micrometers");
    band.SetMetadataItem("CENTRAL_WAVELENGTH_UM", text.c_str(), "IMAGERY");
  }
}

void RasterWriter::Impl::describe_classes(GDALRasterBand& band) {
  CPLStringList categories;
  categories.AddString("Unclassified");
  for (size_t c = 0; c < content.class_names.size(); ++c) {
    std::string text = content.class_names[c];
    if (envi()) text = text.empty() ? stand_in(c) : envi_text(text);  // whose lists have no gaps
    categories.AddString(text.c_str());
  }
  band.SetCategoryNames(categories.List());
  GDALColorTable table = colour_table(content.class_colours);
  band.SetColorTable(&table);
  if (envi()) return;  // which would need an .aux.xml for what the header says already
  const GDALDefaultRasterAttributeTable attributes =
      attribute_table(content.class_names, content.class_colours);
  band.SetDefaultRAT(&attributes);
}

CPLErr RasterWriter::Impl::transfer(GDALDataset& file, GDALRWFlag direction, Index first,
                                    Index count, void* cells) const {
  const int width = static_cast<int>(cols), height = static_cast<int>(count);
  return file.RasterIO(direction, 0, static_cast<int>(first), width, height, cells, width, height,
                       cell_type(), static_cast<int>(bands()), nullptr, bands() * cell_bytes,
                       row_bytes(), cell_bytes, nullptr);
}

/// With the value of the file where there is no data.
MatrixF RasterWriter::Impl::with_no_data(Index first, const MatrixF& values) const {
  MatrixF marked = values;
  for (Index i = 0; i < values.cols(); ++i)
    for (Index b = 0; b < values.rows(); ++b) {
      if (values(b, i) == *content.no_data)
        refuse(path, "value {} of band {} in row {} is the one that stands for no data",
               values(b, i), b + 1, first + i / cols);
      if (std::isnan(values(b, i))) marked(b, i) = *content.no_data;
    }
  return marked;
}

void RasterWriter::Impl::append(Index first, Index count, const void* cells) {
  if (!dataset) refuse(path, "is finished and takes no more rows");
  if (first != next || count < 0 || first + count > rows)
    refuse(path, "rows {} to {} were given, expected rows from {} up to {} in order", first,
           first + count - 1, next, rows - 1);
  for (Index i = 0; i < count; ++i) {
    const std::string_view row(static_cast<const char*>(cells) + i * row_bytes(),
                               static_cast<size_t>(row_bytes()));
    hashes.push_back(std::hash<std::string_view>{}(row));
    buffer.insert(buffer.end(), row.begin(), row.end());
    ++next;
    if (next % block_rows == 0 || next == rows) flush();
  }
}

/// Only whole blocks are given to GDAL, at once: a file's bytes don't depend on how its rows came,
/// and no block waits in GDAL's cache until an unrelated call writes it and gets its errors.
void RasterWriter::Impl::flush() {
  const Index count = static_cast<Index>(buffer.size()) / row_bytes();
  guarded(path, staged->folder(), [&] {
    if (transfer(*dataset, GF_Write, next - count, count, buffer.data()) != CE_None) return false;
    dataset->FlushCache(false);
    return true;
  });
  buffer.clear();
}

void RasterWriter::Impl::close() {
  guarded(path, staged->folder(), [&] {
    dataset.reset();
    return true;
  });
}

void RasterWriter::Impl::translate_to_cog() {
  const CPLStringList list = with_defaults(options.creation, cog_defaults(content.type));
  GDALDriverManager& drivers = *GetGDALDriverManager();
  guarded(path, staged->folder(), [&] {
    const Dataset source(
        GDALDataset::Open(written.c_str(), GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR));
    const Dataset copy(source ? drivers.GetDriverByName("COG")->CreateCopy(
                                    (staged->folder() / name()).c_str(), source.get(), TRUE,
                                    list.List(), nullptr, nullptr)
                              : nullptr);
    return copy != nullptr;
  });
  guarded(path, staged->folder(),
          [&] { return drivers.GetDriverByName("GTiff")->Delete(written.c_str()) == CE_None; });
}

void RasterWriter::Impl::differs(const std::string& how) const {
  refuse(path, "can't be written: what was written {}", how);
}

/// GDAL has no way to say that closing a file failed (before 3.7): what is there is read.
void RasterWriter::Impl::verify() const {
  const GdalMessages messages;
  const Dataset file(GDALDataset::Open((staged->folder() / name()).c_str(),
                                       GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR));
  if (!file) differs("can't be read: " + messages.text());
  if (file->GetRasterXSize() != cols || file->GetRasterYSize() != rows ||
      file->GetRasterCount() != bands())
    differs(fmt::format("has {} x {} pixels and {} bands, expected {} x {} and {}",
                        file->GetRasterYSize(), file->GetRasterXSize(), file->GetRasterCount(),
                        rows, cols, bands()));
  verify_rows(*file);
  if (classes()) verify_classes(*file->GetRasterBand(1));
  if (!envi()) verify_metadata(*file);
  if (messages.failed()) differs("can't be read: " + messages.text());
}

void RasterWriter::Impl::verify_rows(GDALDataset& file) const {
  const bool lossy = !classes() && given(options.creation, {"NBITS", "MAX_Z_ERROR", "DISCARD_LSB",
                                                            "JXL_LOSSLESS", "JXL_DISTANCE"});
  int block_cols = 0, height = 0;
  file.GetRasterBand(1)->GetBlockSize(&block_cols, &height);
  std::vector<char> cells(static_cast<size_t>(height * row_bytes()));
  for (Index first = 0; first < rows; first += height) {
    const Index count = std::min(Index{height}, rows - first);
    if (transfer(file, GF_Read, first, count, cells.data()) != CE_None)
      differs(fmt::format("can't be read from row {} on", first));
    for (Index i = 0; i < count && !lossy; ++i) {
      const std::string_view row(cells.data() + i * row_bytes(), static_cast<size_t>(row_bytes()));
      if (std::hash<std::string_view>{}(row) != hashes[static_cast<size_t>(first + i)])
        differs(fmt::format("differs in row {} from what was given", first + i));
    }
    file.FlushCache(false);  // which forgets the blocks that were read
  }
}

void RasterWriter::Impl::verify_classes(GDALRasterBand& band) const {
  band.GetNoDataValue();  // GDAL loads the .aux.xml for it, but not for the names of classes
  const int found = CSLCount(band.GetCategoryNames());
  const auto expected = static_cast<int>(content.class_names.size()) + 1;
  if (found != expected)
    differs(fmt::format("has {} names of classes, expected {}", found, expected));
  const GDALColorTable* table = band.GetColorTable();
  if (table == nullptr || table->GetColorEntryCount() < expected) differs("has no colours");
}

void RasterWriter::Impl::verify_metadata(GDALDataset& file) const {
  for (const auto& [name, value] : content.metadata) {
    const char* found = file.GetMetadataItem(name.c_str());
    if (found == nullptr || found != value) differs(fmt::format("has not the metadata {}", name));
  }
}

void RasterWriter::Impl::finish() {
  if (!dataset) refuse(path, "is finished already");
  if (next != rows) refuse(path, "has {} rows, but only {} were given", rows, next);
  const CPLConfigOptionSetter with_aux_xml("GDAL_PAM_ENABLED", aux_xml(), false);
  close();
  if (format == "COG") translate_to_cog();
  verify();
  const fs::path folder = staged->folder();
  if (classes())
    write_whole(path, folder / fs::path(name()).replace_extension(".qml"),
                paletted_qml(content.class_names, content.class_colours));
  if (envi() && !content.metadata.empty())
    write_whole(path, folder / (name() + ".aux.xml"), metadata_xml(content.metadata));
  expect_all_free();
  for (const std::string& companion : staged->names())
    expect_free(folder_of(path) / companion, options.overwrite);
  staged->publish(sidecars(name(), false, false));
}

RasterWriter::RasterWriter(const fs::path& path, Index rows, Index cols,
                           const Georeference& georeference, const RasterContent& content,
                           const RasterOptions& options) {
  const GdalMessages messages;  // of closing what could not be set up
  impl_ = std::make_unique<Impl>(path, rows, cols, georeference, content, options);
}

RasterWriter::~RasterWriter() {
  const GdalMessages messages;  // nobody wants to know why an unfinished file can't be closed
  impl_.reset();
}

RasterWriter::RasterWriter(RasterWriter&&) noexcept = default;

void RasterWriter::write(Index first, Index count, const std::vector<std::int32_t>& ids) {
  Impl& impl = *impl_;
  const auto classes = static_cast<std::int32_t>(impl.content.class_names.size());
  if (!impl.classes() || static_cast<Index>(ids.size()) != count * impl.cols)
    refuse(impl.path, "{} classes were given for {} rows of {} columns", ids.size(), count,
           impl.cols);
  const auto bad =
      std::find_if(ids.begin(), ids.end(), [&](std::int32_t id) { return id < 0 || id > classes; });
  if (bad != ids.end())
    refuse(impl.path, "class {} in row {} is not one of 0 to {}", *bad,
           first + (bad - ids.begin()) / impl.cols, classes);
  const auto nameless = std::find_if(ids.begin(), ids.end(), [&](std::int32_t id) {
    return id > 0 && impl.content.class_names[static_cast<size_t>(id) - 1].empty();
  });
  if (nameless != ids.end())
    refuse(impl.path, "class {} in row {} has no name", *nameless,
           first + (nameless - ids.begin()) / impl.cols);
  impl.append(first, count, ids.data());
}

void RasterWriter::write(Index first, Index count, const MatrixF& values) {
  Impl& impl = *impl_;
  if (impl.classes() || values.rows() != impl.bands() || values.cols() != count * impl.cols)
    refuse(impl.path, "{} x {} values were given for {} bands and {} rows of {} columns",
           values.rows(), values.cols(), impl.bands(), count, impl.cols);
  if (impl.content.no_data)
    impl.append(first, count, impl.with_no_data(first, values).data());
  else
    impl.append(first, count, values.data());
}

void RasterWriter::finish() { impl_->finish(); }

}  // namespace hyperatom
