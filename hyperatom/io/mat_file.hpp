// MATLAB's .mat of version 5 (and 6 and 7, which are the same, compressed): numeric arrays of it.
//
// The reader trusts nothing: it does not recurse, what it allocates for a variable is no more than
// its bytes in the file can hold (1032 times as much if they are compressed), and the values must
// fill the dimensions exactly.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "hyperatom/io/array_file.hpp"

namespace hyperatom {

bool is_mat5(std::istream& file);
/// Version 4, which is not read: no mark, but a first variable whose header, name and values fit.
bool is_mat4(std::istream& file);

/// Throw DataError "<path>: ...".
std::vector<ArrayInfo> list_mat5(std::istream& file, const std::string& path);
NumericArray read_mat5(std::istream& file, const std::string& path, const std::string& variable);

}  // namespace hyperatom
