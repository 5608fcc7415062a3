// What the writers of this folder share: how they complain, what they may replace, and GDAL's
// errors as ours.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include "hyperatom/base/error.hpp"

namespace hyperatom {

/// Throws IoError "<path>: <message>".
template <class... Arguments>
[[noreturn]] void refuse(const std::filesystem::path& path,
                         fmt::format_string<Arguments...> message, Arguments&&... arguments) {
  throw IoError(fmt::format("{}: {}", path.string(),
                            fmt::format(message, std::forward<Arguments>(arguments)...)));
}

/// "." for a plain name.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// That nothing is there, or that it may and can be replaced. Throws IoError.
void expect_free(const std::filesystem::path& path, bool overwrite);

/// That the folder of a file is there. Throws IoError.
void expect_folder(const std::filesystem::path& path);

/// Runs some calls of GDAL that write into `folder` and return whether they succeeded; what goes
/// wrong becomes an IoError about `path`. GDAL often says that writing failed but not why, and for
/// some files (.aux.xml, ENVI) nothing at all: errno tells both.
void guarded(const std::filesystem::path& path, const std::filesystem::path& folder,
             const std::function<bool()>& calls);

/// Writes a file beside others that belong to `path`; what goes wrong is an IoError about that.
void write_whole(const std::filesystem::path& path, const std::filesystem::path& file,
                 std::string_view bytes);

}  // namespace hyperatom
