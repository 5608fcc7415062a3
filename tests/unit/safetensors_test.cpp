#include "hyperatom/base/safetensors.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/random.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom::test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string to_text(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A file with this header, followed by `data` zero bytes.
Bytes raw(std::string_view header, size_t data = 0) {
  Bytes bytes(8);
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  const Bytes text = to_bytes(header);
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.resize(bytes.size() + data);
  return bytes;
}

std::string refusal(const Bytes& bytes, Digest digest = Digest::optional) {
  return thrown<DataError>([&] { parse_tensor_file(bytes, "f", digest); });
}

TensorFile example() {
  TensorFile file;
  file.metadata = {{"format", "test"}, {"text", "quote \" newline \n emoji \xf0\x9f\x8c\xb2"}};
  file.put_matrix("matrix", (Matrix(2, 3) << 1, 2, 3, 4, 5, 6).finished());
  file.put_vector("vector", (Vector(2) << -0.0, 1.0 / 3).finished());
  file.put_integers("integers", {-1, 0, std::numeric_limits<Index>::max()});
  file.put_vector("empty", Vector());
  file.tensors["a.bytes"] = {ItemType::u8, {3, 1}, to_bytes("xyz")};
  file.tensors["scalar"] = {ItemType::f32, {}, to_bytes("abcd")};
  file.tensors["small"] = {ItemType::i32, {2}, to_bytes("abcdefgh")};
  return file;
}

void expect_same(const TensorFile& a, const TensorFile& b) {
  EXPECT_EQ(a.metadata, b.metadata);
  EXPECT_EQ(a.tensors, b.tensors);
}

TEST(Safetensors, ReadsWhatWasWritten) {
  const TemporaryFolder folder;
  const TensorFile file = example();
  write_tensor_file(folder / "f.safetensors", file);
  const TensorFile read = read_tensor_file(folder / "f.safetensors");
  expect_same(read, file);
  EXPECT_EQ(read.name, (folder / "f.safetensors").string());
  EXPECT_EQ(read.get_matrix("matrix"), (Matrix(2, 3) << 1, 2, 3, 4, 5, 6).finished());
  EXPECT_TRUE(std::signbit(read.get_vector("vector")[0]));
  EXPECT_EQ(read.get_vector("vector")[1], 1.0 / 3);
  EXPECT_EQ(read.get_integers("integers"),
            (std::vector<Index>{-1, 0, std::numeric_limits<Index>::max()}));
  EXPECT_EQ(read.get_vector("empty").size(), 0);
  EXPECT_EQ(read.get_text("format"), "test");
  EXPECT_EQ(folder.names(), std::set<std::string>{"f.safetensors"});
}

TEST(Safetensors, SameContentSameBytes) {
  const Bytes bytes = serialize_tensor_file(example(), "f");
  EXPECT_EQ(serialize_tensor_file(parse_tensor_file(bytes, "g"), "g"), bytes);
}

