#include "hyperatom/scene/labels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace hyperatom {
namespace {

using Triple = Eigen::Vector3d;

/// In OKLab, as seen by somebody whose vision `sight` describes: linear light to linear light.
Triple seen(const Colour& colour, const Eigen::Matrix3d& sight) {
  Triple light;
  for (int k = 0; k < 3; ++k) {
    const double share = colour[static_cast<size_t>(k)] / 255.0;
    light[k] = share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
  }
  light = (sight * light).cwiseMax(0).cwiseMin(1);
  const Triple cones{0.4122214708 * light[0] + 0.5363325363 * light[1] + 0.0514459929 * light[2],
                     0.2119034982 * light[0] + 0.6806995451 * light[1] + 0.1073969566 * light[2],
                     0.0883024619 * light[0] + 0.2817188376 * light[1] + 0.6299787005 * light[2]};
  const double l = std::cbrt(cones[0]), m = std::cbrt(cones[1]), s = std::cbrt(cones[2]);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

/// The least distance of the two by four visions: all cones, without red, green, blue ones (Machado
/// and others, 2009).
double apart(const Colour& a, const Colour& b) {
  Eigen::Matrix3d sights[4];
  sights[0].setIdentity();
  sights[1] << 0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116,
      1.051998;
  sights[2] << 0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940,
      0.968881;
  sights[3] << 1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367,
      0.303900;
  double least = 1;
  for (const Eigen::Matrix3d& sight : sights)
    least = std::min(least, (seen(a, sight) - seen(b, sight)).norm());
  return least;
}

TEST(Labels, ColoursCanBeToldApartByTheColourBlind) {
  EXPECT_LT(apart({200, 60, 60}, {90, 120, 60}), 0.07);  // what some see as one brown
  const std::vector<Colour> colours = default_colours(32);
  for (size_t i = 0; i < colours.size(); ++i) {
    EXPECT_GT(apart(colours[i], {0, 0, 0}), 0.34) << "class " << i + 1 << " and no data";
    for (size_t j = 0; j < i; ++j)
      EXPECT_GT(apart(colours[i], colours[j]), i < 16 ? 0.07 : 0.05)
          << "classes " << j + 1 << " and " << i + 1;
  }
}

TEST(Labels, AClassKeepsItsColourWhenOthersAreAdded) {
  const std::vector<Colour> many = default_colours(255);
  EXPECT_EQ(std::set<Colour>(many.begin(), many.end()).size(), many.size());
  for (const Index classes : {1, 8, 16, 40}) {
    const std::vector<Colour> fewer = default_colours(classes);
    EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), many.begin())) << classes;
  }
}

}  // namespace
}  // namespace hyperatom
