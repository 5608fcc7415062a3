#include "hyperatom/scene/scene.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyperatom {
namespace {

class MemorySource final : public SceneSource {
 public:
  explicit MemorySource(const Scene& scene) : scene_(scene) {}

  const SceneInfo& info() const override { return scene_.info; }

  void read(Index first, Index count, Strip& strip) override {
    const Index cols = scene_.info.cols;
    strip.pixels = scene_.data.pixels.middleCols(first * cols, count * cols);
    const auto begin = scene_.data.valid.begin() + first * cols;
    strip.valid.assign(begin, begin + count * cols);
  }

 private:
  const Scene& scene_;
};

}  // namespace

Scene read_all(SceneSource& source) {
  Scene scene{source.info(), {}};
  source.read(0, scene.info.rows, scene.data);
  return scene;
}

std::unique_ptr<SceneSource> make_source(const Scene& scene) {
  return std::make_unique<MemorySource>(scene);
}

void mark_valid(Strip& strip, std::optional<double> no_data) {
  const Index bands = strip.pixels.rows();
  strip.valid.resize(static_cast<size_t>(strip.pixels.cols()));
  constexpr double largest = std::numeric_limits<float>::max();
  const float marker = no_data && std::isfinite(*no_data)
                           ? static_cast<float>(std::clamp(*no_data, -largest, largest))
                           : std::numeric_limits<float>::quiet_NaN();  // equals nothing
  for (Index i = 0; i < strip.pixels.cols(); ++i) {
    float* pixel = strip.pixels.data() + i * bands;
    int unusable = 0, not_zero = 0;  // without branches, so that bands go in packs
    for (Index b = 0; b < bands; ++b) {
      unusable |= static_cast<int>(pixel[b] - pixel[b] != 0) | static_cast<int>(pixel[b] == marker);
      not_zero |= static_cast<int>(pixel[b] != 0);
    }
    const bool usable = unusable == 0 && not_zero != 0;
    strip.valid[static_cast<size_t>(i)] = usable;
    if (!usable) std::fill_n(pixel, bands, 0.0f);
  }
}

}  // namespace hyperatom
