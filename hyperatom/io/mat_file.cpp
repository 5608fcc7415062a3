#include "hyperatom/io/mat_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "hyperatom/base/safetensors.hpp"
#include "hyperatom/io/array_layout.hpp"
#include "hyperatom/io/data_error.hpp"

namespace hyperatom {
namespace {

constexpr size_t header_size = 128;
constexpr size_t tag_size = 8;
constexpr std::uint32_t max_name = 4096;
constexpr std::uint32_t max_dimensions = 32;

// The types of data elements that matter here.
constexpr std::uint32_t mi_int8 = 1, mi_int32 = 5, mi_uint32 = 6, mi_matrix = 14,
                        mi_compressed = 15, mi_utf8 = 16;
constexpr std::uint32_t class_opaque = 17;
constexpr std::uint32_t flag_complex = 0x0800, flag_logical = 0x0200, class_mask = 0xff;

std::optional<Element> element_of(std::uint32_t type) {
  switch (type) {
    case mi_int8:
      return Element::i8;
    case 2:
      return Element::u8;
    case 3:
      return Element::i16;
    case 4:
      return Element::u16;
    case mi_int32:
      return Element::i32;
    case mi_uint32:
      return Element::u32;
    case 7:
      return Element::f32;
    case 9:
      return Element::f64;
    case 12:
      return Element::i64;
    case 13:
      return Element::u64;
    default:
      return std::nullopt;
  }
}

/// The names of the classes from 1 on, and whether their arrays are plain numbers.
struct MatClass {
  const char* name;
  bool numeric;
};
constexpr std::array<MatClass, 17> mat_classes = {{{"cell", false},
                                                   {"struct", false},
                                                   {"object", false},
                                                   {"char", false},
                                                   {"sparse", false},
                                                   {"double", true},
                                                   {"single", true},
                                                   {"int8", true},
                                                   {"uint8", true},
                                                   {"int16", true},
                                                   {"uint16", true},
                                                   {"int32", true},
                                                   {"uint32", true},
                                                   {"int64", true},
                                                   {"uint64", true},
                                                   {"function", false},
                                                   {"opaque", false}}};

// ---- Bytes, plain or compressed -----------------------------------------------------------------

class Source {
 public:
  virtual ~Source() = default;
  /// All of `to`, or a DataError.
  virtual void read(std::span<std::byte> to) = 0;
  /// More than this can't follow.
  virtual std::uint64_t at_most() const = 0;
};

class PlainSource final : public Source {
 public:
  PlainSource(std::istream& file, std::uint64_t length, const std::string& path)
      : file_(file), left_(length), path_(path) {}

  void read(std::span<std::byte> to) override {
    if (to.size() > left_ ||
        !file_.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size())))
      fail(path_, "ends within a variable");
    left_ -= to.size();
  }
  std::uint64_t at_most() const override { return left_; }

 private:
  std::istream& file_;
  std::uint64_t left_;
  const std::string& path_;
};

class InflatingSource final : public Source {
 public:
  InflatingSource(std::istream& file, std::uint64_t length, const std::string& path)
      : file_(file), left_(length), path_(path) {
    if (inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
  }
  ~InflatingSource() override { inflateEnd(&stream_); }
  InflatingSource(const InflatingSource&) = delete;
  InflatingSource& operator=(const InflatingSource&) = delete;

  void read(std::span<std::byte> to) override {
    while (!to.empty()) {
      const auto piece = static_cast<uInt>(std::min<size_t>(to.size(), 1 << 30));
      stream_.next_out = reinterpret_cast<Bytef*>(to.data());
      stream_.avail_out = piece;
      if (stream_.avail_in == 0) refill();
      const int result = inflate(&stream_, Z_NO_FLUSH);
      const size_t made = piece - stream_.avail_out;
      to = to.subspan(made);
      const bool stuck = made == 0 && stream_.avail_in == 0 && left_ == 0;
      if ((result == Z_STREAM_END && !to.empty()) || stuck)
        fail(path_, "ends within a compressed variable");
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        fail(path_, "holds damaged compressed data: {}",
             stream_.msg != nullptr ? stream_.msg : "no reason given");
    }
  }
  std::uint64_t at_most() const override {
    return (left_ + stream_.avail_in + window_) * largest_deflate_ratio;
  }

 private:
  void refill() {
    const auto n = static_cast<size_t>(std::min<std::uint64_t>(left_, buffer_.size()));
    if (!file_.read(buffer_.data(), static_cast<std::streamsize>(n)))
      fail(path_, "ends within a compressed variable");
    left_ -= n;
    stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_in = static_cast<uInt>(n);
  }

  static constexpr std::uint64_t window_ = 1 << 6;  // input that zlib has taken, but not used yet
  std::istream& file_;
  std::uint64_t left_;
  const std::string& path_;
  z_stream stream_{};
  std::array<char, 1 << 14> buffer_;
};

// ---- Data elements ------------------------------------------------------------------------------

struct Tag {
  std::uint32_t type = 0;
  std::uint32_t bytes = 0;
  std::optional<std::array<std::byte, 4>> small;  ///< the data, when they are within the tag
};

/// Reads the elements of one variable, within the bytes that its own tag promises.
class ElementReader {
 public:
  ElementReader(Source& source, bool swapped, const std::string& path)
      : source_(source), swapped_(swapped), path_(path) {}

