// The safetensors container: named arrays and named texts in one file, without code in it.
//
//   u64     length of the header, a multiple of 8, at most 1 MiB
//   header  {"__metadata__": {name: text, ...},
//            name: {"dtype": "F64", "shape": [...], "data_offsets": [begin, end]}, ...}, spaces
//   data    the arrays, C order, little-endian, without holes
//
// Other programs read it (Python: safetensors.numpy.load_file). A column-major Matrix of
// rows x cols has the same bytes as a C-order array of shape [cols, rows], and is stored as that.
//
// The writer is deterministic, and adds the metadata "sha256": the SHA-256 of the whole file with
// the digits of the digest itself replaced by zeros. The reader trusts nothing: it refuses
// duplicate names, unknown types, holes, overlaps and any byte that the digest does not
// vouch for. It allocates in proportion to the bytes that are there, not to what they claim.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

enum class ItemType { f32, f64, i32, i64, u8 };

struct Tensor {
  ItemType type = ItemType::u8;
  std::vector<std::uint64_t> shape;  ///< C order: the last index varies fastest; at most 8
  std::vector<std::byte> bytes;      ///< little-endian; product(shape) items

  bool operator==(const Tensor&) const = default;
};

struct TensorFile {
  std::string name;  ///< what messages call it: the path that it was read from
  std::map<std::string, std::string> metadata;  ///< without the digest
  std::map<std::string, Tensor> tensors;

  void put_matrix(const std::string& key, const Matrix& values);                // F64 [cols, rows]
  void put_vector(const std::string& key, const Vector& values);                // F64 [n]
  void put_integers(const std::string& key, const std::vector<Index>& values);  // I64 [n]

  /// The reverse. Throws DataError when the tensor is missing, of another type or rank.
  Matrix get_matrix(const std::string& key) const;
  Vector get_vector(const std::string& key) const;
  std::vector<Index> get_integers(const std::string& key) const;

  /// Any tensor, if it has this type and number of dimensions.
  const Tensor& get(const std::string& key, ItemType type, size_t rank) const;
  /// A text of the metadata. Throws DataError when it is missing.
  const std::string& get_text(const std::string& key) const;
};

/// Whether a file without a digest is refused. One that is there is always verified.
enum class Digest { required, optional };

/// Throw DataError "<path>: ..." for whatever is wrong with the file; reading it may also fail.
TensorFile read_tensor_file(const std::filesystem::path& path, Digest digest = Digest::required);
TensorFile parse_tensor_file(std::span<const std::byte> bytes, std::string_view name,
                             Digest digest = Digest::required);

/// The bytes of the file. Throws DataError "<name>: ..." for what could not be read back: a name or
/// text that is not UTF-8 or is reserved, bytes that don't fit a shape, a header beyond 1 MiB.
std::vector<std::byte> serialize_tensor_file(const TensorFile& file, std::string_view name);
/// Writes it whole or not at all (base/atomic_file.hpp). Throws IoError.
void write_tensor_file(const std::filesystem::path& path, const TensorFile& file);

/// Text from a file, for a message: in quotes, without control characters, and not too long.
std::string in_quotes(std::string_view text);

}  // namespace hyperatom
