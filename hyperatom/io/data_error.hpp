// The one way in which readers of this folder complain.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "hyperatom/base/error.hpp"

namespace hyperatom {

/// Throws DataError "<path>: <message>".
template <class... Arguments>
[[noreturn]] void fail(std::string_view path, fmt::format_string<Arguments...> message,
                       Arguments&&... arguments) {
  throw DataError(
      fmt::format("{}: {}", path, fmt::format(message, std::forward<Arguments>(arguments)...)));
}

}  // namespace hyperatom
