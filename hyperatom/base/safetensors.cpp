#include "hyperatom/base/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "hyperatom/base/atomic_file.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/base/sha256.hpp"

namespace hyperatom {
namespace {

static_assert(std::endian::native == std::endian::little, "the arrays are stored as they are");
static_assert(sizeof(Index) == 8, "indices are stored as I64");

constexpr std::uint64_t max_header = 1 << 20;
constexpr size_t max_rank = 8;
constexpr size_t length_size = 8;
constexpr size_t prefix_size = length_size + 1;  // the length and the first character of the header
constexpr std::string_view metadata_key = "__metadata__";
constexpr std::string_view digest_key = "sha256";
constexpr std::string_view no_digest =
    "0000000000000000000000000000000000000000000000000000000000000000";

struct ItemKind {
  ItemType type;
  std::string_view name;
  size_t size;
};

constexpr std::array<ItemKind, 5> item_kinds = {{{ItemType::f32, "F32", 4},
                                                 {ItemType::f64, "F64", 8},
                                                 {ItemType::i32, "I32", 4},
                                                 {ItemType::i64, "I64", 8},
                                                 {ItemType::u8, "U8", 1}}};

const ItemKind& kind_of(ItemType type) { return item_kinds[static_cast<size_t>(type)]; }

template <class... Arguments>
[[noreturn]] void fail(std::string_view name, fmt::format_string<Arguments...> message,
                       Arguments&&... arguments) {
  throw DataError(
      fmt::format("{}: {}", name, fmt::format(message, std::forward<Arguments>(arguments)...)));
}

/// The number of bytes of an array; nothing if it is beyond what can be counted.
std::optional<std::uint64_t> byte_count(ItemType type, const std::vector<std::uint64_t>& shape) {
  std::uint64_t bytes = kind_of(type).size;
  for (const std::uint64_t n : shape)
    if (n > std::numeric_limits<std::int64_t>::max() || __builtin_mul_overflow(bytes, n, &bytes))
      return std::nullopt;
  return bytes;
}

// ---- The header ---------------------------------------------------------------------------------

/// What the header says of one tensor.
struct Descriptor {
  std::optional<ItemType> type;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;
};

struct Header {
  std::map<std::string, std::string> metadata;
  std::map<std::string, Descriptor> tensors;
};

/// Accepts exactly the grammar above, as the parser meets it: nothing else is ever stored.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(std::string_view name) : name_(name) {}

  Header take() { return std::move(header_); }

  bool start_object(size_t /*size*/) override {
    if (at_ == At::start) {
      at_ = At::top;
    } else if (at_ == At::top) {
      at_ = key_ == metadata_key ? At::metadata : At::tensor;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(std::string& text) override {
    if (!is_new(text)) fail(name_, "the header has the key {} twice", in_quotes(text));
    (at_ == At::top ? key_ : field_) = text;
    return true;
  }

  bool string(std::string& text) override {
    if (at_ == At::metadata)
      header_.metadata.emplace(field_, text);
    else if (at_ == At::tensor && field_ == "dtype")
      tensor().type = parse_type(text);
    else
      unexpected("a string");
    return true;
  }

  bool start_array(size_t /*size*/) override {
    if (at_ != At::tensor || field_ == "dtype") unexpected("an array");
    at_ = At::numbers;
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (at_ != At::numbers) unexpected("a number");
    auto& numbers = field_ == "shape" ? *tensor().shape : *tensor().offsets;
    if (numbers.size() == max_rank)
      fail(name_, "tensor {} has a {} of more than {} numbers", in_quotes(key_), field_, max_rank);
    numbers.push_back(value);
    return true;
  }

  bool end_array() override {
    at_ = At::tensor;
    return true;
  }

  bool end_object() override {
    if (at_ == At::tensor)
      for (const auto& [present, field] : {std::pair(tensor().type.has_value(), "dtype"),
                                           std::pair(tensor().shape.has_value(), "shape"),
                                           std::pair(tensor().offsets.has_value(), "data_offsets")})
        if (!present) fail(name_, "tensor {} has no {}", in_quotes(key_), field);
    at_ = At::top;
    return true;
  }

  bool null() override { unexpected("null"); }
  bool boolean(bool /*value*/) override { unexpected("a truth value"); }
  bool number_integer(number_integer_t /*value*/) override { unexpected("a negative number"); }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    unexpected(fmt::format("the number {}", in_quotes(text)));
  }
  bool binary(binary_t& /*value*/) override { unexpected("binary data"); }

  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::json::exception& /*error*/) override {
    fail(name_, "the header is not valid JSON: error at its byte {}, after {}", position,
         in_quotes(token));
  }