// A reader elsewhere sees the matrix transposed, in C order: the atoms of a dictionary as its rows.
TEST(Safetensors, LayoutIsThatOfTheFormat) {
  TensorFile file;
  file.tensors["b"] = {ItemType::u8, {1}, to_bytes("!")};
  file.tensors["c"] = {ItemType::i32, {1}, to_bytes("1234")};
  file.put_matrix("d", (Matrix(2, 3) << 1, 2, 3, 4, 5, 6).finished());
  std::string text = to_text(serialize_tensor_file(file, "f"));
  text.replace(text.find("\"sha256\":\"") + 10, 64, "DIGEST" + std::string(58, ' '));
  std::string header = R"({"__metadata__":{"sha256":"DIGEST)" + std::string(58, ' ') +
                       R"("},)"
                       R"("b":{"data_offsets":[52,53],"dtype":"U8","shape":[1]},)"
                       R"("c":{"data_offsets":[48,52],"dtype":"I32","shape":[1]},)"
                       R"("d":{"data_offsets":[0,48],"dtype":"F64","shape":[3,2]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::uint64_t length = 0;
  std::memcpy(&length, text.data(), 8);
  EXPECT_EQ(length, header.size());
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(text.substr(8, length), header);
  std::vector<double> columns(6);
  std::memcpy(columns.data(), text.data() + 8 + length, 48);
  EXPECT_EQ(columns, (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(text.substr(8 + length + 48), "1234!");
}

TEST(Safetensors, RandomFilesSurviveTheRoundTrip) {
  RandomStream random(7, Purpose::sample);
  const auto random_text = [&] {
    std::string text;
    for (Index n = random.below(6); n > 0; --n) text += static_cast<char>(random.below(128));
    return text;
  };
  const size_t sizes[] = {4, 8, 4, 8, 1};
  for (int repeat = 0; repeat < 300; ++repeat) {
    TensorFile file;
    for (Index n = random.below(4); n > 0; --n) file.metadata[random_text()] = random_text();
    for (Index n = random.below(5); n > 0; --n) {
      Tensor tensor;
      tensor.type = static_cast<ItemType>(random.below(5));
      size_t size = sizes[static_cast<size_t>(tensor.type)];
      for (Index rank = random.below(4); rank > 0; --rank) {
        tensor.shape.push_back(static_cast<std::uint64_t>(random.below(4)));
        size *= tensor.shape.back();
      }
      for (size_t i = 0; i < size; ++i)
        tensor.bytes.push_back(static_cast<std::byte>(random.below(256)));
      file.tensors[random_text()] = tensor;
    }
    const Bytes bytes = serialize_tensor_file(file, "f");
    const TensorFile read = parse_tensor_file(bytes, "f");
    expect_same(read, file);
    EXPECT_EQ(serialize_tensor_file(read, "f"), bytes);
  }
}

TEST(Safetensors, EveryChangedByteIsNoticed) {
  const Bytes whole = serialize_tensor_file(example(), "f");
  int unnoticed = 0;
  for (size_t i = 0; i < whole.size(); ++i)
    // 0x2a turns the spaces of the padding into newlines.
    for (const unsigned change : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 255u, 0x2au}) {
      Bytes bytes = whole;
      bytes[i] ^= static_cast<std::byte>(change);
      try {
        parse_tensor_file(bytes, "f");
        ++unnoticed;
      } catch (const DataError& error) {
        ASSERT_EQ(std::string(error.what()).substr(0, 3), "f: ");
      }
    }
  EXPECT_EQ(unnoticed, 0);
}

TEST(Safetensors, EveryCutIsNoticed) {
  const Bytes whole = serialize_tensor_file(example(), "f");
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_THROW(parse_tensor_file(std::span(whole).first(n), "f", Digest::optional), DataError)
        << n;
  Bytes longer = whole;
  longer.push_back(std::byte{});
  EXPECT_THROW(parse_tensor_file(longer, "f", Digest::optional), DataError);
}

TEST(Safetensors, DigestIsThatOfTheFileWithZerosInItsPlace) {
  const std::string text = to_text(serialize_tensor_file(example(), "f"));
  const size_t at = text.find("\"sha256\":\"") + 10;
  std::string blank = text;
  blank.replace(at, 64, 64, '0');
  // A changed digest is refused with the right one.
  EXPECT_EQ(refusal(to_bytes(blank)), "f: is damaged: its content has the SHA-256 " +
                                          text.substr(at, 64) + ", expected \"" +
                                          std::string(64, '0') + "\"");
}

TEST(Safetensors, FilesOfOthersAreReadIfAskedTo) {
  const Bytes bytes = raw(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}  )", 2);
  EXPECT_EQ(parse_tensor_file(bytes, "f", Digest::optional).get("a", ItemType::u8, 1).bytes,
            Bytes(2));
  EXPECT_EQ(refusal(bytes, Digest::required),
            "f: carries no SHA-256 in its metadata, so that damage could not be noticed");
  EXPECT_TRUE(parse_tensor_file(raw("{}"), "f", Digest::optional).tensors.empty());
}

TEST(Safetensors, RefusesBadDigests) {
  const std::string digits(64, 'a');
  for (const std::string& metadata :
       {fmt::format(R"({{"sha256" : "{}"}})", digits), fmt::format(R"({{"sha256":"{}0"}})", digits),
        fmt::format(R"({{"sha25\u0036":"{}"}})", digits), std::string(R"({"sha256":""})")})
    EXPECT_PRED2(contains, refusal(raw(R"({"__metadata__":)" + metadata + "}")), "is malformed");
}

