// Eight floats at a time, beside the four doubles of simd.hpp: for iterations that may be rough
// because something exact judges them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hyperatom/base/simd.hpp"

namespace hyperatom::simd {

inline constexpr Index float_width = 8;

typedef float FloatPack __attribute__((vector_size(32)));

/// A FloatPack anywhere among floats.
typedef float LooseFloatPack __attribute__((vector_size(32), aligned(4), may_alias));

inline FloatPack load(const float* p) { return *reinterpret_cast<const LooseFloatPack*>(p); }

inline void store(float* p, FloatPack v) { *reinterpret_cast<LooseFloatPack*>(p) = v; }

inline FloatPack broadcast(float x) { return FloatPack{x, x, x, x, x, x, x, x}; }

inline FloatPack multiply_add(FloatPack a, FloatPack b, FloatPack c) {
#ifdef __FMA__
  return (FloatPack)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  return a * b + c;
#endif
}

inline FloatPack square_root(FloatPack v) {
#ifdef __AVX__
  return (FloatPack)_mm256_sqrt_ps((__m256)v);
#else
  for (Index i = 0; i < float_width; ++i) v[i] = std::sqrt(v[i]);
  return v;
#endif
}

inline FloatPack larger(FloatPack a, FloatPack b) { return a > b ? a : b; }

/// The largest of all lanes, in every lane.
inline FloatPack largest(FloatPack v) {
  v = larger(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = larger(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  return larger(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
}

typedef std::int32_t FloatMask __attribute__((vector_size(32)));

/// Places of up to 128 values fit the last bits of a float, which are worth 1e-5 of it.
inline constexpr std::int32_t place_bits = 127;

/// |v| with its places, from `first` on, in the last bits: the largest of many says where it is.
inline FloatPack with_places(FloatPack v, std::int32_t first) {
  constexpr std::int32_t kept = std::numeric_limits<std::int32_t>::max() - place_bits;
  return (FloatPack)(((FloatMask)v & kept) | (FloatMask{0, 1, 2, 3, 4, 5, 6, 7} + first));
}

inline Index place_of(float v) { return std::bit_cast<std::int32_t>(v) & place_bits; }

/// Four doubles as floats.
inline void store_rounded(float* p, Pack v) {
#ifdef __AVX__
  _mm_storeu_ps(p, _mm256_cvtpd_ps((__m256d)v));
#else
  for (Index i = 0; i < width; ++i) p[i] = static_cast<float>(v[i]);
#endif
}

inline float sum(FloatPack v) {
  return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

}  // namespace hyperatom::simd
