#include "hyperatom/learn/model_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/sha256.hpp"

namespace hyperatom {
namespace {

using Json = nlohmann::json;

constexpr const char* format = "hyperatom";
constexpr const char* schema = "1";
constexpr size_t longest_setting = 500;  // characters; reading a spec may take their square

template <class... Arguments>
[[noreturn]] void fail(const TensorFile& file, fmt::format_string<Arguments...> message,
                       Arguments&&... arguments) {
  throw DataError(fmt::format("{}: {}", file.name,
                              fmt::format(message, std::forward<Arguments>(arguments)...)));
}

std::string dump(const Json& json, const char* field) {
  try {
    return json.dump();
  } catch (const Json::type_error&) {
    throw DataError(fmt::format("the model's {} has a text that is not valid UTF-8", field));
  }
}

/// One level of JSON of the given type: nesting, duplicate keys and trailing text are refused.
Json parse_flat(const TensorFile& file, const char* field, Json::value_t type) {
  const std::string& text = file.get_text(field);
  std::set<std::string> keys;
  const auto check = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth > 0 && (event == Event::object_start || event == Event::array_start))
      fail(file, "its metadata '{}' is nested, expected one level", field);
    if (event == Event::key && !keys.insert(parsed.get<std::string>()).second)
      fail(file, "its metadata '{}' has a key twice", field);
    return true;
  };
  // The parser would take a zero byte for the end of the text.
  if (text.find('\0') != std::string::npos)
    fail(file, "its metadata '{}' contains a zero byte", field);
  Json json;
  try {
    json = Json::parse(text, check);
  } catch (const Json::exception&) {
    fail(file, "its metadata '{}' is not valid JSON", field);
  }
  if (json.type() != type)
    fail(file, "its metadata '{}' is a JSON {}, expected an {}", field, json.type_name(),
         Json(type).type_name());
  return json;
}

/// Reads the fields of the spec and, at the end, refuses those that nobody asked for: a setting
/// that is ignored would change the results.
class SettingsReader {
 public:
  explicit SettingsReader(const TensorFile& file)
      : file_(file), fields_(parse_flat(file, "spec", Json::value_t::object)) {}

  std::string text(const char* key) {
    const Json value = take(key);
    if (!value.is_string()) wrong_type(key, "a text", value);
    const auto& text = value.get_ref<const std::string&>();
    const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
    if (text.size() > longest_setting || !std::all_of(text.begin(), text.end(), printable))
      fail(file_, "its spec has {} for {}, expected at most {} characters of printable ASCII",
           in_quotes(text), key, longest_setting);
    return text;
  }

  Spec spec(const char* key) {
    try {
      return Spec::parse(text(key));
    } catch (const OptionError& error) {
      fail(file_, "its {} can't be read: {}", key, error.what());
    }
  }

  double number(const char* key) {
    const Json value = take(key);
    if (!value.is_number()) wrong_type(key, "a number", value);
    return value.get<double>();
  }

  int integer(const char* key) {
    const Json value = take(key);
    if (!value.is_number_integer()) wrong_type(key, "an integer", value);
    const auto wide = value.get<std::int64_t>();
    // Unsigned numbers beyond the signed ones come out negative.
    if (wide < 0 || !std::in_range<int>(wide))
      fail(file_, "its {} is {}, expected an integer of a sensible size", key, value.dump());
    return static_cast<int>(wide);
  }

  void finish() const {
    if (!fields_.empty())
      fail(file_, "its spec has the field {}, which schema {} does not know",
           in_quotes(fields_.begin().key()), schema);
  }

 private:
  Json take(const char* key) {
    const auto found = fields_.find(key);
    if (found == fields_.end()) fail(file_, "its spec has no '{}'", key);
    Json value = std::move(*found);
    fields_.erase(found);
    return value;
  }

  [[noreturn]] void wrong_type(const char* key, const char* expected, const Json& found) const {
    fail(file_, "its spec has a {} for {}, expected {}", found.type_name(), key, expected);
  }

  const TensorFile& file_;
  Json fields_;
};

std::string settings(const Model& model) {
  return dump({{"method", model.method},
               {"kernel", model.kernel.to_string()},
               {"loss", model.loss.to_string()},
               {"lambda1", model.coding.lambda1},
               {"lambda2", model.coding.lambda2},
               {"tolerance", model.coding.tolerance},
               {"max_steps", model.coding.max_steps},
               {"window", model.window},
               {"normalizer", model.normalizer.kind}},
              "spec");
}

