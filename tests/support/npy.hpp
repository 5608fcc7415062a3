// Writes .npy files by hand, right or wrong.
#pragma once

#include <string>

namespace hyperatom::test {

inline std::string npy_file(const std::string& header, const std::string& values, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(version), '\0'};
  for (size_t i = 0; i < (version == 1 ? 2u : 4u); ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + values;
}

inline std::string npy_header(const std::string& descr, const std::string& shape,
                              bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }          \n";
}

}  // namespace hyperatom::test
