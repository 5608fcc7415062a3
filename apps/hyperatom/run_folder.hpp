// The folder that a command leaves: what was asked for, what was learned, how well it does.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/hyperatom/verb.hpp"

namespace hyperatom::cli {

/// Makes a folder, and removes it again if nothing has come into it by the end of the scope.
class MadeFolder {
 public:
  /// Throws IoError.
  explicit MadeFolder(const std::filesystem::path& path);
  ~MadeFolder() { remove_empty(); }
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;

 private:
  void remove_empty() const;

  std::vector<std::filesystem::path> made_;  ///< the deepest first
};

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path args() const { return path_ / "args.json"; }
  std::filesystem::path results() const { return path_ / "results.csv"; }
  std::filesystem::path model() const { return path_ / "model.safetensors"; }
  std::filesystem::path last() const { return path_ / "last.safetensors"; }
  std::filesystem::path split() const { return path_ / "split.json"; }
  std::filesystem::path metrics() const { return path_ / "metrics.json"; }
  std::filesystem::path confusion() const { return path_ / "confusion.csv"; }
  std::filesystem::path per_class() const { return path_ / "per_class.csv"; }
  std::filesystem::path trials() const { return path_ / "trials.jsonl"; }
  std::filesystem::path table() const { return path_ / "table.csv"; }
  std::filesystem::path report() const { return path_ / "report.html"; }
  std::filesystem::path log() const { return path_ / "log.txt"; }

  /// Throws IoError unless a run can begin here: the folder is new or empty, or holds a run and may
  /// be overwritten.
  void expect_free(bool overwrite) const;
  /// Removes the files of an earlier run. Other files in it stay.
  void clear() const;

 private:
  std::filesystem::path path_;
};

/// Throws IoError.
void write_text(const std::filesystem::path& path, const std::string& text);
/// What is not defined is null.
Json number(double value);
/// As people and programs read it: indented, ended by a line break, without invalid UTF-8.
std::string to_text(const Json& json);
void write_json(const std::filesystem::path& path, const Json& json);

}  // namespace hyperatom::cli
