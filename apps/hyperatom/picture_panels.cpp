#include "apps/hyperatom/picture_panels.hpp"

#include <algorithm>

namespace hyperatom::cli {
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
