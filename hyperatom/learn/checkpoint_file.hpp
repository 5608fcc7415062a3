// A training's state as a file: the container of model files, so that nothing in it is trusted when
// it is read.
#pragma once

#include <filesystem>

#include "hyperatom/learn/trainer.hpp"

namespace hyperatom {

/// Throws IoError. What was there before is replaced only when the new file is complete.
void save_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path);

/// Throws DataError "<path>: ..." for a file that is not a checkpoint, or not a whole one.
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace hyperatom
