// Eight floats at a time, beside the four doubles of simd.hpp: for iterations that may be rough
// because something exact judges them.
#pragma once

#include <cmath>

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

inline float sum(FloatPack v) {
  return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

}  // namespace hyperatom::simd
