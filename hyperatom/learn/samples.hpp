// The labelled windows that a model is trained on.
//
// Windows of neighbouring pixels overlap, so the pixels are held once and a window is a list of S
// of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

struct Samples {
  Matrix pixels;  ///< bands x P, normalised
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic>
      windows;                ///< S x N: column i lists the pixels of window i,
                              ///< the centre first
  std::vector<Index> labels;  ///< N: class of the centre, 0 .. classes-1
  Index classes = 0;
  std::vector<double> weights = {};  ///< N: how much each counts in training; empty: all alike

  Index size() const { return windows.cols(); }
  Index bands() const { return pixels.rows(); }
  Index window() const { return windows.rows(); }
  Index label(Index i) const { return labels[static_cast<size_t>(i)]; }

  /// bands x S.
  Matrix window_pixels(Index i) const;
  /// bands x 1.
  auto centre(Index i) const { return pixels.col(windows(0, i)); }
};

/// Throws DataError unless the parts fit together, every value is finite and every class has a
/// sample.
void validate(const Samples& samples);

/// The samples numbered `which`, with the pixels of their windows alone. Classes keep their
/// numbers.
Samples subset(const Samples& samples, std::span<const Index> which);

/// SHA-256 of everything in them.
std::string fingerprint(const Samples& samples);

}  // namespace hyperatom
