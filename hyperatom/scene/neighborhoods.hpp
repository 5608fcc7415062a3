// The window of a pixel: the S valid pixels closest to it, itself first.
//
// Closest by rings (larger of the distances in rows and columns), within a ring by distance, then
// row, then column. So S = 9, 25, 49, 81 are squares, and every S in between is part of the next
// ring. At the scene's edges, and next to pixels that are not valid, the window reaches further on
// the other side, up to twice its usual reach; if there are not enough valid pixels even so, those
// there are repeat in order, so that a window always has S pixels and lambda1 the same meaning.
#pragma once

#include <span>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

class Neighborhoods {
 public:
  /// Throws OptionError unless 1 <= size <= 10,000.
  explicit Neighborhoods(Index size);

  Index size() const { return size_; }
  /// How many rows above and below, or columns left and right, a window may reach.
  Index reach() const { return reach_; }

  /// The window of the valid pixel (row, col) in a block of rows x cols pixels given by `valid`,
  /// row by row: the pixels' places in the block. `window` has size() entries.
  void gather(std::span<const char> valid, Index rows, Index cols, Index row, Index col,
              std::span<Index> window) const;

 private:
  struct Offset {
    Index row, col;
  };

  Index size_;
  Index reach_;
  std::vector<Offset> offsets_;
};

}  // namespace hyperatom
