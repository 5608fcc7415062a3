// A synthetic scene to files, as `synth` and `demo` write it.
#pragma once

#include "apps/hyperatom/inputs.hpp"
#include "hyperatom/scene/synthetic.hpp"

namespace hyperatom::cli {

/// Strip by strip, with wavelengths, georeference and no-data.
void write_scene(SceneSource& source, const std::string& path, const RasterOptions& options,
                 Console& console);
void write_labels(const SyntheticScene& scene, const std::string& path,
                  const RasterOptions& options);

}  // namespace hyperatom::cli
