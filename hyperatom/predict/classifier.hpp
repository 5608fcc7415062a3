// A model applied to a scene of any height, in memory that does not depend on it.
//
// The scene is read by strips of rows. The kernel column k(D, x) of a pixel is computed once and
// read in place for every window that holds the pixel; the columns of the last rows of a strip are
// kept for the next. Windows are coded along rows, in segments of fixed length that start afresh:
// the results are the same to the last bit for every strip height and number of threads.
#pragma once

#include <functional>

#include "hyperatom/kernel/kernel.hpp"
#include "hyperatom/learn/model.hpp"
#include "hyperatom/predict/scoring.hpp"
#include "hyperatom/scene/scene.hpp"

namespace hyperatom {

struct ClassifyOptions {
  Index ram = 1024;  ///< megabytes to stay below, as far as the width of the scene allows
  Index first = 0;   ///< rows to classify: [first, first + count)
  Index count = -1;  ///< -1: to the end
  Index first_col =
      0;               ///< columns to classify: [first_col, first_col + cols); others stay 0 or NaN
  Index cols = -1;     ///< -1: to the end
  bool codes = false;  ///< whether strips have them
};

/// The code of a pixel: of its window's, the column that is its own.
struct PixelCode {
  std::vector<std::int32_t> atoms;  ///< the active ones, ascending
  std::vector<float> weights;
  std::vector<float> parts;  ///< with which the atoms add up to nearly the pixel, both normalised
  double gap = 0;            ///< of the window, relative to its objective
};

/// Windows are coded along a row in sequences of this many columns. A scene that is classified in
/// parts gives the same map if their first columns are multiples of it.
inline constexpr Index classify_segment = 128;

/// Some rows of the result. Columns of the matrices are pixels, row by row; NaN where a pixel is
/// not valid.
struct ClassifiedStrip {
  Index first = 0;
  Index count = 0;
  std::vector<std::int32_t> ids;  ///< class ids; 0 where a pixel is not valid
  MatrixF scores;                 ///< classes x pixels
  MatrixF confidence;  ///< 1 x pixels: the probability of the class for the softmax loss, else how
                       ///< far its score is above the next, at most 1
  MatrixF novelty;     ///< 1 x pixels: share of the pixel, in feature space, that the dictionary
                       ///< leaves unexplained; NaN for an SVM, which explains nothing
  std::vector<PixelCode> codes;  ///< of every pixel, if asked for; an SVM's are empty
};

struct ClassifyReport {
  Index classified = 0;
  Index not_valid = 0;
  Index unconverged = 0;  ///< codes whose duality gap did not meet the tolerance
  double active = 0;      ///< mean number of active atoms
};

/// Why a pixel has its class.
struct Explanation {
  Index class_index = 0;           ///< from 0, among the model's classes
  std::vector<Index> window = {};  ///< pixels of the scene whose codes share their atoms, it first
  SparseCode code = {};            ///< of the window; its first column is the pixel's
  Vector scores = {};              ///< of the classes
  double confidence = 0;
  double novelty = 0;
  Eigen::VectorXf spectrum = {};  ///< the pixel as it was read
  Vector reconstruction = {};     ///< what its atoms make of it, in bands; empty for an SVM
};

class Classifier {
 public:
  /// `model` must outlive it.
  explicit Classifier(const Model& model);

  /// Throws DataError naming bands and wavelengths unless the scene is like the one that the model
  /// was trained on.
  void expect_fits(const SceneInfo& scene) const;

  /// Hands every strip to `sink`, in order, one at a time, on any thread, while the next is
  /// classified. `progress` is told the rows done so far, often; false stops, and the last strip is
  /// then not handed over.
  ClassifyReport classify(SceneSource& source, const ClassifyOptions& options,
                          const std::function<void(const ClassifiedStrip&)>& sink,
                          const std::function<bool(Index rows)>& progress = {}) const;

  /// The pixel's code and scores, to the last bit those of the map. Throws OptionError for a pixel
  /// outside the scene, DataError for one that is not valid.
  Explanation explain(SceneSource& source, Index row, Index col) const;

 private:
  const Model& model_;
  std::unique_ptr<const Kernel> kernel_;
  Coder coder_;
  std::unique_ptr<const Scorer> scorer_;
};

}  // namespace hyperatom
