#include "hyperatom/io/staged_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "hyperatom/base/error.hpp"

namespace hyperatom {
namespace {

namespace fs = std::filesystem;

/// Waits until a file or the names in a folder are on the disk: 0, or the reason why not.
int sync(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  // A folder may allow new files without allowing to be read; then there is nothing to sync with.
  if (descriptor < 0) return errno == EACCES ? 0 : errno;
  const int error = fsync(descriptor) < 0 ? errno : 0;
  close(descriptor);
  // Some network file systems know no sync of folders.
  return error == EINVAL || error == ENOTSUP ? 0 : error;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

}  // namespace

StagedFiles::StagedFiles(const fs::path& main_file)
    : main_file_(main_file),
      target_(main_file.has_parent_path() ? main_file.parent_path() : fs::path(".")) {
  static std::atomic<std::uint64_t> counter = 0;
  int error = 0;
  do {
    folder_ = target_ / fmt::format(".hyperatom-{}-{}.tmp", getpid(), counter++);
    error = mkdir(folder_.c_str(), 0777) < 0 ? errno : 0;
    // Left by a killed process, or made by one with the same number on another machine: the next.
  } while (error == EEXIST);
  if (error != 0) refuse(error);
}

StagedFiles::~StagedFiles() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::vector<std::string> StagedFiles::names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void StagedFiles::refuse(int error) const {
  throw IoError(fmt::format("{}: can't be written: {}", main_file_.string(),
                            std::generic_category().message(error)));
}

void StagedFiles::move(const fs::path& from, const fs::path& to) const {
  if (std::rename(from.c_str(), to.c_str()) < 0) refuse(errno);
}

void StagedFiles::publish(const std::vector<std::string>& stale) {
  std::vector<std::string> companions = names();
  for (const std::string& name : companions)
    if (const int error = sync(folder_ / name)) refuse(error);
  std::erase(companions, main_file_.filename().string());
  replace(companions, stale);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  if (const int error = sync(target_))
    throw IoError(fmt::format("{}: is written, but may not survive a power failure: {}",
                              main_file_.string(), std::generic_category().message(error)));
}

void StagedFiles::replace(const std::vector<std::string>& companions,
                          const std::vector<std::string>& stale) {
  const fs::path old = folder_ / "old";
  if (mkdir(old.c_str(), 0777) < 0) refuse(errno);
  std::vector<std::string> leaving = companions, gone, placed;
  leaving.insert(leaving.end(), stale.begin(), stale.end());
  try {
    for (const std::string& name : leaving)
      if (is_there(target_ / name)) {
        move(target_ / name, old / name);
        gone.push_back(name);
      }
    for (const std::string& name : companions) {
      move(folder_ / name, target_ / name);
      placed.push_back(name);
    }
    move(folder_ / main_file_.filename(), main_file_);
  } catch (const IoError&) {
    for (const std::string& name : placed) std::remove((target_ / name).c_str());
    for (const std::string& name : gone)
      std::rename((old / name).c_str(), (target_ / name).c_str());
    throw;
  }
}

}  // namespace hyperatom
