#include "hyperatom/base/random.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace hyperatom {

RandomStream::RandomStream(std::uint64_t seed, Purpose purpose, std::uint64_t counter)
    : seed_(seed), counter_(counter), purpose_(static_cast<std::uint32_t>(purpose)) {}

std::uint32_t RandomStream::bits() {
  if (used_ == 4) {
    const r123::Philox4x32::ctr_type counter = {{block_++, static_cast<std::uint32_t>(counter_),
                                                 static_cast<std::uint32_t>(counter_ >> 32),
                                                 purpose_}};
    const r123::Philox4x32::key_type key = {
        {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)}};
    const auto block = r123::Philox4x32()(counter, key);
    for (size_t i = 0; i < 4; ++i) buffer_[i] = block[i];
    used_ = 0;
  }
  return buffer_[used_++];
}

double RandomStream::uniform() {
  const std::uint64_t high = bits() >> 5;  // 27 bits
  const std::uint64_t low = bits() >> 6;   // 26 bits
  return static_cast<double>(high << 26 | low) * 0x1p-53;
}

Index RandomStream::below(Index n) {
  const auto range = static_cast<std::uint64_t>(n);
  const std::uint64_t usable = UINT64_MAX - UINT64_MAX % range;
  while (true) {
    const std::uint64_t high = bits();
    const std::uint64_t value = high << 32 | bits();
    if (value < usable) return static_cast<Index>(value % range);
  }
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2 * std::log1p(-uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::vector<Index> RandomStream::permutation(Index n) {
  std::vector<Index> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index i = n - 1; i > 0; --i)
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(below(i + 1))]);
  return order;
}

}  // namespace hyperatom
