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
  const bool no_data_is_number = no_data && std::isfinite(*no_data);
  constexpr double largest = std::numeric_limits<float>::max();
  const float marker =
      no_data_is_number ? static_cast<float>(std::clamp(*no_data, -largest, largest)) : 0;
  for (Index i = 0; i < strip.pixels.cols(); ++i) {
    float* pixel = strip.pixels.data() + i * bands;
    bool finite = true, all_zero = true, marked = false;
    for (Index b = 0; b < bands; ++b) {
      finite = finite && std::isfinite(pixel[b]);
      all_zero = all_zero && pixel[b] == 0;
      marked = marked || (no_data_is_number && pixel[b] == marker);
    }
    const bool usable = finite && !all_zero && !marked;
    strip.valid[static_cast<size_t>(i)] = usable;
    if (!usable) std::fill_n(pixel, bands, 0.0f);
  }
}

}  // namespace hyperatom
