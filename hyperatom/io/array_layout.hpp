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

/// The bytes of an array; nothing when that is beyond what can be counted or a length is negative.
std::optional<std::uint64_t> byte_count(const std::vector<Index>& shape, Element element);

/// Which index varies fastest in a file.
enum class Order { first_fastest, last_fastest };

/// Of an array whose bytes could be counted; zeros if it is empty.
std::vector<Index> strides_of(const std::vector<Index>& shape, Order order);

/// Turns elements of the other byte order into this machine's.
void swap_bytes(std::span<std::byte> values, size_t element_size);

}  // namespace hyperatom