TEST(Safetensors, RefusesBadBeginnings) {
  EXPECT_EQ(refusal({}), "f: is 0 bytes long, too short for a safetensors file");
  EXPECT_EQ(refusal(Bytes(8)), "f: is 8 bytes long, too short for a safetensors file");
  EXPECT_EQ(refusal(Bytes(9)), "f: is no safetensors file: its header does not begin with '{'");
  EXPECT_EQ(refusal(raw(" {}")), "f: is no safetensors file: its header does not begin with '{'");
  EXPECT_EQ(refusal(Bytes(20, std::byte{0xff})),
            "f: is no safetensors file: its header would have 18446744073709551615 bytes, "
            "expected at most 1048576");
  Bytes cut = raw("{}");
  cut[0] = std::byte{3};
  EXPECT_EQ(refusal(cut), "f: is cut off: it has 10 bytes, and its header alone 3");
  const std::string padding((1 << 20) - 2, ' ');
  EXPECT_NO_THROW(parse_tensor_file(raw("{}" + padding), "f", Digest::optional));
  EXPECT_PRED2(contains, refusal(raw("{} " + padding)), "would have 1048577 bytes");
}

TEST(Safetensors, RefusesHeadersThatAreNoJson) {
  for (const std::string& header :
       {std::string("{"), std::string("{}{}"), std::string("{},"), std::string("{'a':1}"),
        std::string("{\"\xff\":{}}"), std::string("{\"a\":"), std::string("{}//"),
        std::string("{\"a\":{\"shape\":[1e999]}}")})
    EXPECT_PRED2(contains, refusal(raw(header)),
                 "f: the header is not valid JSON: error at its byte")
        << header;
  EXPECT_EQ(refusal(raw(std::string("{}\0{", 4))), "f: the header contains a zero byte");
}

TEST(Safetensors, RefusesHeadersOfAnotherShape) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":1})", R"(the header has a number for "a", expected an object)"},
      {R"({"a":"x"})", R"(the header has a string for "a", expected an object)"},
      {R"({"a":[]})", R"(the header has an array for "a", expected an object)"},
      {R"({"a":null})", R"(the header has null for "a", expected an object)"},
      {R"({"__metadata__":true})",
       R"(the header has a truth value for "__metadata__", expected an object)"},
      {R"({"__metadata__":{"k":1}})", R"(the metadata "k" is a number, expected a string)"},
      {R"({"__metadata__":{"k":{}}})", R"(the metadata "k" is an object, expected a string)"},
      {R"({"__metadata__":{"k":["x"]}})", R"(the metadata "k" is an array, expected a string)"},
      {R"({"a":{}})", R"(tensor "a" has no dtype)"},
      {R"({"a":{"dtype":"U8"}})", R"(tensor "a" has no shape)"},
      {R"({"a":{"dtype":"U8","shape":[]}})", R"(tensor "a" has no data_offsets)"},
      {R"({"a":{"dtype":"U8","name":""}})", R"(tensor "a" has the unknown field "name")"},
      {R"({"a":{"dtype":"BF16"}})",
       R"(tensor "a" has the dtype "BF16", expected one of F32, F64, I32, I64, U8)"},
      {R"({"a":{"dtype":8}})", R"(tensor "a" has a number in its dtype, expected a string)"},
      {R"({"a":{"dtype":["U8"]}})", R"(tensor "a" has an array in its dtype, expected a string)"},
      {R"({"a":{"shape":3}})",
       R"(tensor "a" has a number in its shape, expected an array of unsigned numbers)"},
      {R"({"a":{"shape":[-1]}})",
       R"(tensor "a" has a negative number in its shape, expected an array of unsigned numbers)"},
      {R"({"a":{"shape":[2.5]}})",
       R"(tensor "a" has the number "2.5" in its shape, expected an array of unsigned numbers)"},
      {R"({"a":{"shape":[18446744073709551616]}})",
       R"(the number "18446744073709551616" in its shape)"},
      {R"({"a":{"shape":[[1]]}})",
       R"(tensor "a" has an array in its shape, expected an array of unsigned numbers)"},
      {R"({"a":{"shape":[{}]}})", R"(tensor "a" has an object in its shape)"},
      {R"({"a":{"shape":{}}})", R"(tensor "a" has an object in its shape)"},
      {R"({"a":{"shape":["1"]}})", R"(tensor "a" has a string in its shape)"},
      {R"({"a":{"data_offsets":[null]}})", R"(tensor "a" has null in its data_offsets)"},
      {R"({"a":{"shape":[1,1,1,1,1,1,1,1,1]}})",
       R"(tensor "a" has a shape of more than 8 numbers)"},
      {R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0]}})",
       R"(tensor "a" has 1 data_offsets, expected 2)"},
      {R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0,1,1]}})",
       R"(tensor "a" has 3 data_offsets, expected 2)"},
  };
  for (const auto& [header, message] : cases)
    EXPECT_PRED2(contains, refusal(raw(header, 1)), message) << header;
}

