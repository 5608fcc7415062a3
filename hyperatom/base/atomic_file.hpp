// Writes a file so that a reader sees the old content or the new one, never a mixture: not after
// kill -9, nor with a full disk, nor while another process writes the same path.
//
//   AtomicFile file(path);   creates a unique temporary (.hyperatom-PID-N.tmp) in path's folder
//   file.write(bytes);       as often as needed
//   file.commit();           fsync, rename onto path, fsync of the folder
//
// The file that appears has the permissions of a newly created one. A symbolic link is replaced,
// not followed; what is neither a file nor a link (a folder, /dev/null) is refused.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace hyperatom {

/// Whatever fails removes the temporary, leaves what was at the path as it was, and throws IoError
/// with the path and the system's reason. (One failure comes too late for that: when only the
/// folder can't be synced, the new file is already in place, whole.)
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  /// Without commit(): as if nothing had been written.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit();

 private:
  void discard() noexcept;
  [[noreturn]] void fail(int error);

  std::filesystem::path path_;
  std::filesystem::path folder_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

}  // namespace hyperatom
