#include "hyperatom/learn/model_file.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <limits>

#include "hyperatom/base/error.hpp"
#include "tests/support/example_model.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom::test {
namespace {

using Json = nlohmann::json;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_same(const Model& a, const Model& b) {
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.coding.lambda1, b.coding.lambda1);
  EXPECT_EQ(a.coding.lambda2, b.coding.lambda2);
  EXPECT_EQ(a.coding.tolerance, b.coding.tolerance);
  EXPECT_EQ(a.coding.max_steps, b.coding.max_steps);
  EXPECT_EQ(a.window, b.window);
  EXPECT_EQ(a.dictionary, b.dictionary);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.bias, b.bias);
  EXPECT_EQ(a.atom_classes, b.atom_classes);
  EXPECT_EQ(a.normalizer.kind, b.normalizer.kind);
  EXPECT_EQ(a.normalizer.offset, b.normalizer.offset);
  EXPECT_EQ(a.normalizer.scale, b.normalizer.scale);
  EXPECT_EQ(a.normalizer.mix, b.normalizer.mix);
  EXPECT_EQ(a.wavelengths, b.wavelengths);
  EXPECT_EQ(a.class_ids, b.class_ids);
  EXPECT_EQ(a.class_names, b.class_names);
  EXPECT_EQ(a.class_colours, b.class_colours);
  EXPECT_EQ(a.provenance, b.provenance);
}

TEST(ModelFile, GivesBackEveryField) {
  const TemporaryFolder folder;
  save_model(example_model(), folder / "m.safetensors");
  expect_same(load_model(folder / "m.safetensors"), example_model());
  EXPECT_EQ(folder.names(), std::set<std::string>{"m.safetensors"});
}

TEST(ModelFile, GivesBackTheMixOfBands) {
  const TemporaryFolder folder;
  Model model = example_model();
  model.normalizer = {"mnf", Vector::LinSpaced(5, 0, 1), Vector::Ones(5),
                      Matrix::Random(model.features(), 5)};
  model.wavelengths = Vector::LinSpaced(5, 0.4, 0.8);
  save_model(model, folder / "m.safetensors");
  expect_same(load_model(folder / "m.safetensors"), model);
}

TEST(ModelFile, SavingWhatWasLoadedGivesTheSameBytes) {
  const TemporaryFolder folder;
  Model model = example_model();
  for (const bool known : {true, false}) {
    if (!known) model.wavelengths.resize(0);
    save_model(model, folder / "a");
    save_model(load_model(folder / "a"), folder / "b");
    EXPECT_EQ(read_file(folder / "a"), read_file(folder / "b"));
  }
}

TEST(ModelFile, NumbersSurviveToTheLastBit) {
  Model model = example_model();
  for (const double x : {0.1, 1.0 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.0,
                         9007199254740993.0, 123456789012345680.0}) {
    model.coding.lambda1 = model.coding.lambda2 = x;
    model.kernel = {"polynomial", {{"degree", 3}, {"offset", x}}};
    const Model read = unpack_model(pack_model(model));
    EXPECT_EQ(read.coding.lambda1, x);
    EXPECT_EQ(read.coding.lambda2, x);
    EXPECT_EQ(read.kernel, model.kernel);
  }
}

TEST(ModelFile, EveryChangedByteIsNoticed) {
  const std::vector<std::byte> whole = serialize_tensor_file(pack_model(example_model()), "m");
  int unnoticed = 0;
  for (size_t i = 0; i < whole.size(); ++i)
    for (const unsigned change : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 255u}) {
      std::vector<std::byte> bytes = whole;
      bytes[i] ^= static_cast<std::byte>(change);
      try {
        unpack_model(parse_tensor_file(bytes, "m"));
        ++unnoticed;
      } catch (const DataError& error) {
        ASSERT_EQ(std::string(error.what()).substr(0, 3), "m: ");
      }
    }
  EXPECT_EQ(unnoticed, 0);
}

TEST(ModelFile, EveryCutIsNoticed) {
  const std::vector<std::byte> whole = serialize_tensor_file(pack_model(example_model()), "m");
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_THROW(parse_tensor_file(std::span(whole).first(n), "m"), DataError) << n;
}

