#include "apps/hyperatom/run_folder.hpp"

#include <fmt/format.h>

#include <cmath>
#include <system_error>

#include "hyperatom/base/atomic_file.hpp"
#include "hyperatom/base/error.hpp"

namespace hyperatom::cli {

namespace fs = std::filesystem;

namespace {

/// Before hours of work: what is there of a path must be a folder. Throws IoError.
void expect_can_be_made(const fs::path& path) {
  std::error_code error;
  for (fs::path parent = fs::absolute(path, error).parent_path();; parent = parent.parent_path()) {
    const fs::file_status status = fs::status(parent, error);
    if (fs::is_directory(status) || parent == parent.parent_path()) return;
    if (fs::exists(status))
      throw IoError(
          fmt::format("{}: can't be made: {} is no folder", path.string(), parent.string()));
    if (!fs::status_known(status))
      throw IoError(fmt::format("{}: can't be made: {}", path.string(), error.message()));
  }
}

}  // namespace

MadeFolder::MadeFolder(const fs::path& path) {
  std::error_code error;
  for (fs::path part = path; !part.empty() && !fs::exists(part, error); part = part.parent_path())
    made_.push_back(part);
  fs::create_directories(path, error);
  if (!error) return;
  remove_empty();
  throw IoError(fmt::format("{}: can't be made: {}", path.string(), error.message()));
}

void MadeFolder::remove_empty() const {
  std::error_code ignored;
  for (const fs::path& folder : made_) fs::remove(folder, ignored);  // fails unless it is empty
}

void RunFolder::expect_free(bool overwrite) const {
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (!fs::status_known(status))
    throw IoError(fmt::format("{}: can't be made: {}", path_.string(), error.message()));
  if (!fs::exists(status)) return expect_can_be_made(path_);
  if (!fs::is_directory(status))
    throw IoError(fmt::format("{}: exists and is no folder", path_.string()));
  const bool empty = fs::is_empty(path_, error);
  if (error) throw IoError(fmt::format("{}: can't be read: {}", path_.string(), error.message()));
  if (empty) return;
  if (!fs::exists(args(), error))
    throw IoError(fmt::format("{}: is not empty and holds no run, expected a new or empty folder",
                              path_.string()));
  if (!overwrite)
    throw IoError(fmt::format("{}: holds a run; --overwrite replaces it, --resume goes on with it",
                              path_.string()));
}

void RunFolder::clear() const {
  std::error_code error;
  for (const fs::path& file : {args(), results(), model(), last(), split(), metrics(), confusion(),
                               per_class(), trials(), table(), report(), log()}) {
    fs::remove(file, error);
    if (error)
      throw IoError(fmt::format("{}: can't be removed: {}", file.string(), error.message()));
  }
}

void write_text(const fs::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_json(const fs::path& path, const Json& json) { write_text(path, to_text(json)); }

}  // namespace hyperatom::cli
