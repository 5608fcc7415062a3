#include "hyperatom/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace hyperatom {
namespace {

using Block = std::array<std::uint32_t, 4>;

/// Philox4x32-10 from its definition (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy
/// as 1, 2, 3", 2011): ten rounds of two 32 x 32 bit products, the key raised by Weyl constants.
Block philox(Block c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

TEST(Philox, PublishedVectors) {  // Random123, kat_vectors
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// The stream is what models and splits are reproduced from: it may never change.
TEST(RandomStream, KnownAnswers) {
  constexpr std::uint64_t seed = 0x0123456789abcdef, counter = 0xfedcba9876543210;
  RandomStream stream(seed, Purpose::sample, counter);
  for (std::uint32_t block = 0; block < 5; ++block) {
    const Block expected = philox({block, 0x76543210, 0xfedcba98, 3}, {0x89abcdef, 0x01234567});
    for (const std::uint32_t bits : expected) EXPECT_EQ(stream.bits(), bits);
  }
  // The same as numbers, in case both implementations change together.
  RandomStream first(1, Purpose::atoms);
  const Block numbers = {0x127bee41, 0x1e047488, 0x48842b20, 0x0a393496};
  for (const std::uint32_t bits : numbers) EXPECT_EQ(first.bits(), bits);
  RandomStream zero(0, Purpose{0});
  EXPECT_EQ(zero.bits(), 0x6627e8d5);
}

TEST(RandomStream, NumbersAreMadeFromBits) {
  RandomStream numbers(7, Purpose::order, 3), bits(7, Purpose::order, 3);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t high = bits.bits() >> 5, low = bits.bits() >> 6;
    const double expected = static_cast<double>(high * 67108864 + low) / 9007199254740992.0;
    const double found = numbers.uniform();
    EXPECT_EQ(found, expected);
    EXPECT_GE(found, 0);
    EXPECT_LT(found, 1);
  }
}

TEST(RandomStream, StreamsAreNamedBySeedPurposeAndCounter) {
  std::set<std::vector<std::uint32_t>> seen;
  int streams = 0;
  const auto add = [&](std::uint64_t seed, Purpose purpose, std::uint64_t counter) {
    RandomStream stream(seed, purpose, counter);
    std::vector<std::uint32_t> numbers(8);
    for (std::uint32_t& n : numbers) n = stream.bits();
    seen.insert(numbers);
    ++streams;
    RandomStream again(seed, purpose, counter);
    for (const std::uint32_t n : numbers) EXPECT_EQ(again.bits(), n);
  };
  for (const std::uint64_t seed : {0ull, 1ull, 2ull, 1ull << 32, 1ull << 63})
    for (const Purpose purpose : {Purpose::atoms, Purpose::order, Purpose::sample,
                                  Purpose::validation, Purpose::scene, Purpose::split})
      for (const std::uint64_t counter : {0ull, 1ull, 2ull, 1ull << 32, 1ull << 63})
        add(seed, purpose, counter);
  EXPECT_EQ(seen.size(), static_cast<size_t>(streams));
}

TEST(RandomStream, BelowStaysBelowAndReachesEverything) {
  for (Index n = 1; n <= 20; ++n) {
    RandomStream stream(11, Purpose::split, static_cast<std::uint64_t>(n));
    std::vector<int> counts(static_cast<size_t>(n));
    constexpr int per_value = 2000;
    for (Index i = 0; i < per_value * n; ++i) {
      const Index value = stream.below(n);
      ASSERT_GE(value, 0);
      ASSERT_LT(value, n);
      ++counts[static_cast<size_t>(value)];
    }
    // Binomial: 5 standard deviations of about sqrt(2000).
    for (const int count : counts) EXPECT_NEAR(count, per_value, 5 * std::sqrt(per_value));
  }
}

/// Three quarters of 2^63: 64 bits folded without rejection would favour the lower two thirds.
TEST(RandomStream, BelowIsUnbiasedForLargeRanges) {
  constexpr Index n = Index{3} << 61;
  RandomStream stream(12, Purpose::split);
  constexpr int draws = 20000;
  int lower = 0;
  for (int i = 0; i < draws; ++i) {
    const Index value = stream.below(n);
    ASSERT_GE(value, 0);
    ASSERT_LT(value, n);
    lower += value < n / 2;
  }
  EXPECT_NEAR(lower, draws / 2, 5 * std::sqrt(draws) / 2);
}

TEST(RandomStream, PermutationIsOne) {
  for (const Index n : {0, 1, 2, 3, 10, 1000}) {
    RandomStream stream(13, Purpose::order, static_cast<std::uint64_t>(n));
    std::vector<Index> order = stream.permutation(n);
    ASSERT_EQ(order.size(), static_cast<size_t>(n));
    const bool identity = std::is_sorted(order.begin(), order.end());
    std::sort(order.begin(), order.end());
    for (Index i = 0; i < n; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
    EXPECT_TRUE(n < 10 || !identity);
  }
}

TEST(RandomStream, AllPermutationsAreEquallyLikely) {
  RandomStream stream(14, Purpose::order);
  std::vector<int> counts(64);
  constexpr int per_order = 2000;
  for (int i = 0; i < 6 * per_order; ++i) {
    const std::vector<Index> order = stream.permutation(3);
    ++counts[static_cast<size_t>(order[0] * 16 + order[1] * 4 + order[2])];
  }
  int orders = 0;
  for (const int count : counts) {
    if (count == 0) continue;
    ++orders;
    EXPECT_NEAR(count, per_order, 5 * std::sqrt(per_order));
  }
  EXPECT_EQ(orders, 6);
}

TEST(RandomStream, NormalHasTheRightMoments) {
  constexpr int n = 100000;
  RandomStream stream(15, Purpose::scene);
  double sum = 0, squares = 0, fourth = 0;
  int beyond = 0;
  for (int i = 0; i < n; ++i) {
    const double x = stream.normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    beyond += std::abs(x) > 1.959963984540054;
  }
  const double root = std::sqrt(n);
  EXPECT_NEAR(sum / n, 0, 5 / root);
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2.0) / root);  // variance of x^2: 2
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96.0) / root);  // variance of x^4: 96
  EXPECT_NEAR(beyond, 0.05 * n, 5 * std::sqrt(0.05 * 0.95 * n));
}

TEST(RandomStream, UniformHasTheRightMoments) {
  constexpr int n = 100000;
  RandomStream stream(16, Purpose::scene);
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double x = stream.uniform();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
}

}  // namespace
}  // namespace hyperatom
