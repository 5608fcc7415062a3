// What training leaves behind and all that classification needs: a plain value.
//
// A pixel is normalized, its window coded over the dictionary (coding/coder.hpp), and the code a of
// the window's centre gives the class scores  weights * a + bias. The paper's other methods are
// models too: src-* has all training pixels as dictionary and no weights, svm-* its support
// vectors, their coefficients as weights and the pairs' thresholds as bias (predict/scoring.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hyperatom/base/spec.hpp"
#include "hyperatom/base/types.hpp"
#include "hyperatom/coding/coder.hpp"
#include "hyperatom/scene/normalizer.hpp"

namespace hyperatom {

struct Model {
  std::string method = "sdl-l12-k";  ///< which of the paper's methods made it
  Spec kernel;
  Spec loss;
  CoderOptions coding;
  Index window = 1;                 ///< S: pixels in a neighbourhood, the centre included
  Matrix dictionary;                ///< D, features x d
  Matrix weights;                   ///< W, classes x d; svm: (classes - 1) x d; src: none
  Vector bias;                      ///< classes; svm: pairs of classes; src: none
  std::vector<Index> atom_classes;  ///< the class, from 0, that each atom was drawn from
  Normalizer normalizer;
  Vector wavelengths;            ///< micrometres, one per band; empty when unknown
  std::vector<Index> class_ids;  ///< the number of every class in label files and maps, ascending
  std::vector<std::string> class_names;
  std::vector<std::array<std::uint8_t, 3>> class_colours;
  std::map<std::string, std::string> provenance;  ///< how it was made: seed, data, command, ...

  Index bands() const { return normalizer.bands(); }
  Index features() const { return dictionary.rows(); }  ///< of a normalised pixel
  Index atoms() const { return dictionary.cols(); }
  Index classes() const { return static_cast<Index>(class_ids.size()); }

  /// How scores come about.
  enum class Rule { linear, residual, votes };
  Rule rule() const {
    return method.starts_with("src-")   ? Rule::residual
           : method.starts_with("svm-") ? Rule::votes
                                        : Rule::linear;
  }
};

/// Throws DataError with the field, what it is and what was expected, unless the shapes agree, all
/// is finite and the specs make sense.
void validate(const Model& model);

}  // namespace hyperatom