  void limit_to(std::uint64_t bytes) { left_ = bytes; }
  const std::string& path() const { return path_; }

  Tag read_tag() {
    std::array<std::byte, tag_size> raw;
    read(raw);
    Tag tag{number(raw.data()), number(raw.data() + 4), std::nullopt};
    if (tag.type >> 16 == 0) return tag;
    tag.bytes = tag.type >> 16;
    tag.type &= 0xffff;
    if (tag.bytes > 4) fail(path_, "found a small element of {} bytes, expected 4", tag.bytes);
    tag.small.emplace();
    std::copy_n(raw.begin() + 4, 4, tag.small->begin());
    return tag;
  }

  /// The data after a tag, which must be one of a size that the caller has found sane.
  std::vector<std::byte> read_data(const Tag& tag) {
    if (tag.small) return {tag.small->begin(), tag.small->begin() + tag.bytes};
    if (tag.bytes > std::min(left_, source_.at_most()))
      fail(path_, "found an element of {} bytes, expected at most {}", tag.bytes,
           std::min(left_, source_.at_most()));
    std::vector<std::byte> data(tag.bytes);
    read(data);
    return data;
  }

  /// The same, and what fills it up to eight bytes.
  std::vector<std::byte> read_padded(const Tag& tag) {
    std::vector<std::byte> data = read_data(tag);
    std::array<std::byte, 8> padding;
    if (!tag.small) read(std::span(padding).first((8 - tag.bytes % 8) % 8));
    return data;
  }

  std::vector<std::uint32_t> numbers(std::vector<std::byte> data) const {
    std::vector<std::uint32_t> result;
    for (size_t at = 0; at + 4 <= data.size(); at += 4) result.push_back(number(&data[at]));
    return result;
  }

  void to_native(std::vector<std::byte>& values, Element element) const {
    if (swapped_) swap_bytes(values, size_of(element));
  }

 private:
  void read(std::span<std::byte> to) {
    if (to.size() > left_) fail(path_, "found a variable that is longer than its tag says");
    source_.read(to);
    left_ -= to.size();
  }

  std::uint32_t number(const std::byte* bytes) const {
    std::uint32_t value;
    std::memcpy(&value, bytes, sizeof value);
    return swapped_ ? __builtin_bswap32(value) : value;
  }