 private:
  enum class At { start, top, metadata, tensor, numbers };

  Descriptor& tensor() { return header_.tensors.find(key_)->second; }

  /// Makes room for what a key stands for; false if that is there already.
  bool is_new(const std::string& key) {
    if (at_ == At::metadata) return !header_.metadata.contains(key);
    if (at_ == At::tensor) return is_new_field(key);
    if (key == metadata_key) return !std::exchange(has_metadata_, true);
    return header_.tensors.try_emplace(key).second;
  }

  bool is_new_field(std::string_view field) {
    if (field == "dtype") return !tensor().type;
    if (field != "shape" && field != "data_offsets")
      fail(name_, "tensor {} has the unknown field {}", in_quotes(key_), in_quotes(field));
    auto& numbers = field == "shape" ? tensor().shape : tensor().offsets;
    if (numbers) return false;
    numbers.emplace();
    return true;
  }

  ItemType parse_type(std::string_view text) const {
    std::vector<std::string_view> known;
    for (const ItemKind& kind : item_kinds) {
      if (kind.name == text) return kind.type;
      known.push_back(kind.name);
    }
    fail(name_, "tensor {} has the dtype {}, expected one of {}", in_quotes(key_), in_quotes(text),
         fmt::join(known, ", "));
  }

  [[noreturn]] void unexpected(std::string_view found) const {
    switch (at_) {
      case At::top:
        fail(name_, "the header has {} for {}, expected an object", found, in_quotes(key_));
      case At::metadata:
        fail(name_, "the metadata {} is {}, expected a string", in_quotes(field_), found);
      default:
        fail(name_, "tensor {} has {} in its {}, expected {}", in_quotes(key_), found, field_,
             field_ == "dtype" ? "a string" : "an array of unsigned numbers");
    }
  }