TEST(ModelFile, FailedSaveLeavesTheOldModel) {
  const TemporaryFolder folder;
  save_model(example_model(), folder / "m");
  const std::string before = read_file(folder / "m");
  Model bad = example_model();
  bad.bias[0] = nan;
  EXPECT_EQ(thrown<DataError>([&] { save_model(bad, folder / "m"); }),
            (folder / "m").string() + ": the model's bias has an entry that is not finite");
  EXPECT_THROW(save_model(example_model(), folder / "m" / "n"), IoError);
  EXPECT_EQ(read_file(folder / "m"), before);
  EXPECT_EQ(folder.names(), std::set<std::string>{"m"});
}

// ---- What a model may not be --------------------------------------------------------------------

struct BadModel {
  const char* message;
  std::function<void(Model&)> spoil;
};

/// The example as an SVM of the same support vectors.
void make_svm(Model& model) {
  model.method = "svm-k";
  model.window = 1;
  model.weights = Matrix::Zero(1, 4);
  model.bias = Vector::Zero(1);
  model.atom_classes = {0, 0, 1, 1};
}

TEST(Model, ValidationNamesTheField) {
  const BadModel cases[] = {
      {"dictionary is 3 x 0, expected an atom or more",
       [](Model& m) { m.dictionary.resize(3, 0); }},
      {"dictionary is 0 x 4, expected an atom or more",
       [](Model& m) { m.dictionary.resize(0, 4); }},
      {"dictionary has an entry that is not finite", [](Model& m) { m.dictionary(1, 1) = nan; }},
      {"weights is 0 x 4, expected 2 x 4 (classes x atoms)",
       [](Model& m) { m.weights.resize(0, 4); }},
      {"class_ids has 0 entries, expected one per class, 1 to 65535",
       [](Model& m) { m.class_ids.clear(); }},
      {"class_ids has 65536 entries", [](Model& m) { m.class_ids.resize(65536); }},
      {"weights is 2 x 4, expected 0 x 0 (a method without weights)",
       [](Model& m) { m.method = "src-l12-k"; }},
      {"bias has 2 entries, expected 0 (a method without weights)",
       [](Model& m) {
         m.method = "src-l12-k";
         m.weights.resize(0, 0);
       }},
      {"weights is 2 x 4, expected 1 x 4 (other classes x atoms)",
       [](Model& m) { m.method = "svm-k"; }},
      {"bias has 2 entries, expected 1 (pairs of classes)",
       [](Model& m) {
         m.method = "svm-k";
         m.weights = Matrix::Zero(1, 4);
       }},
      {"window is 9, expected 1 for svm-k",
       [](Model& m) {
         make_svm(m);
         m.window = 9;
       }},
      {"atom_classes are not in order, expected support vectors class by class",
       [](Model& m) {
         make_svm(m);
         m.atom_classes = {0, 1, 0, 1};
       }},
      {"class_ids has 1 entry, expected 2 or more for svm-k",
       [](Model& m) {
         make_svm(m);
         m.class_ids.resize(1);
         m.atom_classes.assign(4, 0);
       }},
      {"weights is 2 x 5, expected 2 x 4 (classes x atoms)",
       [](Model& m) { m.weights = Matrix::Zero(2, 5); }},
      {"weights have an entry that is not finite", [](Model& m) { m.weights(0, 3) = -infinity; }},
      {"bias has 3 entries, expected 2 (classes)", [](Model& m) { m.bias = Vector::Zero(3); }},
      {"bias has an entry that is not finite", [](Model& m) { m.bias[1] = infinity; }},
      {"atom_classes has 3 entries, expected 4 (atoms)",
       [](Model& m) { m.atom_classes.pop_back(); }},
      {"atom_classes has a 2, expected 0 to 1", [](Model& m) { m.atom_classes[3] = 2; }},
      {"atom_classes has a -1, expected 0 to 1", [](Model& m) { m.atom_classes[0] = -1; }},
      {"normalizer is 'zscore', expected one of none, unit, standard, standard+unit, minmax",
       [](Model& m) { m.normalizer.kind = "zscore"; }},
      {"normalizer.offset has 2 entries, expected 3 (bands)",
       [](Model& m) { m.normalizer.offset.resize(2); }},
      {"normalizer.scale has 4 entries, expected 3 (bands)",
       [](Model& m) { m.normalizer.scale.resize(4); }},
      {"normalizer.mix is 3 x 5, expected none for",
       [](Model& m) { m.normalizer.mix.setOnes(3, 5); }},
      {"normalizer.mix is 2 x 5, expected 3 (features of an atom) x as many bands or more",
       [](Model& m) {
         m.normalizer.kind = "mnf";
         m.normalizer.mix.setOnes(2, 5);
       }},
      {"normalizer.offset has 3 entries, expected 5 (bands)",
       [](Model& m) {
         m.normalizer.kind = "mnf";
         m.normalizer.mix.setOnes(3, 5);
       }},
      {"normalizer.scale has an entry that is not finite",
       [](Model& m) { m.normalizer.scale[0] = nan; }},
      {"wavelengths has 2 entries, expected 3 (bands)", [](Model& m) { m.wavelengths.resize(2); }},
      {"wavelengths has an entry that is not finite", [](Model& m) { m.wavelengths[0] = nan; }},
      {"wavelengths begin at -1, expected more than 0", [](Model& m) { m.wavelengths[0] = -1; }},
      {"class_names has 2 entries, expected 3 (classes)",
       [](Model& m) {
         m.class_ids = {1, 2, 3};
         m.weights = Matrix::Zero(3, 4);
         m.bias = Vector::Zero(3);
       }},
      {"class_ids has 7 after 7, expected 8 to 65535", [](Model& m) { m.class_ids[0] = 7; }},
      {"class_ids has 0 after 0, expected 1 to 65535", [](Model& m) { m.class_ids[0] = 0; }},
      {"class_ids has 65536 after 2, expected 3 to 65535",
       [](Model& m) { m.class_ids[1] = 65536; }},
      {"class_names has 1 entries, expected 2 (classes)",
       [](Model& m) { m.class_names.pop_back(); }},
      {"class_colours has 3 entries, expected 2 (classes)",
       [](Model& m) { m.class_colours.emplace_back(); }},
      {"kernel is unfit: unknown kernel 'cosine'", [](Model& m) { m.kernel.name = "cosine"; }},
      {"kernel is unfit: spec ''", [](Model& m) { m.kernel = {}; }},
      {"kernel is unfit: spec 'gaussian(sigma=-1)': sigma must be",
       [](Model& m) { m.kernel.parameters[0].second = -1; }},
      {"kernel is unfit: spec 'gaussian(sigma=0.05,sigma=0.05)': parameter 'sigma' is given twice",
       [](Model& m) { m.kernel.parameters.push_back(m.kernel.parameters[0]); }},
      {"loss is unfit: spec ''", [](Model& m) { m.loss = {}; }},
      {"coding is unfit: lambda1 must be", [](Model& m) { m.coding.lambda1 = -1; }},
      {"coding is unfit: lambda2 must be", [](Model& m) { m.coding.lambda2 = nan; }},
      {"coding is unfit: tolerance must be", [](Model& m) { m.coding.tolerance = 0; }},
      {"coding is unfit: max_steps must be", [](Model& m) { m.coding.max_steps = 0; }},
      {"window is 0, expected 1 to 10000", [](Model& m) { m.window = 0; }},
      {"window is 10001, expected 1 to 10000", [](Model& m) { m.window = 10001; }},
  };
  for (const BadModel& bad : cases) {
    Model model = example_model();
    bad.spoil(model);
    EXPECT_PRED2(contains, thrown<DataError>([&] { validate(model); }),
                 std::string("the model's ") + bad.message);
  }
  EXPECT_NO_THROW(validate(example_model()));
}