TEST(Safetensors, RefusesDuplicateKeys) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"__metadata__":{},"__metadata__":{}})", "\"__metadata__\""},
      {R"({"__metadata__":{"k":"1","k":"1"}})", "\"k\""},
      {R"({"__metadata__":{"k":"1","\u006b":"1"}})", "\"k\""},
      {R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}})", "\"a\""},
      {R"({"a":{"dtype":"U8","dtype":"U8"}})", "\"dtype\""},
      {R"({"a":{"shape":[0],"shape":[0]}})", "\"shape\""},
      {R"({"a":{"data_offsets":[0,0],"data_offsets":[0,0]}})", "\"data_offsets\""},
  };
  for (const auto& [header, key] : cases)
    EXPECT_EQ(refusal(raw(header)), fmt::format("f: the header has the key {} twice", key));
}

std::string one(const char* type, const char* shape, const char* offsets) {
  return fmt::format(R"({{"a":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", type, shape,
                     offsets);
}

TEST(Safetensors, RefusesDataThatDoesNotFit) {
  EXPECT_EQ(refusal(raw(one("F64", "[2]", "[0,8]"), 8)),
            "f: tensor \"a\" has 8 bytes, expected 16 for F64 [2]");
  EXPECT_EQ(refusal(raw(one("U8", "[2]", "[1,3]"), 3)),
            "f: tensor \"a\" begins at byte 1 of the data, expected 0: a hole or an overlap");
  EXPECT_EQ(refusal(raw(one("U8", "[2]", "[0,2]"), 1)),
            "f: tensor \"a\" ends at byte 2 of the data, expected between 0 and 1");
  EXPECT_EQ(refusal(raw(one("U8", "[2]", "[0,2]"), 3)),
            "f: the tensors end at byte 2 of the data, which has 3");
  EXPECT_EQ(refusal(raw("{}", 1)), "f: the tensors end at byte 0 of the data, which has 1");
  EXPECT_EQ(refusal(raw(one("U8", "[4294967296,4294967296]", "[0,0]"))),
            "f: tensor \"a\" has the shape [4294967296, 4294967296], too large to count its bytes");
  EXPECT_PRED2(contains, refusal(raw(one("F64", "[2305843009213693952]", "[0,0]"))), "too large");
  EXPECT_PRED2(contains, refusal(raw(one("U8", "[0,9223372036854775808]", "[0,0]"))), "too large");
  EXPECT_PRED2(contains, refusal(raw(one("U8", "[1]", "[18446744073709551615,0]"), 1)),
               "begins at byte 18446744073709551615");
}

TEST(Safetensors, RefusesHolesAndOverlaps) {
  const auto two = [](const char* a, const char* b) {
    return raw(fmt::format(R"({{"a":{{"dtype":"U8","shape":[2],"data_offsets":{}}},)"
                           R"("b":{{"dtype":"U8","shape":[2],"data_offsets":{}}}}})",
                           a, b),
               4);
  };
  EXPECT_NO_THROW(parse_tensor_file(two("[0,2]", "[2,4]"), "f", Digest::optional));
  EXPECT_NO_THROW(parse_tensor_file(two("[2,4]", "[0,2]"), "f", Digest::optional));
  EXPECT_PRED2(contains, refusal(two("[0,2]", "[1,3]")),
               "\"b\" begins at byte 1 of the data, expected 2");
  EXPECT_PRED2(contains, refusal(two("[0,2]", "[0,2]")),
               "\"b\" begins at byte 0 of the data, expected 2");
  EXPECT_PRED2(contains, refusal(two("[0,2]", "[3,5]")),
               "\"b\" begins at byte 3 of the data, expected 2");
  EXPECT_PRED2(contains, refusal(two("[0,2]", "[2,1]")),
               "ends at byte 1 of the data, expected between 2 and 4");
}

