// Runs a fuzz target without a fuzzer.
//   NAME                      its seeds and 20,000 mutants of them, the same every time
//   NAME --write-seeds FOLDER writes the seeds, for a fuzzer to start from
//   NAME FILE...              those files: inputs that a fuzzer has found
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "hyperatom/base/random.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using hyperatom::Index;
using hyperatom::RandomStream;

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

size_t place(RandomStream& random, const std::string& text) {
  return static_cast<size_t>(random.below(static_cast<Index>(text.size()) + 1));
}

/// A few changes of the kinds that fuzzers make.
std::string mutant(std::string text, RandomStream& random) {
  for (Index changes = 1 + random.below(4); changes > 0; --changes) {
    const size_t at = place(random, text);
    const auto n = static_cast<size_t>(1 + random.below(8));
    const char byte = static_cast<char>(random.below(256));
    switch (random.below(5)) {
      case 0:
        if (at < text.size()) text[at] = byte;
        break;
      case 1:
        text.insert(at, n, byte);
        break;
      case 2:
        text.erase(at, n);
        break;
      case 3:
        text.insert(at, text.substr(place(random, text), n));
        break;
      default:  // a digit, since numbers decide most
        for (size_t i = at; i < text.size(); ++i)
          if (text[i] >= '0' && text[i] <= '9') {
            text[i] = static_cast<char>('0' + random.below(10));
            break;
          }
    }
  }
  return text;
}

void run_mutants() {
  constexpr std::uint64_t mutants = 20000;
  const std::vector<std::string> seeds = fuzz_seeds();
  for (const std::string& seed : seeds) run(seed);
  for (std::uint64_t i = 0; i < mutants; ++i) {
    RandomStream random(1, hyperatom::Purpose::sample, i);
    run(mutant(seeds[i % seeds.size()], random));
  }
  std::printf("%zu seeds and %d mutants\n", seeds.size(), static_cast<int>(mutants));
}

void write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const std::string& seed : fuzz_seeds())
    std::ofstream(folder / std::to_string(number++), std::ios::binary) << seed;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    run_mutants();
  } else if (arguments[0] == "--write-seeds" && arguments.size() == 2) {
    write_seeds(arguments[1]);
  } else {
    for (const std::string& path : arguments) {
      std::ifstream file(path, std::ios::binary);
      run({std::istreambuf_iterator<char>(file), {}});
    }
  }
}
