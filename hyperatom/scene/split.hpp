// Which labelled pixels are for training and which for testing.
//
// Every rule is stratified. A class keeps at least one pixel on each side if it has two; what could
// not be kept is said in `notes`. Random splits put test pixels next to training pixels, so that
// windows overlap (eval/leakage.hpp measures it); blocks, with a buffer, and whole polygons keep
// them apart.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hyperatom/scene/labels.hpp"

namespace hyperatom {

struct SplitRule {
  enum class Kind { random, blocks, polygons };
  Kind kind = Kind::random;
  std::optional<Index> train = {};      ///< training pixels in all
  std::optional<double> fraction = {};  ///< training share of every class
  std::optional<Index> per_class = {};  ///< training pixels of every class
  Index block = 0;                      ///< blocks: side of a block, in pixels
  Index buffer = 0;  ///< blocks, polygons: test pixels this close to a training pixel (rows or
                     ///< columns) are left out
  std::uint64_t seed = 0;

  /// e.g. "random train=997 seed=0".
  std::string to_string() const;
};

struct Split {
  Index rows = 0;
  Index cols = 0;
  std::vector<Index> train;  ///< pixels, row by row, ascending
  std::vector<Index> test;
  std::string rule;
  std::vector<std::string> notes;

  /// SHA-256 of the pixels on both sides.
  std::string hash() const;
};

/// Throws OptionError for a rule that contradicts itself, DataError for labels that it can't be
/// applied to.
Split make_split(const Labels& labels, const SplitRule& rule);

/// Two label maps that someone else made. Throws DataError when they have other sizes or share a
/// pixel.
Split split_of(const Labels& train, const Labels& test);

/// split.json: versioned, with the hash, which is checked on reading. Throws DataError, IoError.
void save_split(const Split& split, const std::filesystem::path& path);
Split load_split(const std::filesystem::path& path);

}  // namespace hyperatom
