#include "hyperatom/io/label_reader.hpp"

#include <cpl_conv.h>
#include <fmt/format.h>
#include <gdal_priv.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "hyperatom/io/array_file.hpp"
#include "hyperatom/io/data_error.hpp"
#include "hyperatom/io/gdal.hpp"
#include "hyperatom/io/place.hpp"
#include "hyperatom/io/raw_size.hpp"
#include "hyperatom/io/vector_labels.hpp"

namespace hyperatom {
namespace {

namespace fs = std::filesystem;

constexpr double largest_class = 65535;

/// The class that a number of a label file stands for. Throws with the place where it was found.
std::int32_t class_of(double value, Index row, Index col, const std::string& path) {
  if (value >= 0 && value <= largest_class && value == std::floor(value))
    return static_cast<std::int32_t>(value);
  fail(path, "value {} at row {}, column {} is no class: expected whole numbers from 0 to {}",
       value, row, col, largest_class);
}

/// One row of numbers to classes. `no_data` stands for none.
void append_row(const double* values, Index row, std::optional<double> no_data,
                const std::string& path, Labels& labels) {
  for (Index col = 0; col < labels.cols; ++col) {
    const double value = values[col];
    const bool none = no_data && (value == *no_data || (std::isnan(value) && std::isnan(*no_data)));
    labels.ids.push_back(none ? 0 : class_of(value, row, col, path));
  }
}

/// Gives every class a name and a colour: the file's where it has them, and our own for the rest.
/// `colours` and `names` start with class 1.
void complete_classes(std::vector<std::string> names, const std::vector<Colour>& colours,
                      const std::string& path, Labels& labels) {
  const std::int32_t largest =
      labels.ids.empty() ? 0 : *std::max_element(labels.ids.begin(), labels.ids.end());
  if (largest == 0) fail(path, "has no labelled pixel: all {} are 0 or no-data", labels.pixels());
  names.resize(std::max(names.size(), static_cast<size_t>(largest)));
  for (size_t c = 0; c < names.size(); ++c)
    if (names[c].empty()) names[c] = fmt::format("class {}", c + 1);
  labels.colours = default_colours(static_cast<Index>(names.size()));
  std::copy_n(colours.begin(), std::min(colours.size(), names.size()), labels.colours.begin());
  labels.names = std::move(names);
}

std::vector<std::string> category_names(GDALRasterBand& band) {
  std::vector<std::string> names;
  char** categories = band.GetCategoryNames();
  if (categories == nullptr || *categories == nullptr) return names;
  for (++categories; *categories != nullptr; ++categories)
    names.emplace_back(*categories);  // the first, skipped, is that of 0
  return names;
}

std::vector<Colour> table_colours(GDALRasterBand& band) {
  std::vector<Colour> colours;
  const GDALColorTable* table = band.GetColorTable();
  if (table == nullptr) return colours;
  for (int i = 1; i < table->GetColorEntryCount(); ++i) {
    GDALColorEntry entry;
    table->GetColorEntryAsRGB(i, &entry);
    colours.push_back({static_cast<std::uint8_t>(entry.c1), static_cast<std::uint8_t>(entry.c2),
                       static_cast<std::uint8_t>(entry.c3)});
  }
  return colours;
}

std::map<std::string, std::string> our_metadata(GDALDataset& dataset) {
  std::map<std::string, std::string> metadata;
  char** items = dataset.GetMetadata();
  for (; items != nullptr && *items != nullptr; ++items) {
    const std::string_view item = *items;
    const size_t middle = std::min(item.find('='), item.size());
    if (item.starts_with("HYPERATOM_") && middle < item.size())
      metadata.emplace(item.substr(0, middle), item.substr(middle + 1));
  }
  return metadata;
}

void read_values(GDALRasterBand& band, const std::string& path, Labels& labels) {
  int has_no_data = 0;
  const double no_data = band.GetNoDataValue(&has_no_data);
  std::vector<double> values(static_cast<size_t>(labels.cols));
  labels.ids.reserve(static_cast<size_t>(labels.pixels()));
  for (Index row = 0; row < labels.rows; ++row) {
    const GdalMessages messages;
    if (band.RasterIO(GF_Read, 0, static_cast<int>(row), band.GetXSize(), 1, values.data(),
                      band.GetXSize(), 1, GDT_Float64, 0, 0, nullptr) != CE_None)
      fail(path, "row {} can't be read: {}", row, messages.text());
    append_row(values.data(), row, has_no_data ? std::optional(no_data) : std::nullopt, path,
               labels);
  }
}

void expect_size(const std::string& path, Index rows, Index cols, const SceneInfo& scene) {
  if (rows != scene.rows || cols != scene.cols)
    fail(path, "has {} x {} pixels (rows x columns), expected {} x {} as {} has", rows, cols,
         scene.rows, scene.cols, scene.path);
}

/// `scene` may be null.
LabelsRead read_gdal(const fs::path& path, const SceneInfo* scene) {
  // Names of classes in a GeoTIFF are in the .aux.xml beside it.
  const CPLConfigOptionSetter with_aux_xml("GDAL_PAM_ENABLED", "YES", false);
  const Dataset dataset = open_raster(path);
  if (dataset->GetRasterCount() != 1)
    fail(path.string(), "has {} bands, expected one with class numbers", dataset->GetRasterCount());
  GDALRasterBand& band = *dataset->GetRasterBand(1);
  if (GDALDataTypeIsComplex(band.GetRasterDataType()))
    fail(path.string(), "holds complex numbers, expected whole ones");
  if (scene != nullptr) {
    expect_size(path.string(), band.GetYSize(), band.GetXSize(), *scene);
    expect_same_place(*dataset, path.string(), *scene);
  }
  check_raw_size(*dataset, path);
  LabelsRead result;
  result.labels.rows = band.GetYSize();
  result.labels.cols = band.GetXSize();
  read_values(band, path.string(), result.labels);
  // After the no-data value: GDAL loads the .aux.xml for that, but not for the names.
  complete_classes(category_names(band), table_colours(band), path.string(), result.labels);
  result.metadata = our_metadata(*dataset);
  return result;
}

/// `scene` may be null.
LabelsRead read_array_labels(const fs::path& path, const SceneInfo* scene,
                             const std::string& variable) {
  const std::string wanted =
      scene != nullptr ? fmt::format("{} x {} pixels", scene->rows, scene->cols) : "rows x cols";
  const auto fits = [scene](const ArrayInfo& info) {
    return info.shape.size() == 2 &&
           (scene == nullptr || (info.shape[0] == scene->rows && info.shape[1] == scene->cols));
  };
  const NumericArray array = read_fitting_array(path, variable, wanted, fits);
  if (array.dimensions() != 2)
    fail(path.string(), "{} has {} dimensions, expected rows x cols", array.info.text(),
         array.dimensions());
  LabelsRead result;
  result.labels.rows = array.info.shape[0];
  result.labels.cols = array.info.shape[1];
  if (scene != nullptr) expect_size(path.string(), result.labels.rows, result.labels.cols, *scene);
  for (Index row = 0; row < result.labels.rows; ++row)
    append_row(array.read_rows(row, 1).data(), row, std::nullopt, path.string(), result.labels);
  complete_classes({}, {}, path.string(), result.labels);
  return result;
}

}  // namespace

LabelsRead read_labels(const fs::path& path, const SceneInfo& scene, const LabelOptions& options) {
  if (is_array_file(path)) return read_array_labels(path, &scene, options.variable);
  expect_no_variable(path, options.variable);
  if (is_vector_file(path)) return read_vector_labels(path, scene, options);
  if (!options.class_field.empty() && fs::exists(path))
    fail(path.string(), "is no vector data and has no field \"{}\"", options.class_field);
  return read_gdal(path, &scene);
}

LabelsRead read_label_raster(const fs::path& path, const std::string& variable) {
  if (is_array_file(path)) return read_array_labels(path, nullptr, variable);
  expect_no_variable(path, variable);
  return read_gdal(path, nullptr);
}

}  // namespace hyperatom
