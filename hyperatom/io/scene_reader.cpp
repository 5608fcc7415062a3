#include "hyperatom/io/scene_reader.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "hyperatom/io/array_file.hpp"
#include "hyperatom/io/data_error.hpp"
#include "hyperatom/io/gdal_scene.hpp"

namespace hyperatom {
namespace {

/// A cube from a .mat or .npy file, kept in the file's type.
class ArraySource final : public SceneSource {
 public:
  ArraySource(const std::filesystem::path& path, NumericArray array) : array_(std::move(array)) {
    info_.path = path.string();
    info_.format = name(array_format(path).value());
    info_.rows = array_.info.shape[0];
    info_.cols = array_.info.shape[1];
    info_.bands = array_.info.shape[2];
    info_.source_bands.resize(static_cast<size_t>(info_.bands));
    std::iota(info_.source_bands.begin(), info_.source_bands.end(), Index{0});
  }

  const SceneInfo& info() const override { return info_; }

  void read(Index first, Index count, Strip& strip) override {
    array_.read_rows(first, count, strip.pixels);
    mark_valid(strip, std::nullopt);
  }

 private:
  NumericArray array_;
  SceneInfo info_;
};

/// Another source, of which fewer pixels are valid.
class MaskedSource final : public SceneSource {
 public:
  MaskedSource(std::unique_ptr<SceneSource> source, std::vector<char> mask)
      : source_(std::move(source)), mask_(std::move(mask)) {}

  const SceneInfo& info() const override { return source_->info(); }

  void read(Index first, Index count, Strip& strip) override {
    source_->read(first, count, strip);
    const Index begin = first * info().cols;
    for (Index i = 0; i < strip.pixels.cols(); ++i) {
      if (mask_[static_cast<size_t>(begin + i)] != 0) continue;
      strip.valid[static_cast<size_t>(i)] = 0;
      strip.pixels.col(i).setZero();
    }
  }

 private:
  std::unique_ptr<SceneSource> source_;
  std::vector<char> mask_;
};

std::unique_ptr<SceneSource> open_array_scene(const std::filesystem::path& path,
                                              const std::string& variable) {
  const auto is_cube = [](const ArrayInfo& info) {
    return info.shape.size() == 3 && std::ranges::find(info.shape, 0) == info.shape.end();
  };
  return std::make_unique<ArraySource>(
      path, read_fitting_array(path, variable, "rows x cols x bands", is_cube));
}

std::vector<char> read_array_mask(const std::filesystem::path& path, Index rows, Index cols) {
  const NumericArray array = read_fitting_array(
      path, "", fmt::format("the scene's {} x {} pixels", rows, cols), [&](const ArrayInfo& info) {
        return info.shape == std::vector<Index>{rows, cols};
      });
  const std::vector<double> values = array.read_rows(0, rows);
  std::vector<char> valid(values.size());
  std::ranges::transform(values, valid.begin(),
                         [](double value) { return value != 0 && !std::isnan(value); });
  return valid;
}

}  // namespace

std::unique_ptr<SceneSource> open_scene(const std::filesystem::path& path,
                                        const SceneOptions& options) {
  const bool array = is_array_file(path);
  if (!array) expect_no_variable(path, options.variable);
  std::unique_ptr<SceneSource> source =
      array ? open_array_scene(path, options.variable) : open_gdal_scene(path);
  if (options.mask.empty()) return source;
  const SceneInfo& info = source->info();
  std::vector<char> mask = is_array_file(options.mask)
                               ? read_array_mask(options.mask, info.rows, info.cols)
                               : read_gdal_mask(options.mask, info);
  return std::make_unique<MaskedSource>(std::move(source), std::move(mask));
}

}  // namespace hyperatom
