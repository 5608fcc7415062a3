#include "apps/hyperatom/synthesis.hpp"

#include <fmt/format.h>

#include <limits>

#include "apps/hyperatom/interrupt.hpp"

namespace hyperatom::cli {

void write_scene(SceneSource& source, const std::string& path, const RasterOptions& options,
                 Console& console) {
  constexpr Index strip_rows = 32;
  const SceneInfo& info = source.info();
  RasterContent content{.type = RasterContent::Type::values, .bands = {}};
  for (Index b = 0; b < info.bands; ++b) content.bands.push_back(fmt::format("band {}", b + 1));
  content.wavelengths = info.wavelengths;
  if (info.no_data) content.no_data = static_cast<float>(*info.no_data);
  RasterWriter writer(path, info.rows, info.cols, info.georeference, content, options);
  Progress progress(console, "writing " + path, static_cast<double>(info.rows), "rows");
  Strip strip;
  for (Index first = 0; first < info.rows; first += strip_rows) {
    const Index count = std::min(strip_rows, info.rows - first);
    source.read(first, count, strip);
    for (Index i = 0; i < count * info.cols; ++i)
      if (!strip.valid[static_cast<size_t>(i)])
        strip.pixels.col(i).setConstant(std::numeric_limits<float>::quiet_NaN());
    writer.write(first, count, strip.pixels);
    progress.update(static_cast<double>(first + count));
    if (interrupted()) throw Interrupted();
  }
  writer.finish();
}

void write_labels(const SyntheticScene& scene, const std::string& path,
                  const RasterOptions& options) {
  const Labels& labels = scene.labels();
  const RasterContent content{.class_names = labels.names, .class_colours = labels.colours};
  RasterWriter writer(path, labels.rows, labels.cols, scene.info().georeference, content, options);
  writer.write(0, labels.rows, labels.ids);
  writer.finish();
}

}  // namespace hyperatom::cli
