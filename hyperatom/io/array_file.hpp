// Numeric arrays from files that hold arrays rather than images: MATLAB .mat (v5 and v7.3) and
// NumPy .npy. The format is told by content, never by name.
//
// Whatever order a file stores, an array is indexed here as its author did: (row, col, band).
// Values stay in the file's type; what is held in memory is the array and no copy of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

enum class ArrayFormat { mat5, mat73, npy };

/// For messages: "MATLAB 5", "MATLAB 7.3", "NumPy".
std::string name(ArrayFormat format);

/// Nothing when it is none of them, or can't be read. Throws DataError for MATLAB 4, which nothing
/// else here could read either.
std::optional<ArrayFormat> array_format(const std::filesystem::path& path);
inline bool is_array_file(const std::filesystem::path& path) {
  return array_format(path).has_value();
}

/// One variable of a file.
struct ArrayInfo {
  std::string name;          ///< empty in a .npy
  std::string type;          ///< e.g. "uint16", "struct"
  std::vector<Index> shape;  ///< e.g. rows, cols, bands
  bool numeric = false;      ///< real, dense numbers (or logical): read_array gives them

  /// e.g. "paviaU (610 x 340 x 103 uint16)"
  std::string text() const;
};

enum class Element { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };
size_t size_of(Element element);

/// A numeric array as it is stored, and the way to its values.
struct NumericArray {
  ArrayInfo info;
  Element element = Element::u8;  ///< in which the values are stored, in this machine's byte order
  std::vector<Index> strides;     ///< one per dimension, in elements
  std::vector<std::byte> values;

  Index dimensions() const { return static_cast<Index>(info.shape.size()); }
  /// Of a two-dimensional array: rows [first, first + count), row by row.
  std::vector<double> read_rows(Index first, Index count) const;
  /// Of a three-dimensional array: the same as bands x (count * cols), in float.
  void read_rows(Index first, Index count, MatrixF& pixels) const;
};

/// All variables, also those that are not numeric. Throws DataError "<path>: ...".
std::vector<ArrayInfo> list_arrays(const std::filesystem::path& path);

/// A numeric variable by its name, which a .npy ignores. Throws DataError "<path>: ...".
NumericArray read_array(const std::filesystem::path& path, const std::string& variable);

/// For a file that is none of these: throws DataError if a variable is asked for. A file that is
/// not there is left to its reader.
void expect_no_variable(const std::filesystem::path& path, const std::string& variable);

/// The variable of that name, or if it is empty the only numeric one that `fits`, read. Throws
/// DataError that lists what there is when there is none or several; `wanted` says what would have
/// fitted, e.g. "rows x cols x bands".
NumericArray read_fitting_array(const std::filesystem::path& path, const std::string& variable,
                                const std::string& wanted,
                                const std::function<bool(const ArrayInfo&)>& fits);

}  // namespace hyperatom
