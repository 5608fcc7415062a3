// The reader of model files, with and without the digest that keeps most mutants from its depths.
#include <cstdlib>

#include "hyperatom/base/error.hpp"
#include "hyperatom/learn/model_file.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/example_model.hpp"

namespace {

using namespace hyperatom;

std::string to_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Whatever was read must be written and read again without a change.
void expect_fixed_point(const TensorFile& file) {
  const std::vector<std::byte> bytes = serialize_tensor_file(file, "again");
  const TensorFile again = parse_tensor_file(bytes, "again");
  if (again.metadata != file.metadata || again.tensors != file.tensors) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  TensorFile file;
  Model model;
  bool is_file = false, is_model = false;
  try {
    file = parse_tensor_file(std::as_bytes(std::span(data, size)), "input", Digest::optional);
    is_file = true;
    model = unpack_model(file);
    is_model = true;
  } catch (const DataError& error) {
    if (!std::string_view(error.what()).starts_with("input: ")) std::abort();
  }
  if (size > 500000) return 0;  // the writer's digest may take such a header beyond the limit
  if (is_file) expect_fixed_point(file);
  if (is_model) expect_fixed_point(pack_model(model));
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  Model small = test::example_model();
  small.wavelengths.resize(0);
  small.provenance.clear();
  small.kernel = Spec::parse("linear");
  for (const Model& model : {test::example_model(), small}) {
    const std::string text = to_text(serialize_tensor_file(pack_model(model), "seed"));
    std::string without_digest = text;
    without_digest.replace(without_digest.find("\"sha256\""), 8, "\"sha257\"");
    seeds.push_back(text);
    seeds.push_back(without_digest);
  }
  TensorFile tiny;
  tiny.tensors["a"] = {ItemType::u8, {1}, {std::byte{1}}};
  std::string text = to_text(serialize_tensor_file(tiny, "seed"));
  text.replace(text.find("\"sha256\""), 8, "\"sha257\"");
  seeds.push_back(text);
  return seeds;
}
