#include "apps/hyperatom/picture_panels.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace hyperatom::cli {
namespace {

std::array<Index, 3> display_bands(const SceneInfo& info) {
  if (info.wavelengths.size() == 0) return {info.bands * 3 / 4, info.bands / 2, info.bands / 4};
  std::array<Index, 3> bands{};
  constexpr std::array wanted = {0.86, 0.66, 0.56};  // micrometres
  for (size_t k = 0; k < 3; ++k) (info.wavelengths.array() - wanted[k]).abs().minCoeff(&bands[k]);
  return bands;
}

/// Its 2nd and 98th percentile among valid pixels.
std::pair<float, float> stretch(const Scene& scene, Index band) {
  std::vector<float> values;
  for (Index i = 0; i < scene.info.pixels(); ++i)
    if (scene.data.valid[at(i)]) values.push_back(scene.data.pixels(band, i));
  if (values.empty()) return {0, 1};
  std::sort(values.begin(), values.end());
  const size_t edge = values.size() / 50;
  return {values[edge], values[values.size() - 1 - edge]};
}

}  // namespace

Picture false_colour(const Scene& scene) {
  Picture picture{scene.info.rows, scene.info.cols,
                  std::vector<std::uint8_t>(at(3 * scene.info.pixels()), 0)};
  const auto bands = display_bands(scene.info);
  for (size_t k = 0; k < 3; ++k) {
    const auto [low, high] = stretch(scene, bands[k]);
    for (Index i = 0; i < scene.info.pixels(); ++i) {
      if (!scene.data.valid[at(i)]) continue;
      const float share = (scene.data.pixels(bands[k], i) - low) / std::max(high - low, 1e-20F);
      picture.rgb[3 * at(i) + k] =
          static_cast<std::uint8_t>(std::lround(255 * std::clamp(share, 0.0F, 1.0F)));
    }
  }
  return picture;
}

Picture class_picture(const Labels& labels, Colour none) {
  Picture picture{labels.rows, labels.cols, {}};
  for (const std::int32_t id : labels.ids)
    for (const std::uint8_t value : id == 0 ? none : labels.colours[static_cast<size_t>(id) - 1])
      picture.rgb.push_back(value);
  return picture;
}

Picture side_by_side(const std::vector<Picture>& panels, Index enlarge) {
  constexpr Index gap = 8;
  Picture all{panels.front().rows * enlarge, -gap, {}};
  for (const Picture& panel : panels) all.cols += panel.cols * enlarge + gap;
  all.rgb.assign(at(3 * all.rows * all.cols), 255);
  Index left = 0;
  for (const Picture& panel : panels) {
    for (Index row = 0; row < all.rows; ++row)
      for (Index col = 0; col < panel.cols * enlarge; ++col)
        std::copy_n(panel.rgb.begin() + 3 * (row / enlarge * panel.cols + col / enlarge), 3,
                    all.rgb.begin() + 3 * (row * all.cols + left + col));
    left += panel.cols * enlarge + gap;
  }
  return all;
}

}  // namespace hyperatom::cli