TEST(ModelFile, NothingIsSavedThatWouldNotBeLoaded) {
  const TemporaryFolder folder;
  const BadModel cases[] = {
      {"the model's class_names has a text that is not valid UTF-8",
       [](Model& m) { m.class_names[0] = "\xc3"; }},
      {"the model's provenance has a text that is not valid UTF-8",
       [](Model& m) { m.provenance["k"] = "\xff"; }},
      {"the model's spec has a text that is not valid UTF-8", [](Model& m) { m.method = "\xff"; }},
      {"for method, expected at most 500 characters of printable ASCII",
       [](Model& m) { m.method = std::string(501, 'x'); }},
      {"for method, expected at most 500 characters of printable ASCII",
       [](Model& m) { m.method = "a\nb"; }},
      {"its spec has a null for lambda1, expected a number",
       [](Model& m) { m.coding.lambda1 = nan; }},
      {"its window is 1099511627776, expected an integer of a sensible size",
       [](Model& m) { m.window = Index{1} << 40; }},
      {"its loss can't be read: spec 'A': expected a name",
       [](Model& m) {
         m.loss = {"A", {}};
       }},
  };
  for (const BadModel& bad : cases) {
    Model model = example_model();
    bad.spoil(model);
    EXPECT_PRED2(contains, thrown<DataError>([&] { save_model(model, folder / "m"); }),
                 bad.message);
  }
  EXPECT_TRUE(folder.names().empty());
}