  Source& source_;
  bool swapped_;
  const std::string& path_;
  std::uint64_t left_ = tag_size;
};

// ---- Variables ----------------------------------------------------------------------------------

std::vector<Index> read_shape(ElementReader& reader) {
  const Tag tag = reader.read_tag();
  if (tag.type != mi_int32 || tag.bytes % 4 != 0 || tag.bytes / 4 > max_dimensions)
    fail(reader.path(), "found dimensions of type {} and {} bytes, expected type {} and up to {}",
         tag.type, tag.bytes, mi_int32, 4 * max_dimensions);
  std::vector<Index> shape;
  for (const std::uint32_t n : reader.numbers(reader.read_padded(tag))) {
    shape.push_back(static_cast<std::int32_t>(n));
    if (shape.back() < 0) fail(reader.path(), "found a dimension of {}", shape.back());
  }
  return shape;
}

std::string read_name(ElementReader& reader) {
  const Tag tag = reader.read_tag();
  if ((tag.type != mi_int8 && tag.type != mi_utf8) || tag.bytes > max_name)
    fail(reader.path(), "found a name of type {} and {} bytes, expected type {} and up to {}",
         tag.type, tag.bytes, mi_int8, max_name);
  const std::vector<std::byte> text = reader.read_padded(tag);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

/// What precedes the values.
ArrayInfo read_info(ElementReader& reader) {
  const Tag tag = reader.read_tag();
  if (tag.type != mi_uint32 || tag.bytes != 8)
    fail(reader.path(), "found array flags of type {} and {} bytes, expected type {} and 8",
         tag.type, tag.bytes, mi_uint32);
  const std::uint32_t flags = reader.numbers(reader.read_data(tag))[0];
  const std::uint32_t mat_class = flags & class_mask;
  if (mat_class < 1 || mat_class > mat_classes.size())
    fail(reader.path(), "found a variable of class {}, expected 1 to {}", mat_class,
         mat_classes.size());
  const MatClass& known = mat_classes[mat_class - 1];
  ArrayInfo info;
  info.type = known.name;
  info.numeric = known.numeric && (flags & flag_complex) == 0;
  if ((flags & flag_complex) != 0 && known.numeric) info.type = "complex " + info.type;
  if ((flags & flag_logical) != 0 && known.numeric) info.type = "logical";
  if (mat_class != class_opaque) info.shape = read_shape(reader);
  info.name = read_name(reader);
  return info;
}

NumericArray read_values(ElementReader& reader, ArrayInfo info) {
  const Tag tag = reader.read_tag();
  const std::optional<Element> element = element_of(tag.type);
  if (!element) fail(reader.path(), "found values of type {} in {}", tag.type, info.text());
  const std::optional<std::uint64_t> bytes = byte_count(info.shape, *element);
  if (bytes != tag.bytes)
    fail(reader.path(), "found {} bytes of values in {}, expected {}", tag.bytes, info.text(),
         bytes ? std::to_string(*bytes) : "more than can be counted");
  NumericArray array;
  array.values = reader.read_data(tag);
  array.element = *element;
  reader.to_native(array.values, *element);
  array.strides = strides_of(info.shape, Order::first_fastest);
  array.info = std::move(info);
  return array;
}

// ---- The file -----------------------------------------------------------------------------------

/// Whether the byte order is the other one; nothing when it is no version 5 file.
std::optional<bool> read_byte_order(std::istream& file) {
  std::array<char, header_size> header;
  file.clear();
  if (!file.seekg(0).read(header.data(), header.size())) return std::nullopt;
  const std::string_view mark(&header[124], 4);
  using namespace std::string_view_literals;
  if (mark == "\0\1IM"sv) return false;
  if (mark == "\1\0MI"sv) return true;
  return std::nullopt;
}

/// The five numbers at the start of a version 4 file. Its type is MOPT in decimal: machine, 0, kind
/// of numbers, kind of matrix.
struct Mat4Header {
  std::uint32_t type, rows, cols, imaginary, name_length;
};

/// The bytes of a number of each kind: double, single, int32, int16, uint16, uint8.
constexpr std::array<std::uint64_t, 6> mat4_sizes = {8, 4, 4, 2, 2, 1};

/// The bytes of the first variable without its header; nothing when this is no such header.
std::optional<std::uint64_t> mat4_payload(const Mat4Header& header, std::uint32_t machine) {
  constexpr std::uint32_t largest = 1u << 31;
  const std::uint32_t kind = header.type / 10 % 10;
  if (header.type / 100 != 10 * machine || kind >= mat4_sizes.size() || header.type % 10 > 2 ||
      header.imaginary > 1 || header.name_length < 2 || header.name_length > max_name ||
      header.rows >= largest || header.cols >= largest)
    return std::nullopt;
  const auto numbers = std::uint64_t{header.rows} * header.cols;  // below 2^62
  if (numbers > std::numeric_limits<std::uint64_t>::max() / 32) return std::nullopt;
  return header.name_length + numbers * mat4_sizes[kind] * (1 + header.imaginary);
}

bool is_mat4_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  const size_t end = name.find('\0');
  if (end == 0 || end != name.size() - 1 || !letter(name[0])) return false;
  return std::ranges::all_of(
      name.substr(0, end), [&](char c) { return letter(c) || c == '_' || (c >= '0' && c <= '9'); });
}

/// Opens one element of the file and calls `visit` with a reader behind the tag of the variable.
template <class Visit>
void visit_element(std::istream& file, const Tag& tag, bool swapped, const std::string& path,
                   const Visit& visit) {
  if (tag.type == mi_matrix) {
    PlainSource source(file, tag.bytes, path);
    ElementReader reader(source, swapped, path);
    reader.limit_to(tag.bytes);
    if (tag.bytes > 0) visit(reader);
  } else if (tag.type == mi_compressed) {
    const auto source = std::make_unique<InflatingSource>(file, tag.bytes, path);
    ElementReader reader(*source, swapped, path);
    const Tag inner = reader.read_tag();
    if (inner.type != mi_matrix || inner.small)
      fail(path, "found an element of type {} in compressed data, expected a variable", inner.type);
    reader.limit_to(inner.bytes);
    if (inner.bytes > 0) visit(reader);
  }
}

/// Calls `visit` with a reader for each variable, until it returns true.
template <class Visit>
void for_each_variable(std::istream& file, const std::string& path, const Visit& visit) {
  const std::optional<bool> swapped = read_byte_order(file);
  if (!swapped) fail(path, "is not a MATLAB 5 file");
  const std::streamoff size = file.seekg(0, std::ios::end).tellg();
  bool done = false;
  for (std::streamoff at = header_size; at < size && !done;) {
    file.clear();
    file.seekg(at);
    PlainSource source(file, static_cast<std::uint64_t>(size - at), path);
    const Tag tag = ElementReader(source, *swapped, path).read_tag();
    if (tag.small) fail(path, "found a small element of type {} among the variables", tag.type);
    at += static_cast<std::streamoff>(tag_size + tag.bytes);
    if (at > size)
      fail(path, "found {} bytes, expected at least {}: the file is cut short", size, at);
    visit_element(file, tag, *swapped, path, [&](ElementReader& reader) { done = visit(reader); });
  }
}

}  // namespace

