// The reader of MATLAB 5 files.
#include <cstdlib>
#include <sstream>

#include "hyperatom/base/error.hpp"
#include "hyperatom/io/mat_file.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/mat5.hpp"

namespace {

using namespace hyperatom;
namespace mat5 = test::mat5;

/// Every value of what was read must be within it.
void touch(const NumericArray& array) {
  if (array.values.empty()) return;
  MatrixF pixels;
  if (array.dimensions() == 2) array.read_rows(0, array.info.shape[0]);
  if (array.dimensions() == 3) array.read_rows(0, array.info.shape[0], pixels);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream file(std::string(reinterpret_cast<const char*>(data), size));
  try {
    for (const ArrayInfo& info : list_mat5(file, "input")) {
      if (info.text().empty()) std::abort();
      if (info.numeric) touch(read_mat5(file, "input", info.name));
    }
  } catch (const DataError& error) {
    if (!std::string_view(error.what()).starts_with("input: ")) std::abort();
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (const bool big_endian : {false, true}) {
    const test::Mat5Writer w(big_endian);
    const std::string cube =
        w.variable("cube", mat5::class_uint16, {2, 3, 2},
                   w.element(mat5::uint16, w.numbers(std::vector<std::uint16_t>(12, 7))));
    const std::string labels =
        w.variable("labels", mat5::class_double, {2, 2},
                   w.small_element(mat5::uint8, w.numbers<std::uint8_t>({1, 2, 3, 4})));
    const std::string others = w.variable("z", mat5::class_double | mat5::flag_complex, {1, 1},
                                          w.element(mat5::float64, w.numbers<double>({1}))) +
                               w.variable("cells", mat5::class_cell, {1, 1}, labels);
    seeds.push_back(w.file(cube + others));
    seeds.push_back(w.file(labels));
    seeds.push_back(w.file(w.compress(cube) + w.compress(labels)));
  }
  return seeds;
}
