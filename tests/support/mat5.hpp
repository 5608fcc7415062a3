// Writes MATLAB 5 files by hand, right or wrong.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace hyperatom::test {

/// Numbers of the format: types of data elements and classes of arrays.
namespace mat5 {
constexpr std::uint32_t int8 = 1, uint8 = 2, int16 = 3, uint16 = 4, int32 = 5, uint32 = 6,
                        single = 7, float64 = 9, int64 = 12, uint64 = 13, matrix = 14,
                        compressed = 15;
constexpr std::uint32_t class_cell = 1, class_struct = 2, class_char = 4, class_sparse = 5,
                        class_double = 6, class_single = 7, class_uint8 = 9, class_int16 = 10,
                        class_uint16 = 11, class_uint64 = 15, class_opaque = 17;
constexpr std::uint32_t flag_complex = 0x800, flag_logical = 0x200;
}  // namespace mat5

class Mat5Writer {
 public:
  explicit Mat5Writer(bool big_endian = false) : big_endian_(big_endian) {}

  template <class T>
  std::string numbers(const std::vector<T>& values) const {
    std::string bytes;
    for (const T value : values) {
      char raw[sizeof(T)];
      std::memcpy(raw, &value, sizeof raw);
      if (big_endian_) std::reverse(raw, raw + sizeof raw);
      bytes.append(raw, sizeof raw);
    }
    return bytes;
  }

  std::string element(std::uint32_t type, const std::string& data) const {
    return numbers<std::uint32_t>({type, static_cast<std::uint32_t>(data.size())}) + data +
           std::string((8 - data.size() % 8) % 8, '\0');
  }

  /// At most four bytes, within the tag.
  std::string small_element(std::uint32_t type, const std::string& data) const {
    return numbers<std::uint32_t>({static_cast<std::uint32_t>(data.size()) << 16 | type}) + data +
           std::string(4 - data.size(), '\0');
  }

  std::string variable(const std::string& name, std::uint32_t flags,
                       const std::vector<std::int32_t>& shape, const std::string& values) const {
    const bool small = name.size() <= 4 && !name.empty();
    return element(mat5::matrix,
                   element(mat5::uint32, numbers<std::uint32_t>({flags, 0})) +
                       element(mat5::int32, numbers(shape)) +
                       (small ? small_element(mat5::int8, name) : element(mat5::int8, name)) +
                       values);
  }

  std::string compress(const std::string& element) const {
    uLongf size = compressBound(element.size());
    std::string packed(size, '\0');
    ::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
               reinterpret_cast<const Bytef*>(element.data()), element.size());
    packed.resize(size);
    return numbers<std::uint32_t>({mat5::compressed, static_cast<std::uint32_t>(size)}) + packed;
  }

  std::string file(const std::string& elements) const {
    std::string header = "MATLAB 5.0 MAT-file, written by a test";
    header.resize(124, ' ');
    return header + numbers<std::uint16_t>({0x0100}) + (big_endian_ ? "MI" : "IM") + elements;
  }

 private:
  bool big_endian_;
};

}  // namespace hyperatom::test
