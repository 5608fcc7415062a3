#include "hyperatom/report/composite.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace hyperatom {
namespace {

using Triple = std::array<double, 3>;

/// The bands nearest to these wavelengths (micrometres), if they are near enough to be called so.
std::optional<std::array<Index, 3>> bands_at(const Vector& wavelengths, const Triple& wanted) {
  constexpr double near = 0.05;
  std::array<Index, 3> bands{};
  for (size_t k = 0; k < 3; ++k)
    if (wavelengths.size() == 0 ||
        (wavelengths.array() - wanted[k]).abs().minCoeff(&bands[k]) > near)
      return std::nullopt;
  return bands;
}

void choose_bands(const SceneInfo& info, Composite& composite) {
  if (const auto bands = bands_at(info.wavelengths, {0.86, 0.66, 0.56})) {
    composite.kind = "false colour";
    composite.bands = *bands;
  } else if (const auto visible = bands_at(info.wavelengths, {0.64, 0.55, 0.47})) {
    composite.kind = "true colour";
    composite.bands = *visible;
  } else {
    composite.kind = "three bands";
    composite.bands = {info.bands * 3 / 4, info.bands / 2, info.bands / 4};
  }
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

Composite make_composite(const Scene& scene) {
  Composite composite;
  choose_bands(scene.info, composite);
  composite.rgb.assign(at(3 * scene.info.pixels()), 0);
  for (size_t k = 0; k < 3; ++k) {
    const auto [low, high] = stretch(scene, composite.bands[k]);
    for (Index i = 0; i < scene.info.pixels(); ++i) {
      if (!scene.data.valid[at(i)]) continue;
      const float share =
          (scene.data.pixels(composite.bands[k], i) - low) / std::max(high - low, 1e-20F);
      composite.rgb[3 * at(i) + k] =
          static_cast<std::uint8_t>(std::lround(255 * std::clamp(share, 0.0F, 1.0F)));
    }
  }
  return composite;
}

}  // namespace hyperatom
