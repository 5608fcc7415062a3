// Writes ENVI files by hand, right or wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace hyperatom::test {

/// Two rows, three columns, two bands of 16-bit integers; the value is 100 row + 10 col + band + 1.
struct Envi {
  static constexpr int rows = 2, cols = 3, bands = 2;

  std::string samples = "3", lines = "2", band_count = "2", offset = "0", type = "2",
              interleave = "bsq", byte_order = "0";
  std::string more;  ///< further lines of the header
  std::string payload = values<std::int16_t>("bsq");

  static int value(int row, int col, int band) { return 100 * row + 10 * col + band + 1; }

  template <class T>
  static std::string values(const std::string& interleave) {
    T cube[rows * cols * bands];
    for (int row = 0; row < rows; ++row)
      for (int col = 0; col < cols; ++col)
        for (int band = 0; band < bands; ++band) {
          const int at = interleave == "bsq"   ? (band * rows + row) * cols + col
                         : interleave == "bil" ? (row * bands + band) * cols + col
                                               : (row * cols + col) * bands + band;
          cube[at] = static_cast<T>(value(row, col, band));
        }
    return {reinterpret_cast<const char*>(cube), sizeof cube};
  }

  std::string header() const {
    return "ENVI\nsamples = " + samples + "\nlines = " + lines + "\nbands = " + band_count +
           "\nheader offset = " + offset + "\nfile type = ENVI Standard\ndata type = " + type +
           "\ninterleave = " + interleave + "\nbyte order = " + byte_order + "\n" + more;
  }

  /// Writes x.img and x.hdr; returns the path of the first.
  std::filesystem::path write(const TemporaryFolder& folder) const {
    write_file(folder / "x.img", payload);
    write_file(folder / "x.hdr", header());
    return folder / "x.img";
  }
};

}  // namespace hyperatom::test
