// MATLAB's .mat of version 7.3, which is HDF5, and plain HDF5 files with arrays at their root.
//
// libhdf5 crashes on hostile files, so it never runs in this process: the program hyperatom-mat73
// (mat73_helper.cpp) reads the file under tight limits and answers through a pipe, and its answer
// is trusted no more than a file would be. It is looked for where the environment variable
// HYPERATOM_MAT73 says, else beside the running program.
//
// The answer, little-endian, texts as u32 length and bytes:
//   u8 0  text                                     what is wrong with the file
//   u8 1  u32 count, count x { text name, text type, u8 numeric, shape }            of "list"
//   u8 2  text type, u8 element, u8 reversed, shape, values                         of "read NAME"
//   shape: u32 dimensions, then each as u64, in the order of the author; reversed: the first index
//   varies fastest in the values (as MATLAB has it), not the last
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hyperatom/io/array_file.hpp"

namespace hyperatom {

/// Throw DataError "<path>: ..." for whatever is wrong with the file; IoError if the helper is
/// missing or can't be started.
std::vector<ArrayInfo> list_mat73(const std::filesystem::path& path);
NumericArray read_mat73(const std::filesystem::path& path, const std::string& variable);

}  // namespace hyperatom
