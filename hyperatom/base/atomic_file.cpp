#include "hyperatom/base/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>
#include <utility>

#include "hyperatom/base/error.hpp"

namespace hyperatom {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, std::string_view reason) {
  throw IoError(fmt::format("{}: can't be written: {}", path.string(), reason));
}

std::string reason_of(int error) { return std::generic_category().message(error); }

/// Calls again what a signal has interrupted.
template <class Call>
auto retried(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Renaming over a device would replace the device, and a folder can't be replaced at all.
void expect_replaceable(const fs::path& path) {
  std::error_code ignored;  // a path that can't be looked at can't be created either
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (fs::is_directory(status)) refuse(path, reason_of(EISDIR));
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_symlink(status))
    refuse(path, "it exists and is not a regular file");
}

/// 0, or the reason for which the names in the folder may not survive a power failure.
int sync_folder(const fs::path& folder) {
  const int descriptor =
      retried([&] { return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  // A folder may allow new files without allowing to be read; then there is nothing to sync with.
  if (descriptor < 0) return errno == EACCES ? 0 : errno;
  const int error = retried([&] { return fsync(descriptor); }) < 0 ? errno : 0;
  close(descriptor);
  // Some network file systems know no sync of folders.
  return error == EINVAL || error == ENOTSUP ? 0 : error;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path)
    : path_(path), folder_(path.has_parent_path() ? path.parent_path() : fs::path(".")) {
  expect_replaceable(path_);
  static std::atomic<std::uint64_t> counter = 0;
  do {
    // Short, whatever the length of the target's name.
    temporary_ = folder_ / fmt::format(".hyperatom-{}-{}.tmp", getpid(), counter++);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    // Left by a killed process, or made by one with the same number on another machine: the next.
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) refuse(path_, reason_of(errno));
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        retried([&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
    if (written < 0) fail(errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void AtomicFile::commit() {
  if (retried([&] { return fsync(descriptor_); }) < 0) fail(errno);
  // Network file systems may report a failed write only here. After an error, also EINTR, the
  // descriptor is closed all the same.
  if (close(std::exchange(descriptor_, -1)) < 0 && errno != EINTR) fail(errno);
  if (std::rename(temporary_.c_str(), path_.c_str()) < 0) fail(errno);
  temporary_.clear();
  if (const int error = sync_folder(folder_))
    throw IoError(fmt::format("{}: is written, but may not survive a power failure: {}",
                              path_.string(), reason_of(error)));
}

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::fail(int error) {
  discard();
  refuse(path_, reason_of(error));
}

}  // namespace hyperatom