  std::string_view name_;
  Header header_;
  At at_ = At::start;
  bool has_metadata_ = false;
  std::string key_;    // of the header's object
  std::string field_;  // of the object in it
};

/// The length of the header, from the first bytes of a file of `size` bytes.
std::uint64_t header_length(std::span<const std::byte> prefix, std::uint64_t size,
                            std::string_view name) {
  if (size < prefix_size) fail(name, "is {} bytes long, too short for a safetensors file", size);
  std::uint64_t length = 0;
  std::memcpy(&length, prefix.data(), length_size);
  if (length > max_header)
    fail(name, "is no safetensors file: its header would have {} bytes, expected at most {}",
         length, max_header);
  if (length > size - length_size)
    fail(name, "is cut off: it has {} bytes, and its header alone {}", size, length);
  if (length == 0 || prefix[length_size] != std::byte{'{'})
    fail(name, "is no safetensors file: its header does not begin with '{{'");
  return length;
}

Header parse_header(std::string_view text, std::string_view name) {
  // The JSON parser would take it for the end of the text, and what follows would go unread.
  if (text.find('\0') != std::string_view::npos) fail(name, "the header contains a zero byte");
  HeaderReader reader(name);
  nlohmann::json::sax_parse(text, &reader);
  return reader.take();
}

// ---- The data -----------------------------------------------------------------------------------

/// Cuts the data into its tensors, which must cover it exactly.
std::map<std::string, Tensor> cut(std::span<const std::byte> data,
                                  std::map<std::string, Descriptor> descriptors,
                                  std::string_view name) {
  using Entry = std::pair<const std::string, Descriptor>;
  std::vector<Entry*> order;
  for (Entry& entry : descriptors) {
    if (entry.second.offsets->size() != 2)
      fail(name, "tensor {} has {} data_offsets, expected 2", in_quotes(entry.first),
           entry.second.offsets->size());
    order.push_back(&entry);
  }
  std::sort(order.begin(), order.end(),
            [](const Entry* a, const Entry* b) { return *a->second.offsets < *b->second.offsets; });

  std::map<std::string, Tensor> tensors;
  std::uint64_t position = 0;
  for (Entry* entry : order) {
    auto& [key, descriptor] = *entry;
    const ItemType type = *descriptor.type;
    const std::uint64_t begin = (*descriptor.offsets)[0], end = (*descriptor.offsets)[1];
    if (begin != position)
      fail(name, "tensor {} begins at byte {} of the data, expected {}: a hole or an overlap",
           in_quotes(key), begin, position);
    if (end < begin || end > data.size())
      fail(name, "tensor {} ends at byte {} of the data, expected between {} and {}",
           in_quotes(key), end, begin, data.size());
    const auto expected = byte_count(type, *descriptor.shape);
    if (!expected)
      fail(name, "tensor {} has the shape {}, too large to count its bytes", in_quotes(key),
           *descriptor.shape);
    if (end - begin != *expected)
      fail(name, "tensor {} has {} bytes, expected {} for {} {}", in_quotes(key), end - begin,
           *expected, kind_of(type).name, *descriptor.shape);
    const auto bytes = data.subspan(begin, end - begin);
    tensors[key] = {type, std::move(*descriptor.shape), {bytes.begin(), bytes.end()}};
    position = end;
  }
  if (position != data.size())
    fail(name, "the tensors end at byte {} of the data, which has {}", position, data.size());
  return tensors;
}

// ---- The digest ---------------------------------------------------------------------------------

/// Where the digits of the digest are, if it is written the way that the writer does. Quotes inside
/// a JSON string are escaped, so the pattern can't be part of one.
size_t find_digest(std::string_view header, std::string_view digest) {
  const std::string before = fmt::format("\"{}\":\"", digest_key);
  const size_t at = header.find(fmt::format("{}{}\"", before, digest));
  return at == std::string_view::npos ? at : at + before.size();
}

void verify_digest(std::span<const std::byte> bytes, std::string_view header,
                   std::string_view digest, std::string_view name) {
  const size_t at = find_digest(header, digest);
  if (digest.size() != no_digest.size() || at == std::string_view::npos)
    fail(name, "its digest {} is malformed", in_quotes(digest));
  const size_t begin = length_size + at;
  Sha256 hash;
  hash.update(bytes.first(begin));
  hash.update(no_digest);
  hash.update(bytes.subspan(begin + digest.size()));
  if (hash.hex_digest() != digest)
    fail(name, "is damaged: its content has the SHA-256 {}, expected {}", hash.hex_digest(),
         in_quotes(digest));
}

// ---- Values to and from tensors -----------------------------------------------------------------

template <class Item>
Tensor to_tensor(ItemType type, std::vector<std::uint64_t> shape, const Item* items, size_t n) {
  const auto bytes = std::as_bytes(std::span(items, n));
  return {type, std::move(shape), {bytes.begin(), bytes.end()}};
}

/// An empty array has no address to copy to.
void copy_to(void* target, const Tensor& tensor) {
  if (!tensor.bytes.empty()) std::memcpy(target, tensor.bytes.data(), tensor.bytes.size());
}

}  // namespace

void TensorFile::put_matrix(const std::string& key, const Matrix& values) {
  tensors[key] = to_tensor(
      ItemType::f64,
      {static_cast<std::uint64_t>(values.cols()), static_cast<std::uint64_t>(values.rows())},
      values.data(), static_cast<size_t>(values.size()));
}

void TensorFile::put_vector(const std::string& key, const Vector& values) {
  const auto n = static_cast<size_t>(values.size());
  tensors[key] = to_tensor(ItemType::f64, {n}, values.data(), n);
}

void TensorFile::put_integers(const std::string& key, const std::vector<Index>& values) {
  tensors[key] = to_tensor(ItemType::i64, {values.size()}, values.data(), values.size());
}

Matrix TensorFile::get_matrix(const std::string& key) const {
  const Tensor& tensor = get(key, ItemType::f64, 2);
  Matrix values(static_cast<Index>(tensor.shape[1]), static_cast<Index>(tensor.shape[0]));
  copy_to(values.data(), tensor);
  return values;
}

Vector TensorFile::get_vector(const std::string& key) const {
  const Tensor& tensor = get(key, ItemType::f64, 1);
  Vector values(static_cast<Index>(tensor.shape[0]));
  copy_to(values.data(), tensor);
  return values;
}

std::vector<Index> TensorFile::get_integers(const std::string& key) const {
  const Tensor& tensor = get(key, ItemType::i64, 1);
  std::vector<Index> values(tensor.shape[0]);
  copy_to(values.data(), tensor);
  return values;
}

