// What the readers of array files share: sizes that can't overflow, strides, byte order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hyperatom/io/array_file.hpp"

namespace hyperatom {

/// Deflate makes at most 1032 bytes of one: what a file can hold, whatever it claims.
constexpr std::uint64_t largest_deflate_ratio = 1032;

/// e.g. "uint16", "float64"
std::string name(Element element);

/// Calls f with a value of the type in which the elements are stored.
template <class Function>
void with_type(Element element, const Function& f) {
  switch (element) {
    case Element::i8:
      return f(std::int8_t{});
    case Element::u8:
      return f(std::uint8_t{});
    case Element::i16:
      return f(std::int16_t{});
    case Element::u16:
      return f(std::uint16_t{});
    case Element::i32:
      return f(std::int32_t{});
    case Element::u32:
      return f(std::uint32_t{});
    case Element::i64:
      return f(std::int64_t{});
    case Element::u64:
      return f(std::uint64_t{});
    case Element::f32:
      return f(float{});
    case Element::f64:
      return f(double{});
  }
}

/// The bytes of an array; nothing when that is beyond what can be counted or a length is negative.
std::optional<std::uint64_t> byte_count(const std::vector<Index>& shape, Element element);

/// Which index varies fastest in a file.
enum class Order { first_fastest, last_fastest };

/// Of an array whose bytes could be counted; zeros if it is empty.
std::vector<Index> strides_of(const std::vector<Index>& shape, Order order);

/// Turns elements of the other byte order into this machine's.
void swap_bytes(std::span<std::byte> values, size_t element_size);

}  // namespace hyperatom
