#include "hyperatom/io/writing.hpp"

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

#include "hyperatom/io/gdal.hpp"

namespace hyperatom {
namespace {

namespace fs = std::filesystem;

/// The system's reason for which a write may have failed; empty if there is none.
std::string system_reason(int error) {
  for (const int reason : {ENOSPC, EDQUOT, EFBIG, EIO, EROFS})
    if (error == reason) return std::generic_category().message(reason);
  return {};
}

bool is_full(const fs::path& folder) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  return !error && space.available < 4096;
}

}  // namespace

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void expect_free(const fs::path& path, bool overwrite) {
  std::error_code ignored;  // a path that can't be looked at can't be created either
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (!fs::exists(status)) return;
  if (fs::is_directory(status))
    refuse(path, "can't be written: {}", std::generic_category().message(EISDIR));
  if (!fs::is_regular_file(status) && !fs::is_symlink(status))
    refuse(path, "can't be written: it exists and is not a regular file");
  if (!overwrite) refuse(path, "exists; --overwrite replaces it");
}

void expect_folder(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(folder_of(path), ignored))
    refuse(path, "can't be written: there is no folder {}", folder_of(path).string());
}

void guarded(const fs::path& path, const fs::path& folder, const std::function<bool()>& calls) {
  const GdalMessages messages;
  errno = 0;
  const bool done = calls();
  std::string reason = system_reason(errno);
  if (done && !messages.failed() && reason.empty()) return;
  if (reason.empty() && is_full(folder)) reason = system_reason(ENOSPC);
  std::string text = messages.failed() || reason.empty() ? messages.text() : "";
  const std::string hidden = folder.string() + "/";  // means nothing to the user
  for (size_t at = text.find(hidden); at != std::string::npos; at = text.find(hidden))
    text.erase(at, hidden.size());
  refuse(path, "can't be written: {}{}{}", reason, reason.empty() || text.empty() ? "" : ": ",
         text);
}

void write_whole(const fs::path& path, const fs::path& file, std::string_view bytes) {
  guarded(path, folder_of(file), [&] {
    std::ofstream stream(file, std::ios::binary);
    stream << bytes;
    stream.close();
    return stream.good();
  });
}

}  // namespace hyperatom
