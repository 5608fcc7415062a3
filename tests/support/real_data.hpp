// Real scenes, which the project does not ship: tests that need one are skipped where it is absent.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace hyperatom::test {

/// HYPERATOM_DATA, or ../shared/data beside the repository.
inline std::filesystem::path real_data(const std::string& file) {
  const char* folder = std::getenv("HYPERATOM_DATA");
  return std::filesystem::path(folder != nullptr ? folder
                                                 : HYPERATOM_SOURCE_DIR "/../shared/data") /
         file;
}

}  // namespace hyperatom::test

/// Skips the test, with a message, if `path` is not there.
#define HYPERATOM_NEEDS(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here (HYPERATOM_DATA)"