const Tensor& TensorFile::get(const std::string& key, ItemType type, size_t rank) const {
  const auto found = tensors.find(key);
  if (found == tensors.end()) fail(name, "has no tensor {}", in_quotes(key));
  const Tensor& tensor = found->second;
  if (tensor.type != type || tensor.shape.size() != rank)
    fail(name, "tensor {} is {} with {} dimensions, expected {} with {}", in_quotes(key),
         kind_of(tensor.type).name, tensor.shape.size(), kind_of(type).name, rank);
  return tensor;
}

const std::string& TensorFile::get_text(const std::string& key) const {
  const auto found = metadata.find(key);
  if (found == metadata.end()) fail(name, "has no metadata {}", in_quotes(key));
  return found->second;
}

TensorFile parse_tensor_file(std::span<const std::byte> bytes, std::string_view name,
                             Digest digest) {
  const std::uint64_t length = header_length(bytes, bytes.size(), name);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + length_size, length);
  Header header = parse_header(text, name);
  const auto stored = header.metadata.extract(std::string(digest_key));
  if (stored)
    verify_digest(bytes, text, stored.mapped(), name);
  else if (digest == Digest::required)
    fail(name, "carries no SHA-256 in its metadata, so that damage could not be noticed");
  return {std::string(name), std::move(header.metadata),
          cut(bytes.subspan(length_size + length), std::move(header.tensors), name)};
}

TensorFile read_tensor_file(const std::filesystem::path& path, Digest digest) {
  const std::string name = path.string();
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) fail(name, "can't be read: {}", error.message());
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(name, "can't be read: {}", std::generic_category().message(errno));

  std::vector<std::byte> bytes;
  const auto read_up_to = [&](std::uint64_t end) {
    const size_t begin = bytes.size();
    bytes.resize(end);
    file.read(reinterpret_cast<char*>(bytes.data()) + begin,
              static_cast<std::streamsize>(end - begin));
    if (!file) fail(name, "can't be read: it ends before its {} bytes", size);
  };
  // Before a whole scene is loaded that was taken for a model.
  read_up_to(std::min<std::uint64_t>(size, prefix_size));
  header_length(bytes, size, name);
  read_up_to(size);
  return parse_tensor_file(bytes, name, digest);
}

std::vector<std::byte> serialize_tensor_file(const TensorFile& file, std::string_view name) {
  if (file.tensors.contains(std::string(metadata_key)))
    fail(name, "can't be written: no tensor may have the name {}", in_quotes(metadata_key));
  if (file.metadata.contains(std::string(digest_key)))
    fail(name, "can't be written: the metadata {} is the writer's", in_quotes(digest_key));

  // The largest items first: then each array is aligned without gaps between them.
  std::vector<const std::pair<const std::string, Tensor>*> order;
  for (const auto& entry : file.tensors) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return kind_of(a->second.type).size > kind_of(b->second.type).size;
  });

  nlohmann::json header;
  header[metadata_key] = file.metadata;
  header[metadata_key][digest_key] = no_digest;
  size_t end = 0;
  for (const auto* entry : order) {
    const auto& [key, tensor] = *entry;
    const size_t begin = end;
    end += tensor.bytes.size();
    header[key] = {{"dtype", kind_of(tensor.type).name},
                   {"shape", tensor.shape},
                   {"data_offsets", std::array<size_t, 2>{begin, end}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) {
    fail(name, "can't be written: a name or a text in it is not valid UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');

  std::vector<std::byte> bytes(length_size);
  const std::uint64_t length = text.size();
  std::memcpy(bytes.data(), &length, length_size);
  const auto append = [&](std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  bytes.reserve(length_size + text.size() + end);
  append(std::as_bytes(std::span(text)));
  for (const auto* entry : order) append(entry->second.bytes);

  Sha256 hash;
  hash.update(bytes);
  const size_t at = find_digest(text, no_digest);
  std::memcpy(&bytes[length_size + at], hash.hex_digest().data(), no_digest.size());
  parse_tensor_file(bytes, name);  // nothing is written that would not be read
  return bytes;
}

void write_tensor_file(const std::filesystem::path& path, const TensorFile& file) {
  const std::vector<std::byte> bytes = serialize_tensor_file(file, path.string());
  AtomicFile target(path);
  target.write(bytes);
  target.commit();
}

std::string in_quotes(std::string_view text) {
  constexpr size_t longest = 64;  // a digest still fits
  const auto replace = nlohmann::json::error_handler_t::replace;
  std::string result = nlohmann::json(text.substr(0, longest)).dump(-1, ' ', true, replace);
  if (text.size() > longest) result += "...";
  return result;
}

}  // namespace hyperatom
