#include "hyperatom/learn/samples.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/sha256.hpp"

namespace hyperatom {

Matrix Samples::window_pixels(Index i) const {
  Matrix X(bands(), window());
  for (Index s = 0; s < window(); ++s) X.col(s) = pixels.col(windows(s, i));
  return X;
}

void validate(const Samples& samples) {
  const auto require = [](bool holds, const std::string& message) {
    if (!holds) throw DataError("training samples: " + message);
  };
  require(samples.size() > 0 && samples.window() > 0 && samples.bands() > 0, "there are none");
  require(static_cast<Index>(samples.labels.size()) == samples.size(),
          fmt::format("{} labels for {} windows", samples.labels.size(), samples.size()));
  require(samples.windows.minCoeff() >= 0 && samples.windows.maxCoeff() < samples.pixels.cols(),
          fmt::format("a window lists a pixel outside 0 .. {}", samples.pixels.cols() - 1));
  require(samples.pixels.allFinite(), "a pixel has a value that is not finite");
  std::vector<Index> count(static_cast<size_t>(samples.classes), 0);
  for (const Index label : samples.labels) {
    require(label >= 0 && label < samples.classes,
            fmt::format("label {} outside 0 .. {}", label, samples.classes - 1));
    ++count[static_cast<size_t>(label)];
  }
  for (size_t c = 0; c < count.size(); ++c)
    require(count[c] > 0, fmt::format("class {} has no sample", c + 1));
  require(samples.weights.empty() || static_cast<Index>(samples.weights.size()) == samples.size(),
          fmt::format("{} weights for {} windows", samples.weights.size(), samples.size()));
  for (const double weight : samples.weights)
    require(weight >= 0 && std::isfinite(weight),
            fmt::format("weight {}, expected 0 or greater", weight));
}

Samples subset(const Samples& samples, std::span<const Index> which) {
  std::vector<Index> place(static_cast<size_t>(samples.pixels.cols()), -1), kept;
  Samples part;
  part.classes = samples.classes;
  part.windows.resize(samples.window(), static_cast<Index>(which.size()));
  for (Index i = 0; i < part.size(); ++i) {
    const Index sample = which[static_cast<size_t>(i)];
    part.labels.push_back(samples.label(sample));
    if (!samples.weights.empty())
      part.weights.push_back(samples.weights[static_cast<size_t>(sample)]);
    for (Index s = 0; s < samples.window(); ++s) {
      const Index pixel = samples.windows(s, sample);
      Index& placed = place[static_cast<size_t>(pixel)];
      if (placed < 0) {
        placed = static_cast<Index>(kept.size());
        kept.push_back(pixel);
      }
      part.windows(s, i) = placed;
    }
  }
  part.pixels.resize(samples.bands(), static_cast<Index>(kept.size()));
  for (size_t k = 0; k < kept.size(); ++k)
    part.pixels.col(static_cast<Index>(k)) = samples.pixels.col(kept[k]);
  return part;
}

std::string fingerprint(const Samples& samples) {
  Sha256 hash;
  const auto add = [&](const auto* data, Index count) {
    hash.update(std::as_bytes(std::span(data, static_cast<size_t>(count))));
  };
  const Index shape[] = {samples.bands(), samples.window(), samples.size(), samples.classes};
  add(shape, 4);
  add(samples.pixels.data(), samples.pixels.size());
  add(samples.windows.data(), samples.windows.size());
  add(samples.labels.data(), static_cast<Index>(samples.labels.size()));
  add(samples.weights.data(), static_cast<Index>(samples.weights.size()));
  return hash.hex_digest();
}

}  // namespace hyperatom