void read_settings(const TensorFile& file, Model& model) {
  SettingsReader reader(file);
  model.method = reader.text("method");
  model.kernel = reader.spec("kernel");
  model.loss = reader.spec("loss");
  model.coding.lambda1 = reader.number("lambda1");
  model.coding.lambda2 = reader.number("lambda2");
  model.coding.tolerance = reader.number("tolerance");
  model.coding.max_steps = reader.integer("max_steps");
  model.window = reader.integer("window");
  model.normalizer.kind = reader.text("normalizer");
  reader.finish();
}

std::vector<std::string> read_class_names(const TensorFile& file) {
  std::vector<std::string> names;
  for (const Json& name : parse_flat(file, "classes", Json::value_t::array)) {
    if (!name.is_string())
      fail(file, "its class {} has a {} for a name, expected a text", names.size(),
           name.type_name());
    names.push_back(name.get<std::string>());
  }
  return names;
}

std::map<std::string, std::string> read_provenance(const TensorFile& file) {
  std::map<std::string, std::string> provenance;
  const Json object = parse_flat(file, "provenance", Json::value_t::object);
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string())
      fail(file, "its provenance has a {} among its values, expected texts", value.type_name());
    provenance.emplace(key, value.get<std::string>());
  }
  return provenance;
}

Tensor pack_colours(const std::vector<std::array<std::uint8_t, 3>>& colours) {
  Tensor tensor{ItemType::u8, {colours.size(), 3}, {}};
  for (const auto& colour : colours)
    for (const std::uint8_t value : colour) tensor.bytes.push_back(std::byte{value});
  return tensor;
}

std::vector<std::array<std::uint8_t, 3>> read_colours(const TensorFile& file) {
  const Tensor& tensor = file.get("class.rgb", ItemType::u8, 2);
  if (tensor.shape[1] != 3)
    fail(file, "tensor \"class.rgb\" has {} values per class, expected 3", tensor.shape[1]);
  std::vector<std::array<std::uint8_t, 3>> colours(tensor.shape[0]);
  for (size_t i = 0; i < tensor.bytes.size(); ++i)
    colours[i / 3][i % 3] = std::to_integer<std::uint8_t>(tensor.bytes[i]);
  return colours;
}

}  // namespace

TensorFile pack_model(const Model& model) {
  TensorFile file;
  file.metadata = {{"format", format},
                   {"schema", schema},
                   {"spec", settings(model)},
                   {"classes", dump(model.class_names, "class_names")},
                   {"provenance", dump(model.provenance, "provenance")}};
  file.put_matrix("dictionary", model.dictionary);
  file.put_matrix("weights", model.weights);
  file.put_vector("bias", model.bias);
  file.put_integers("atom.class", model.atom_classes);
  file.put_integers("class.id", model.class_ids);
  file.put_vector("norm.offset", model.normalizer.offset);
  file.put_vector("norm.scale", model.normalizer.scale);
  if (model.normalizer.mix.size() > 0) file.put_matrix("norm.mix", model.normalizer.mix);
  file.put_vector("wavelength_um", model.wavelengths);
  file.tensors["class.rgb"] = pack_colours(model.class_colours);
  return file;
}

Model unpack_model(const TensorFile& file) {
  if (const std::string& found = file.get_text("format"); found != format)
    fail(file, "its format is {}, expected \"{}\"", in_quotes(found), format);
  if (const std::string& found = file.get_text("schema"); found != schema)
    fail(file, "its schema is {}, and this version of hyperatom reads schema {}", in_quotes(found),
         schema);
  Model model;
  read_settings(file, model);
  model.dictionary = file.get_matrix("dictionary");
  model.weights = file.get_matrix("weights");
  model.bias = file.get_vector("bias");
  model.atom_classes = file.get_integers("atom.class");
  model.class_ids = file.get_integers("class.id");
  model.normalizer.offset = file.get_vector("norm.offset");
  model.normalizer.scale = file.get_vector("norm.scale");
  if (file.tensors.contains("norm.mix")) model.normalizer.mix = file.get_matrix("norm.mix");
  model.wavelengths = file.get_vector("wavelength_um");
  model.class_names = read_class_names(file);
  model.class_colours = read_colours(file);
  model.provenance = read_provenance(file);
  try {
    validate(model);
  } catch (const DataError& error) {
    fail(file, "{}", error.what());
  }
  return model;
}

void save_model(const Model& model, const std::filesystem::path& path) {
  TensorFile file = pack_model(model);
  file.name = path.string();
  unpack_model(file);  // nothing is saved that would not be loaded
  write_tensor_file(path, file);
}

std::string model_hash(const Model& model) {
  Sha256 hash;
  for (const auto& [name, tensor] : pack_model(model).tensors) {
    hash.update(name);
    hash.update(tensor.bytes);
  }
  return hash.hex_digest();
}

Model load_model(const std::filesystem::path& path) { return unpack_model(read_tensor_file(path)); }

}  // namespace hyperatom
