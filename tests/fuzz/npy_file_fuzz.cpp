// The reader of NumPy files.
#include <cstdlib>
#include <sstream>

#include "hyperatom/base/error.hpp"
#include "hyperatom/io/npy_file.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyperatom;
  std::istringstream file(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const ArrayInfo info = inspect_npy(file, "input");
    const NumericArray array = read_npy(file, "input");
    if (array.info.shape != info.shape || array.values.size() > size) std::abort();
    MatrixF pixels;
    if (!array.values.empty() && array.dimensions() == 2) array.read_rows(0, info.shape[0]);
    if (!array.values.empty() && array.dimensions() == 3) array.read_rows(0, info.shape[0], pixels);
  } catch (const DataError& error) {
    if (!std::string_view(error.what()).starts_with("input: ")) std::abort();
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  using hyperatom::test::npy_file, hyperatom::test::npy_header;
  return {npy_file(npy_header("<f4", "(2, 3)"), std::string(24, 'x')),
          npy_file(npy_header(">u2", "(1, 2, 3)", true), std::string(12, 'x'), 2),
          npy_file(npy_header("|b1", "(4, )"), std::string(4, '\1'), 3),
          npy_file(npy_header("<i8", "()"), std::string(8, 'x'))};
}
