#include "hyperatom/scene/labels.hpp"

#include <iterator>

namespace hyperatom {
namespace {

// By scripts/make_palette.py: Okabe and Ito's palette without its black, which maps use for no
// data, then whatever is farthest from all before, also for the colour-blind. In OKLab any two of
// the first 16 are at least 0.076 apart by every vision, any two of all 0.056.
constexpr Colour palette[] = {{230, 159, 0},   {86, 180, 233},  {0, 158, 115},   {240, 228, 66},
                              {0, 114, 178},   {213, 94, 0},    {204, 121, 167}, {102, 51, 25},
                              {153, 255, 255}, {25, 25, 153},   {153, 102, 255}, {153, 51, 102},
                              {178, 204, 178}, {102, 0, 229},   {229, 255, 178}, {153, 178, 127},
                              {204, 0, 153},   {51, 102, 0},    {0, 229, 229},   {204, 51, 204},
                              {76, 51, 102},   {204, 229, 178}, {204, 0, 0},     {127, 102, 76},
                              {178, 127, 255}, {204, 204, 0},   {127, 25, 178},  {229, 127, 51},
                              {127, 51, 255},  {204, 153, 178}, {153, 229, 127}, {76, 204, 229}};

/// Hue, saturation and value in [0, 1].
Colour from_hsv(double h, double s, double v) {
  const double x = 6 * h;
  const int sector = static_cast<int>(x) % 6;
  const double f = x - static_cast<int>(x);
  const double p = v * (1 - s), q = v * (1 - s * f), t = v * (1 - s * (1 - f));
  const double rgb[6][3] = {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}};
  Colour colour;
  for (size_t k = 0; k < 3; ++k) colour[k] = static_cast<std::uint8_t>(255 * rgb[sector][k] + 0.5);
  return colour;
}

}  // namespace

std::vector<Index> Labels::counts() const {
  std::vector<Index> counts(names.size(), 0);
  for (const std::int32_t label : ids)
    if (label > 0) ++counts[static_cast<size_t>(label) - 1];
  return counts;
}

std::vector<Index> Labels::counts(std::span<const Index> pixels) const {
  std::vector<Index> counts(names.size(), 0);
  for (const Index pixel : pixels)
    if (id(pixel) > 0) ++counts[static_cast<size_t>(id(pixel)) - 1];
  return counts;
}

std::vector<Colour> default_colours(Index classes) {
  std::vector<Colour> colours;
  for (Index c = 0; c < classes; ++c) {
    if (c < static_cast<Index>(std::size(palette))) {
      colours.push_back(palette[c]);
      continue;
    }
    // Nobody tells so many apart by colour alone: hues a golden angle apart, on three levels of
    // lightness, so that neighbours in the list differ in both.
    const double hue = static_cast<double>(c) * 0.61803398874989485;
    constexpr double saturation[] = {0.85, 0.55, 0.95}, value[] = {0.9, 0.95, 0.6};
    colours.push_back(from_hsv(hue - static_cast<double>(static_cast<Index>(hue)),
                               saturation[c % 3], value[c % 3]));
  }
  return colours;
}

}  // namespace hyperatom