// ---- What a file may not be ---------------------------------------------------------------------

struct BadFile {
  const char* message;
  std::function<void(TensorFile&)> spoil;
};

/// Changes one field of the JSON in the metadata.
std::function<void(TensorFile&)> set(const char* text, const char* field, const Json& value) {
  return [=](TensorFile& file) {
    Json json = Json::parse(file.metadata[text]);
    json[field] = value;
    file.metadata[text] = json.dump();
  };
}

std::function<void(TensorFile&)> replace(const char* text, const std::string& value) {
  return [=](TensorFile& file) { file.metadata[text] = value; };
}

std::string load_refusal(const std::function<void(TensorFile&)>& spoil) {
  TensorFile file = pack_model(example_model());
  spoil(file);
  const TensorFile read = parse_tensor_file(serialize_tensor_file(file, "m"), "m");
  const std::string message = thrown<DataError>([&] { unpack_model(read); });
  EXPECT_EQ(message.substr(0, 3), "m: ");
  return message.substr(std::min<size_t>(message.size(), 3));
}

TEST(ModelFile, RefusesOtherFormatsAndSchemas) {
  EXPECT_EQ(load_refusal(replace("format", "pt")), "its format is \"pt\", expected \"hyperatom\"");
  EXPECT_EQ(load_refusal(replace("schema", "2")),
            "its schema is \"2\", and this version of hyperatom reads schema 1");
  EXPECT_EQ(load_refusal([](TensorFile& file) { file.metadata.erase("format"); }),
            "has no metadata \"format\"");
  EXPECT_EQ(load_refusal([](TensorFile& file) { file.metadata.erase("schema"); }),
            "has no metadata \"schema\"");
}

TEST(ModelFile, NamesWhatIsMissing) {
  const TensorFile whole = pack_model(example_model());
  EXPECT_EQ(whole.tensors.size(), 9u);
  for (const auto& entry : whole.tensors)
    EXPECT_EQ(load_refusal([&](TensorFile& file) { file.tensors.erase(entry.first); }),
              "has no tensor \"" + entry.first + "\"");
  for (const char* key : {"spec", "classes", "provenance"})
    EXPECT_EQ(load_refusal([&](TensorFile& file) { file.metadata.erase(key); }),
              "has no metadata \"" + std::string(key) + "\"");
  const Json spec = Json::parse(whole.metadata.at("spec"));
  EXPECT_EQ(spec.size(), 9u);
  for (const auto& [key, value] : spec.items()) {
    Json less = spec;
    less.erase(key);
    EXPECT_EQ(load_refusal(replace("spec", less.dump())), "its spec has no '" + key + "'");
  }
}

TEST(ModelFile, NamesWhatHasAnotherTypeOrShape) {
  const Tensor cube = {ItemType::f64, {1, 1, 1}, std::vector<std::byte>(8)};
  for (const char* key : {"dictionary", "weights", "bias", "atom.class", "norm.offset",
                          "norm.scale", "wavelength_um", "class.rgb"})
    EXPECT_PRED2(contains, load_refusal([&](TensorFile& file) { file.tensors[key] = cube; }),
                 "tensor \"" + std::string(key) + "\" is F64 with 3 dimensions, expected ");
  EXPECT_EQ(load_refusal([](TensorFile& file) {
              file.tensors["class.rgb"] = {ItemType::u8, {2, 4}, std::vector<std::byte>(8)};
            }),
            "tensor \"class.rgb\" has 4 values per class, expected 3");
  EXPECT_EQ(load_refusal([](TensorFile& file) { file.put_matrix("weights", Matrix::Zero(2, 5)); }),
            "the model's weights is 2 x 5, expected 2 x 4 (classes x atoms)");
  EXPECT_EQ(
      load_refusal([](TensorFile& file) { file.put_vector("bias", Vector::Constant(2, nan)); }),
      "the model's bias has an entry that is not finite");
}

