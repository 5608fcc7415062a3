// Four doubles at a time, by the vector extensions that g++ and clang++ share: the compiler turns
// them into AVX2, SSE2 or NEON instructions, whichever the build allows.
//
// Every function here gives each lane a result that depends on that lane alone, so a value does not
// change with its place in a block. Bit-identical maps for every tile size rest on this.
#pragma once

#ifdef __AVX__
#include <immintrin.h>
#endif

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom::simd {

inline constexpr Index width = 4;

typedef double Pack __attribute__((vector_size(32)));
typedef std::int64_t IntPack __attribute__((vector_size(32)));

/// A Pack anywhere among doubles. (By std::memcpy the compiler keeps arrays of packs in memory.)
typedef double LoosePack __attribute__((vector_size(32), aligned(8), may_alias));

inline Pack load(const double* p) { return *reinterpret_cast<const LoosePack*>(p); }

inline void store(double* p, Pack v) { *reinterpret_cast<LoosePack*>(p) = v; }

/// Its packs lie within cache lines; of those of a plain vector every other may lie across two.
using Aligned = std::vector<double, Eigen::aligned_allocator<double>>;

/// Sets packs to zero one by one: an array that is cleared at once, by `= {}`, stays in memory.
template <class T, std::size_t n>
void clear(T (&packs)[n]) {
#pragma GCC unroll 16
  for (size_t i = 0; i < n; ++i) {
    if constexpr (std::is_array_v<T>)
      clear(packs[i]);
    else
      packs[i] = T{};
  }
}

/// The first n < 4 doubles at p, then zeros; reads nothing beyond them.
inline Pack load_part(const double* p, Index n) {
#ifdef __AVX__
  const IntPack place = {0, 1, 2, 3};
  return (Pack)_mm256_maskload_pd(p, (__m256i)(place < n));
#else
  Pack v = {0, 0, 0, 0};
  for (Index i = 0; i < n; ++i) v[i] = p[i];
  return v;
#endif
}

inline void store_part(double* p, Pack v, Index n) {
  for (Index i = 0; i < n; ++i) p[i] = v[i];
}

inline Pack broadcast(double x) { return Pack{x, x, x, x}; }

/// Of four places.
inline Pack gather(const double* values, const Index* places) {
  return Pack{values[places[0]], values[places[1]], values[places[2]], values[places[3]]};
}

/// Writes one value, and by a whole pack, of those from `values` on: a pack that is read after one
/// of its numbers was written waits.
inline void set(double* values, Index place, double value) {
  double* pack = values + place / width * width;
  const IntPack here = IntPack{0, 1, 2, 3} == place % width;
  store(pack, here ? broadcast(value) : load(pack));
}

/// a b + c. Whether it is rounded once or twice depends on the build, but never on the place: left
/// to itself, the compiler fuses in one instance of a template and not in another, so everything is
/// compiled with -ffp-contract=off.
inline Pack multiply_add(Pack a, Pack b, Pack c) {
#ifdef __FMA__
  return (Pack)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  return a * b + c;
#endif
}

/// c - a b, likewise.
inline Pack subtract_product(Pack c, Pack a, Pack b) {
#ifdef __FMA__
  return (Pack)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  return c - a * b;
#endif
}

inline Pack larger(Pack a, Pack b) { return a > b ? a : b; }

inline Pack smaller(Pack a, Pack b) { return a < b ? a : b; }

inline Pack magnitude(Pack v) {
  return (Pack)((IntPack)v & std::numeric_limits<std::int64_t>::max());
}

inline double sum(Pack v) { return (v[0] + v[2]) + (v[1] + v[3]); }

inline double largest(Pack v) {
  const double a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
  return a > b ? a : b;
}

/// Places of up to so many values fit the last bits of a double, which are worth 3e-14 of it.
inline constexpr Index places = 128;

/// |v| with its places, from `first` on, in the last bits: the largest of many says where it is.
inline Pack with_places(Pack v, Index first) {
  constexpr std::int64_t kept = std::numeric_limits<std::int64_t>::max() - (places - 1);
  return (Pack)(((IntPack)v & kept) | (IntPack{0, 1, 2, 3} + first));
}

inline Index place_of(double v) { return std::bit_cast<std::int64_t>(v) & (places - 1); }

/// Rows of a 4 x 4 block become its columns.
inline void transpose(Pack (&r)[4]) {
  const Pack a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6);
  const Pack b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
  const Pack c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6);
  const Pack d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  r[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/// Whether a lane is not zero.
inline bool any(IntPack v) {
#ifdef __AVX__
  return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
  return (v[0] | v[1] | v[2] | v[3]) != 0;
#endif
}

/// Bit i: whether lane i, all ones or zero, is set.
inline unsigned bits(IntPack v) {
#ifdef __AVX__
  return static_cast<unsigned>(_mm256_movemask_pd((__m256d)v));
#else
  unsigned set = 0;
  for (unsigned i = 0; i < width; ++i) set |= static_cast<unsigned>(v[i] & 1) << i;
  return set;
#endif
}

inline constexpr Index round_up(Index n) { return (n + width - 1) / width * width; }

/// exp(x) within 2 units in the last place for x <= 0; 0 below -708, where the result would be
/// denormal.
inline Pack exp_of_nonpositive(Pack x) {
  constexpr double log2_e = 1.4426950408889634;
  constexpr double ln2_high = 6.93147180369123816490e-01;
  constexpr double ln2_low = 1.90821492927058770002e-10;
  constexpr double shift = 0x1.8p52;  // adding it rounds to the nearest integer
  const Pack limit = broadcast(-708);
  const IntPack underflow = x < limit;
  x = underflow ? limit : x;

  const Pack shifted = multiply_add(x, broadcast(log2_e), broadcast(shift));
  const Pack n = shifted - shift;
  const Pack high = subtract_product(x, n, broadcast(ln2_high));
  const Pack r = subtract_product(high, n, broadcast(ln2_low));  // |r| <= ln(2)/2

  Pack p = broadcast(1.0 / 6227020800);  // Taylor series to r^13: remainder below 1e-17
  constexpr double inverse_factorials[] = {1.0 / 479001600,
                                           1.0 / 39916800,
                                           1.0 / 3628800,
                                           1.0 / 362880,
                                           1.0 / 40320,
                                           1.0 / 5040,
                                           1.0 / 720,
                                           1.0 / 120,
                                           1.0 / 24,
                                           1.0 / 6,
                                           0.5,
                                           1.0,
                                           1.0};
  for (const double c : inverse_factorials) p = multiply_add(p, r, broadcast(c));

  IntPack exponent;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  exponent <<= 52;  // the low bits of `shifted` hold n
  IntPack bits;
  std::memcpy(&bits, &p, sizeof bits);
  bits += exponent;
  Pack result;
  std::memcpy(&result, &bits, sizeof result);
  result = x == x ? result : x;
  return underflow ? Pack{0, 0, 0, 0} : result;
}

}  // namespace hyperatom::simd
