// A hyperspectral scene: its description, its pixels, and the way to read them piece by piece.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

/// Where a scene lies. Kept as text so that only io knows what it means.
struct Georeference {
  std::string crs;  ///< WKT; empty when unknown
  /// Map coordinates of a point: x = t0 + t1 col + t2 row, y = t3 + t4 col + t5 row. Absent when
  /// unknown.
  std::optional<std::array<double, 6>> transform;
};

/// What is known of a scene before a pixel is read.
struct SceneInfo {
  std::string path;    ///< what messages call it
  std::string format;  ///< e.g. "ENVI"
  Index rows = 0;
  Index cols = 0;
  Index bands = 0;                       ///< that a reader gives: the good ones
  std::vector<Index> source_bands = {};  ///< where they are in the file, from 0
  Vector wavelengths = {};               ///< micrometres, one per band; empty when unknown
  std::optional<double> no_data = {};
  Georeference georeference = {};
  std::vector<std::string> notes =
      {};  ///< what a user should know: bands left out, units guessed, ...

  Index pixels() const { return rows * cols; }
};

/// Some rows of a scene.
struct Strip {
  MatrixF pixels;           ///< bands x (rows * cols), row by row
  std::vector<char> valid;  ///< per pixel: no no-data, nothing that is not finite, not all zero
};

/// A scene that can be read by rows, as often as needed, from one thread at a time.
class SceneSource {
 public:
  virtual ~SceneSource() = default;
  virtual const SceneInfo& info() const = 0;
  /// Rows [first, first + count). Throws DataError or IoError.
  virtual void read(Index first, Index count, Strip& strip) = 0;
};

/// A whole scene in memory.
struct Scene {
  SceneInfo info;
  Strip data;
};

Scene read_all(SceneSource& source);

/// A source over a scene in memory, which must outlive it.
std::unique_ptr<SceneSource> make_source(const Scene& scene);

/// Marks what can't be used: `no_data` or a value that is not finite in any band, zero in all. An
/// unusable pixel is set to zero, so that it can do no harm.
void mark_valid(Strip& strip, std::optional<double> no_data);

}  // namespace hyperatom