TEST(Safetensors, MessagesTameTheTextOfAFile) {
  const std::string name = "\\u001b[2J" + std::string(100000, 'x');
  const std::string message = refusal(raw("{\"" + name + "\":1}"));
  EXPECT_LT(message.size(), 200u);
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_PRED2(contains, message, "\"\\u001b[2Jxxx");
}

TEST(Safetensors, NothingIsWrittenThatWouldNotBeRead) {
  const auto refused = [](const auto& change) {
    TensorFile file = example();
    change(file);
    return thrown<DataError>([&] { serialize_tensor_file(file, "f"); });
  };
  EXPECT_EQ(refused([](TensorFile& file) { file.tensors["__metadata__"] = {}; }),
            "f: can't be written: no tensor may have the name \"__metadata__\"");
  EXPECT_EQ(refused([](TensorFile& file) { file.metadata["sha256"] = ""; }),
            "f: can't be written: the metadata \"sha256\" is the writer's");
  EXPECT_EQ(refused([](TensorFile& file) { file.metadata["k"] = "\xff"; }),
            "f: can't be written: a name or a text in it is not valid UTF-8");
  EXPECT_EQ(refused([](TensorFile& file) {
              file.tensors["a"] = {ItemType::f32, {2}, Bytes(7)};
            }),
            "f: tensor \"a\" has 7 bytes, expected 8 for F32 [2]");
  EXPECT_PRED2(contains,
               refused([](TensorFile& file) { file.metadata["k"] = std::string(1 << 20, 'x'); }),
               "expected at most 1048576");
}

TEST(Safetensors, FailedWriteLeavesTheOldFile) {
  const TemporaryFolder folder;
  write_file(folder / "f", "old");
  TensorFile file = example();
  file.metadata["k"] = "\xff";
  EXPECT_THROW(write_tensor_file(folder / "f", file), DataError);
  EXPECT_THROW(write_tensor_file(folder / "no" / "f", example()), IoError);
  EXPECT_EQ(read_file(folder / "f"), "old");
  EXPECT_EQ(folder.names(), std::set<std::string>{"f"});
}

TEST(Safetensors, AccessorsNameWhatIsMissingOrOther) {
  const TensorFile file = parse_tensor_file(serialize_tensor_file(example(), "f"), "f");
  EXPECT_EQ(thrown<DataError>([&] { file.get_matrix("no"); }), "f: has no tensor \"no\"");
  EXPECT_EQ(thrown<DataError>([&] { file.get_text("no"); }), "f: has no metadata \"no\"");
  EXPECT_EQ(thrown<DataError>([&] { file.get_matrix("vector"); }),
            "f: tensor \"vector\" is F64 with 1 dimensions, expected F64 with 2");
  EXPECT_EQ(thrown<DataError>([&] { file.get_vector("integers"); }),
            "f: tensor \"integers\" is I64 with 1 dimensions, expected F64 with 1");
  EXPECT_EQ(thrown<DataError>([&] { file.get_integers("small"); }),
            "f: tensor \"small\" is I32 with 1 dimensions, expected I64 with 1");
}

TEST(Safetensors, UnreadableFiles) {
  const TemporaryFolder folder;
  const std::string missing = (folder / "no").string();
  EXPECT_EQ(thrown<DataError>([&] { read_tensor_file(missing); }),
            missing + ": can't be read: No such file or directory");
  EXPECT_EQ(thrown<DataError>([&] { read_tensor_file(folder.path()); }),
            folder.path().string() + ": can't be read: Is a directory");
  write_file(folder / "empty", "");
  EXPECT_EQ(thrown<DataError>([&] { read_tensor_file(folder / "empty"); }),
            (folder / "empty").string() + ": is 0 bytes long, too short for a safetensors file");
  write_file(folder / "other", std::string(1000, 'x'));
  EXPECT_PRED2(contains, thrown<DataError>([&] { read_tensor_file(folder / "other"); }),
               "other: is no safetensors file");
}

// A file that is taken for a model must not be loaded before its first bytes were looked at.
TEST(Safetensors, HugeFilesOfOtherKindsAreNotLoaded) {
  const TemporaryFolder folder;
  write_file(folder / "huge", std::string(16, 'x'));
  std::filesystem::resize_file(folder / "huge", std::uintmax_t{1} << 42);  // sparse
  EXPECT_PRED2(contains, thrown<DataError>([&] { read_tensor_file(folder / "huge"); }),
               "is no safetensors file");
}

}  // namespace
}  // namespace hyperatom::test
