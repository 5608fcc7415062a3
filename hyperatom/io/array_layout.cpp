#include "hyperatom/io/array_layout.hpp"

#include <algorithm>
#include <array>

namespace hyperatom {
namespace {

struct ElementKind {
  const char* name;
  size_t size;
};

constexpr std::array<ElementKind, 10> element_kinds = {{{"int8", 1},
                                                        {"uint8", 1},
                                                        {"int16", 2},
                                                        {"uint16", 2},
                                                        {"int32", 4},
                                                        {"uint32", 4},
                                                        {"int64", 8},
                                                        {"uint64", 8},
                                                        {"float32", 4},
                                                        {"float64", 8}}};

}  // namespace

size_t size_of(Element element) { return element_kinds[static_cast<size_t>(element)].size; }

std::string name(Element element) { return element_kinds[static_cast<size_t>(element)].name; }

std::optional<std::uint64_t> byte_count(const std::vector<Index>& shape, Element element) {
  std::int64_t bytes = static_cast<std::int64_t>(size_of(element));
  for (const Index n : shape)
    if (n < 0 || __builtin_mul_overflow(bytes, n, &bytes)) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::vector<Index> strides_of(const std::vector<Index>& shape, Order order) {
  std::vector<Index> strides(shape.size(), 0);
  if (std::ranges::find(shape, 0) != shape.end()) return strides;
  Index stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t at = order == Order::first_fastest ? i : shape.size() - 1 - i;
    strides[at] = stride;
    stride *= shape[at];
  }
  return strides;
}

void swap_bytes(std::span<std::byte> values, size_t element_size) {
  for (size_t at = 0; at + element_size <= values.size(); at += element_size)
    std::ranges::reverse(values.subspan(at, element_size));
}

}  // namespace hyperatom
