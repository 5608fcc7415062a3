// SHA-256 (FIPS 180-4), to notice damaged files and to name splits and data by their content.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hyperatom {

class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }

  /// Of all that was given so far: 64 lower-case hexadecimal digits. More may follow.
  std::string hex_digest() const;

 private:
  void compress();

  // The first 32 bits of the fractional parts of the square roots of the first 8 primes.
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> block_{};
  std::uint64_t length_ = 0;  // bytes given so far; length_ % 64 of them wait in block_
};

}  // namespace hyperatom
