// NumPy's .npy, versions 1 to 3: integers, floats of 4 and 8 bytes and booleans, in either byte
// order and either order of the axes. Objects, which would need Python to run, are refused.
//
//   "\x93NUMPY"  u8 major, u8 minor  u16 or u32 length  "{'descr': '<f4', 'fortran_order': False,
//   'shape': (145, 145, 200), }"  values
#pragma once

#include <istream>
#include <string>

#include "hyperatom/io/array_file.hpp"

namespace hyperatom {

bool is_npy(std::istream& file);

/// Throw DataError "<path>: ..."; what is allocated is no more than the file holds.
ArrayInfo inspect_npy(std::istream& file, const std::string& path);
NumericArray read_npy(std::istream& file, const std::string& path);

}  // namespace hyperatom
