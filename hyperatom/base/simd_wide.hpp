// Eight doubles at a time, for functions that are compiled for AVX-512 within a build that is not
// (docs/decisions/022-wide-registers.md). Callers ask has_wide(); lanes are those of two packs, so
// that results have the same bits.
#pragma once

#include "hyperatom/base/simd.hpp"

#if defined(__FMA__) && defined(__AVX2__)
#define HYPERATOM_WIDE __attribute__((target("avx512f")))

namespace hyperatom::simd {

/// (The compiler warns of its own header where functions of that make one of two packs.)
typedef double Wide __attribute__((vector_size(64)));
typedef double LooseWide __attribute__((vector_size(64), aligned(8), may_alias));

inline bool has_wide() {
  static const bool has = __builtin_cpu_supports("avx512f");
  return has;
}

HYPERATOM_WIDE inline Wide load_wide(const double* p) {
  return *reinterpret_cast<const LooseWide*>(p);
}

HYPERATOM_WIDE inline void store(double* p, const Wide& v) { *reinterpret_cast<LooseWide*>(p) = v; }

HYPERATOM_WIDE inline Wide both(Pack low, Pack high) {
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}

HYPERATOM_WIDE inline Wide multiply_add(const Wide& a, const Wide& b, const Wide& c) {
  return (Wide)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

HYPERATOM_WIDE inline Wide subtract_product(const Wide& c, const Wide& a, const Wide& b) {
  return (Wide)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

}  // namespace hyperatom::simd
#endif
