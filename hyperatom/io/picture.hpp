// Pictures to look at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

/// An 8-bit PNG of red, green and blue, pixel by pixel and row by row. It appears when it is
/// complete. Throws IoError if something is there and may not be overwritten, or if it can't be
/// written; OptionError if the bytes are not 3 x rows x cols.
void write_png(const std::filesystem::path& path, Index rows, Index cols,
               std::span<const std::uint8_t> rgb, bool overwrite);

}  // namespace hyperatom
