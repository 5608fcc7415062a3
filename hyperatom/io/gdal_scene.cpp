#include "hyperatom/io/gdal_scene.hpp"

#include <gdal_priv.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "hyperatom/base/safetensors.hpp"
#include "hyperatom/io/band_metadata.hpp"
#include "hyperatom/io/data_error.hpp"
#include "hyperatom/io/gdal.hpp"
#include "hyperatom/io/place.hpp"
#include "hyperatom/io/raw_cube.hpp"
#include "hyperatom/io/raw_size.hpp"

namespace hyperatom {
namespace {

/// A value as GDAL converts it to float.
std::optional<float> as_float(std::optional<double> value) {
  constexpr double largest = std::numeric_limits<float>::max();
  if (!value || std::isnan(*value)) return std::nullopt;
  return static_cast<float>(std::clamp(*value, -largest, largest));
}

std::optional<double> no_data_of(GDALRasterBand& band) {
  int found = FALSE;
  double value = 0;
  if (band.GetRasterDataType() == GDT_Int64)
    value = static_cast<double>(band.GetNoDataValueAsInt64(&found));
  else if (band.GetRasterDataType() == GDT_UInt64)
    value = static_cast<double>(band.GetNoDataValueAsUInt64(&found));
  else
    value = band.GetNoDataValue(&found);
  return found != FALSE ? std::optional(value) : std::nullopt;
}

/// How the stored values of a band become ours.
struct BandScale {
  std::optional<float> no_data;
  float gain = 1;
  float offset = 0;
};

BandScale scale_of(GDALRasterBand& band, const std::string& path) {
  int has_gain = FALSE, has_offset = FALSE;
  const double gain = band.GetScale(&has_gain);
  const double offset = band.GetOffset(&has_offset);
  BandScale scale{as_float(no_data_of(band)), 1, 0};
  if (has_gain != FALSE) scale.gain = static_cast<float>(gain);
  if (has_offset != FALSE) scale.offset = static_cast<float>(offset);
  if (!std::isnormal(scale.gain) || !std::isfinite(scale.offset))
    fail(path, "found gain {} and offset {} of band {}, expected finite numbers and no gain of 0",
         gain, offset, band.GetBand());
  return scale;
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

class GdalSource final : public SceneSource {
 public:
  GdalSource(Dataset dataset, SceneInfo info)
      : dataset_(std::move(dataset)),
        info_(std::move(info)),
        raw_(RawCube::open(*dataset_, info_.path)) {
    for (const Index band : info_.source_bands) {
      gdal_bands_.push_back(static_cast<int>(band) + 1);
      scales_.push_back(scale_of(*dataset_->GetRasterBand(gdal_bands_.back()), info_.path));
    }
    scaled_ = std::ranges::any_of(
        scales_, [](const BandScale& scale) { return scale.gain != 1 || scale.offset != 0; });
    marked_ = std::ranges::any_of(scales_,
                                  [](const BandScale& scale) { return scale.no_data.has_value(); });
    no_data_.resize(info_.bands);
    for (Index b = 0; b < info_.bands; ++b)
      no_data_[b] = scales_[static_cast<size_t>(b)].no_data.value_or(nan);
  }

  const SceneInfo& info() const override { return info_; }

  void read(Index first, Index count, Strip& strip) override {
    read_stored(first, count, strip.pixels);
    // No-data becomes NaN, since it may differ from band to band; both are marked before scaling,
    // which could make zero of something or something of zero.
    if (marked_) {
      for (Index i = 0; i < strip.pixels.cols(); ++i) {
        float* pixel = strip.pixels.data() + i * info_.bands;
        for (Index b = 0; b < info_.bands; ++b) pixel[b] = pixel[b] == no_data_[b] ? nan : pixel[b];
      }
    }
    mark_valid(strip, std::nullopt);
    if (scaled_) scale(strip);
  }

 private:
  void read_stored(Index first, Index count, MatrixF& pixels) {
    if (raw_) return raw_->read(first, count, info_.source_bands, pixels);
    pixels.resize(info_.bands, count * info_.cols);
    constexpr GSpacing item = sizeof(float);
    const int cols = static_cast<int>(info_.cols), rows = static_cast<int>(count);
    const GdalMessages messages;
    const CPLErr error =
        dataset_->RasterIO(GF_Read, 0, static_cast<int>(first), cols, rows, pixels.data(), cols,
                           rows, GDT_Float32, static_cast<int>(info_.bands), gdal_bands_.data(),
                           item * info_.bands, item * info_.bands * info_.cols, item, nullptr);
    if (error != CE_None || messages.failed())
      fail(info_.path, "rows {} to {} can't be read: {}", first + 1, first + count,
           messages.text());
  }

  void scale(Strip& strip) const {
    for (Index i = 0; i < strip.pixels.cols(); ++i) {
      char& valid = strip.valid[static_cast<size_t>(i)];
      if (valid == 0) continue;
      auto pixel = strip.pixels.col(i);
      for (Index b = 0; b < info_.bands; ++b) {
        const BandScale& scale = scales_[static_cast<size_t>(b)];
        pixel[b] = pixel[b] * scale.gain + scale.offset;
      }
      valid = pixel.allFinite();
      if (valid == 0) pixel.setZero();
    }
  }

  Dataset dataset_;
  SceneInfo info_;
  std::unique_ptr<RawCube> raw_;  // null: GDAL reads
  std::vector<int> gdal_bands_;
  std::vector<BandScale> scales_;
  Eigen::VectorXf no_data_;  // of every band; NaN, which equals nothing, where there is none
  bool scaled_ = false, marked_ = false;
};

Georeference read_georeference(GDALDataset& dataset) {
  Georeference georeference;
  georeference.crs = dataset.GetProjectionRef();
  std::array<double, 6> transform{};
  if (dataset.GetGeoTransform(transform.data()) == CE_None &&
      std::ranges::all_of(transform, [](double value) { return std::isfinite(value); }))
    georeference.transform = transform;
  return georeference;
}

void check_bands(GDALDataset& dataset, const std::string& path) {
  if (dataset.GetRasterCount() < 1) fail(path, "found no bands, expected a raster");
  for (auto&& band : dataset.GetBands())
    if (GDALDataTypeIsComplex(band->GetRasterDataType()) != FALSE)
      fail(path, "found complex numbers ({}) in band {}, expected real ones",
           GDALGetDataTypeName(band->GetRasterDataType()), band->GetBand());
}

/// GDAL takes a text for 0.
void check_ignore_value(GDALDataset& dataset, const std::string& path) {
  const char* text = dataset.GetMetadataItem("data_ignore_value", "ENVI");
  if (text != nullptr && CPLGetValueType(text) == CPL_VALUE_STRING && !EQUAL(text, "nan"))
    fail(path,
         "found data ignore value = {} in the ENVI header, expected a number, or no such line",
         in_quotes(text));
}

void add_envi_notes(GDALDataset& dataset, std::vector<std::string>& notes) {
  if (const char* factor = dataset.GetMetadataItem("reflectance_scale_factor", "ENVI"))
    notes.push_back(fmt::format("the header's reflectance scale factor {} is not applied", factor));
  const char* compression = dataset.GetMetadataItem("file_compression", "ENVI");
  if (compression != nullptr && std::string_view(compression) != "0")
    notes.emplace_back("the file is compressed as a whole: reading it in parts is slow");
}

SceneInfo describe(GDALDataset& dataset, const std::string& path) {
  SceneInfo info;
  info.path = path;
  info.format = dataset.GetDriverName();
  info.rows = dataset.GetRasterYSize();
  info.cols = dataset.GetRasterXSize();
  info.source_bands = read_good_bands(dataset, path, info.notes);
  info.bands = static_cast<Index>(info.source_bands.size());
  if (const Vector all = read_wavelengths(dataset, path, info.notes); all.size() > 0)
    info.wavelengths = all(info.source_bands);
  info.no_data = no_data_of(*dataset.GetRasterBand(static_cast<int>(info.source_bands[0]) + 1));
  info.georeference = read_georeference(dataset);
  add_envi_notes(dataset, info.notes);
  return info;
}

}  // namespace

std::unique_ptr<SceneSource> open_gdal_scene(const std::filesystem::path& path) {
  Dataset dataset = open_raster(path);
  const GdalMessages messages;  // what has no consequence is of no interest
  check_bands(*dataset, path.string());
  check_raw_size(*dataset, path);
  check_ignore_value(*dataset, path.string());
  SceneInfo info = describe(*dataset, path.string());
  make_room_for_blocks(*dataset);
  return std::make_unique<GdalSource>(std::move(dataset), std::move(info));
}

std::vector<char> read_gdal_mask(const std::filesystem::path& path, const SceneInfo& scene) {
  const Index rows = scene.rows, cols = scene.cols;
  const Dataset dataset = open_raster(path);
  const GdalMessages messages;
  check_bands(*dataset, path.string());
  check_raw_size(*dataset, path);
  if (dataset->GetRasterYSize() != rows || dataset->GetRasterXSize() != cols)
    fail(path.string(), "found a mask of {} x {} pixels, expected the scene's {} x {}",
         dataset->GetRasterYSize(), dataset->GetRasterXSize(), rows, cols);
  expect_same_place(*dataset, path.string(), scene);
  GDALRasterBand& band = *dataset->GetRasterBand(1);
  std::vector<double> values(static_cast<size_t>(rows * cols));
  const int width = static_cast<int>(cols), height = static_cast<int>(rows);
  if (band.RasterIO(GF_Read, 0, 0, width, height, values.data(), width, height, GDT_Float64, 0, 0,
                    nullptr) != CE_None ||
      messages.failed())
    fail(path.string(), "can't be read: {}", messages.text());
  const std::optional<double> no_data = no_data_of(band);
  std::vector<char> valid(values.size());
  std::ranges::transform(values, valid.begin(), [&](double value) {
    return value != 0 && !std::isnan(value) && value != no_data;
  });
  return valid;
}

}  // namespace hyperatom
