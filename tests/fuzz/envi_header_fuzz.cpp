// ENVI scenes through GDAL: a header and a small payload, whatever they say.
#include <cstdlib>
#include <string_view>

#include "hyperatom/base/error.hpp"
#include "hyperatom/io/scene_reader.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/envi.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using namespace hyperatom;
using test::Envi;

constexpr std::string_view separator = "\nPAYLOAD\n";  ///< between header and payload

/// Anew: some file systems make sure of a file that is overwritten, which takes long.
void replace_file(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::remove(path);
  test::write_file(path, content);
}

/// What is read must be what the description says, and finite.
void read_rows(SceneSource& source) {
  const SceneInfo& info = source.info();
  Strip strip;
  for (Index row = 0; row < info.rows; ++row) {
    source.read(row, 1, strip);
    if (strip.pixels.rows() != info.bands || strip.pixels.cols() != info.cols) std::abort();
    if (!strip.pixels.allFinite()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::TemporaryFolder folder;
  const std::string input(reinterpret_cast<const char*>(data), size);
  const size_t middle = std::min(input.find(separator), input.size());
  replace_file(folder / "x.hdr", input.substr(0, middle));
  replace_file(folder / "x.img", input.substr(std::min(middle + separator.size(), input.size())));
  const std::string path = (folder / "x.img").string();
  try {
    read_rows(*open_scene(path));
  } catch (const DataError& error) {
    if (!std::string_view(error.what()).starts_with(path + ": ")) std::abort();
  }
  if (folder.names().size() != 2) std::abort();  // nothing may be left beside the data
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  Envi plain, rich;
  rich.interleave = "bip";
  rich.more =
      "wavelength units = nm\nwavelength = {450, 550.5}\nbbl = {1, 0}\ndata ignore value = -9\n"
      "data gain values = {0.5, 2}\ndata offset values = {1, 2}\n"
      "band names = {b (0.4 um), c}\nreflectance scale factor = 10000\n"
      "map info = {UTM, 1, 1, 383851, 5819308, 9, 9, 33, North, WGS-84}\n";
  Envi compressed;
  compressed.more = "file compression = 1\n";
  std::vector<std::string> seeds;
  for (const Envi& envi : {plain, rich, compressed})
    seeds.push_back(envi.header() + std::string(separator) + envi.payload);
  return seeds;
}
