#include "hyperatom/scene/neighborhoods.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hyperatom/base/error.hpp"
#include "tests/support/problems.hpp"

namespace hyperatom {
namespace {

std::vector<Index> window_at(Index size, const std::vector<char>& valid, Index rows, Index cols,
                             Index row, Index col) {
  std::vector<Index> window(static_cast<size_t>(size));
  Neighborhoods(size).gather(valid, rows, cols, row, col, window);
  return window;
}

TEST(Neighborhoods, SquaresInTheMiddle) {
  const std::vector<char> valid(15 * 15, 1);
  for (const Index side : {1, 3, 5, 7, 9}) {
    const std::vector<Index> window = window_at(side * side, valid, 15, 15, 7, 7);
    EXPECT_EQ(window[0], 7 * 15 + 7);
    std::set<Index> expected;
    for (Index r = 7 - side / 2; r <= 7 + side / 2; ++r)
      for (Index c = 7 - side / 2; c <= 7 + side / 2; ++c) expected.insert(r * 15 + c);
    EXPECT_EQ(std::set<Index>(window.begin(), window.end()), expected) << side;
  }
}

TEST(Neighborhoods, AnySizeTakesTheNextRingByDistance) {
  const std::vector<char> valid(11 * 11, 1);
  EXPECT_EQ(window_at(5, valid, 11, 11, 5, 5), (std::vector<Index>{60, 49, 59, 61, 71}));
  // 3 x 3, then the four at distance two in a straight line.
  const std::vector<Index> window = window_at(13, valid, 11, 11, 5, 5);
  const std::set<Index> last(window.begin() + 9, window.end());
  EXPECT_EQ(last, (std::set<Index>{5 * 11 + 3, 5 * 11 + 7, 3 * 11 + 5, 7 * 11 + 5}));
}

TEST(Neighborhoods, CornersReachInwards) {
  const std::vector<char> valid(6 * 6, 1);
  const std::vector<Index> window = window_at(9, valid, 6, 6, 0, 0);
  std::set<Index> expected;
  for (Index r = 0; r < 3; ++r)
    for (Index c = 0; c < 3; ++c) expected.insert(r * 6 + c);
  EXPECT_EQ(std::set<Index>(window.begin(), window.end()), expected);
}

/// The definition, written out: all valid pixels within reach, sorted; the first S, or all of them
/// over and over.
TEST(Neighborhoods, RandomMasksAgainstTheDefinition) {
  test::Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Index rows = 1 + random.below(12), cols = 1 + random.below(12),
                size = 1 + random.below(60);
    std::vector<char> valid(static_cast<size_t>(rows * cols));
    const double share = random.uniform();
    for (char& v : valid) v = random.uniform() < share;
    const Index centre = random.below(rows * cols);
    valid[static_cast<size_t>(centre)] = 1;
    Index half = 0;
    while ((2 * half + 1) * (2 * half + 1) < size) ++half;
    std::vector<std::array<Index, 5>> found;
    for (Index i = 0; i < rows * cols; ++i) {
      const Index dr = i / cols - centre / cols, dc = i % cols - centre % cols;
      const Index ring = std::max(std::abs(dr), std::abs(dc));
      if (valid[static_cast<size_t>(i)] && ring <= 2 * half)
        found.push_back({ring, dr * dr + dc * dc, dr, dc, i});
    }
    std::sort(found.begin(), found.end());
    const std::vector<Index> window =
        window_at(size, valid, rows, cols, centre / cols, centre % cols);
    for (size_t s = 0; s < window.size(); ++s) EXPECT_EQ(window[s], found[s % found.size()][4]);
    EXPECT_EQ(window[0], centre);
  }
}

TEST(Neighborhoods, AbsurdSizesAreRefused) {
  EXPECT_THROW(Neighborhoods(0), OptionError);
  EXPECT_THROW(Neighborhoods(-1), OptionError);
  EXPECT_THROW(Neighborhoods(10001), OptionError);
}

}  // namespace
}  // namespace hyperatom