bool is_mat5(std::istream& file) { return read_byte_order(file).has_value(); }

bool is_mat4(std::istream& file) {
  file.clear();
  const std::streamoff size = file.seekg(0, std::ios::end).tellg();
  std::array<std::byte, sizeof(Mat4Header)> bytes;
  file.seekg(0).read(reinterpret_cast<char*>(bytes.data()), bytes.size());
  if (!file) return false;
  for (const std::uint32_t machine : {0u, 1u}) {  // the other byte order is big-endian's
    if (machine == 1) swap_bytes(bytes, sizeof(std::uint32_t));
    Mat4Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const std::optional<std::uint64_t> payload = mat4_payload(header, machine);
    if (!payload || *payload > static_cast<std::uint64_t>(size) - sizeof header) continue;
    std::string name(header.name_length, ' ');
    file.read(name.data(), static_cast<std::streamsize>(name.size()));
    return is_mat4_name(name);
  }
  return false;
}

std::vector<ArrayInfo> list_mat5(std::istream& file, const std::string& path) {
  std::vector<ArrayInfo> infos;
  for_each_variable(file, path, [&](ElementReader& reader) {
    ArrayInfo info = read_info(reader);
    if (!info.name.empty()) infos.push_back(std::move(info));  // else it is MATLAB's own
    return false;
  });
  return infos;
}

NumericArray read_mat5(std::istream& file, const std::string& path, const std::string& variable) {
  std::optional<NumericArray> array;
  for_each_variable(file, path, [&](ElementReader& reader) {
    ArrayInfo info = read_info(reader);
    if (info.name != variable || info.name.empty()) return false;
    if (!info.numeric) fail(path, "found {}, expected an array of real numbers", info.text());
    array = read_values(reader, std::move(info));
    return true;
  });
  if (!array) fail(path, "found no variable {}", in_quotes(variable));
  return std::move(*array);
}

}  // namespace hyperatom