TEST(ModelFile, RefusesBadTexts) {
  const BadFile cases[] = {
      {"its metadata 'spec' is not valid JSON", replace("spec", "{")},
      {"its metadata 'spec' is not valid JSON", replace("spec", "")},
      {"its metadata 'spec' is not valid JSON", replace("spec", "{} {}")},
      {"its metadata 'spec' is not valid JSON", replace("spec", "{\"lambda1\":1e999}")},
      {"its metadata 'spec' contains a zero byte", replace("spec", std::string("{}\0x", 4))},
      {"its metadata 'spec' is a JSON array, expected an object", replace("spec", "[]")},
      {"its metadata 'spec' is a JSON number, expected an object", replace("spec", "3")},
      {"its metadata 'spec' has a key twice", replace("spec", R"({"window":1,"window":1})")},
      {"its metadata 'spec' is nested, expected one level", set("spec", "kernel", Json::array())},
      {"its spec has a number for kernel, expected a text", set("spec", "kernel", 1)},
      {"its spec has a boolean for method, expected a text", set("spec", "method", true)},
      {"its spec has a string for lambda1, expected a number", set("spec", "lambda1", "0.1")},
      {"its spec has a number for window, expected an integer", set("spec", "window", 9.5)},
      {"its spec has a number for max_steps, expected an integer", set("spec", "max_steps", 1e300)},
      {"its max_steps is 4294967297, expected an integer of a sensible size",
       set("spec", "max_steps", 4294967297)},
      {"its max_steps is 18446744073709551615, expected an integer of a sensible size",
       set("spec", "max_steps", 18446744073709551615u)},
      {"its window is -9, expected an integer of a sensible size", set("spec", "window", -9)},
      {"the model's window is 10001, expected 1 to 10000", set("spec", "window", 10001)},
      {"its spec has the field \"prior\", which schema 1 does not know",
       set("spec", "prior", "l1")},
      {"its kernel can't be read: spec 'gaussian(': expected", set("spec", "kernel", "gaussian(")},
      {"for kernel, expected at most 500 characters", set("spec", "kernel", std::string(501, 'a'))},
      {"for loss, expected at most 500 characters of printable ASCII", set("spec", "loss", "\x1b")},
      {"the model's kernel is unfit: unknown kernel 'rbf'; known: ", set("spec", "kernel", "rbf")},
      {"the model's normalizer is 'l2', expected one of ", set("spec", "normalizer", "l2")},
      {"its metadata 'classes' is a JSON object, expected an array", replace("classes", "{}")},
      {"its metadata 'classes' is nested, expected one level", replace("classes", "[[\"a\"]]")},
      {"its class 1 has a number for a name, expected a text", replace("classes", "[\"a\",1]")},
      {"the model's class_names has 0 entries, expected 2", replace("classes", "[]")},
      {"its metadata 'provenance' is a JSON array, expected an object",
       replace("provenance", "[]")},
      {"its provenance has a number among its values, expected texts",
       set("provenance", "seed", 7)},
  };
  for (const BadFile& bad : cases) EXPECT_PRED2(contains, load_refusal(bad.spoil), bad.message);
}

TEST(ModelFile, DeepNestingIsRefusedAtOnce) {
  EXPECT_EQ(load_refusal(replace("spec", std::string(500000, '['))),
            "its metadata 'spec' is nested, expected one level");
}

TEST(ModelFile, FurtherTensorsAreIgnored) {
  TensorFile file = pack_model(example_model());
  file.put_vector("moments", Vector::Zero(3));
  file.metadata["step"] = "7";
  expect_same(unpack_model(file), example_model());
}

TEST(ModelFile, NeedsTheDigest) {
  const TemporaryFolder folder;
  save_model(example_model(), folder / "m");
  std::string text = read_file(folder / "m");
  text.replace(text.find("\"sha256\""), 8, "\"sha257\"");
  write_file(folder / "m", text);
  EXPECT_EQ(thrown<DataError>([&] { load_model(folder / "m"); }),
            (folder / "m").string() +
                ": carries no SHA-256 in its metadata, so that damage could not be noticed");
}

}  // namespace
}  // namespace hyperatom::test
