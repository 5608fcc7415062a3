// A small number as a constant of the code that works with it.
#pragma once

#include "hyperatom/base/types.hpp"

namespace hyperatom {

/// f.operator()<n>() for `least` <= n <= `most`.
template <int least, int most, class F>
decltype(auto) with_constant(Index n, const F& f) {
  if constexpr (least < most)
    if (n < most) return with_constant<least, most - 1>(n, f);
  return f.template operator()<most>();
}

}  // namespace hyperatom
