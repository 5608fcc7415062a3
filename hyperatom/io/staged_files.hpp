// Files that belong together and appear together, when all of them are complete.
//
//   StagedFiles staged("out/map.tif");   creates out/.hyperatom-PID-N.tmp/
//   ... write into staged.folder(), under the final names ...
//   staged.publish({...});               moves them up: companions first, map.tif last
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hyperatom {

/// Whatever fails throws IoError about the main file and leaves its folder as it was; only when the
/// folder can't be synced in the end, the new files are in place. (A process that is killed while
/// it publishes may leave new companions beside the old main file, never a part of a file.)
class StagedFiles {
 public:
  explicit StagedFiles(const std::filesystem::path& main_file);
  /// Removes what was not published.
  ~StagedFiles();
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  /// The names of the files in it, sorted.
  std::vector<std::string> names() const;
  /// Syncs all files and moves them beside the main file, where they replace what has their name;
  /// files of the names `stale` that are not replaced are removed there.
  void publish(const std::vector<std::string>& stale);

 private:
  [[noreturn]] void refuse(int error) const;
  void move(const std::filesystem::path& from, const std::filesystem::path& to) const;
  void replace(const std::vector<std::string>& companions, const std::vector<std::string>& stale);

  std::filesystem::path main_file_;
  std::filesystem::path target_;
  std::filesystem::path folder_;
};

}  // namespace hyperatom
