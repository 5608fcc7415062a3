#include "hyperatom/io/npy_file.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "hyperatom/base/safetensors.hpp"
#include "hyperatom/io/array_layout.hpp"
#include "hyperatom/io/data_error.hpp"

namespace hyperatom {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint32_t max_header = 1 << 16;
constexpr size_t max_dimensions = 32;  // NumPy's own limit

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<Index> shape;
};

/// A reader of the one kind of Python literal that a header may be: no more than that is accepted.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  Header parse() {
    Header header;
    std::set<std::string> seen;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (!seen.insert(key).second) malformed("a key twice");
      value_of(key, header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!text_.empty()) malformed("text after the closing brace");
    if (seen.size() != 3) malformed("a key missing");
    return header;
  }

 private:
  void value_of(const std::string& key, Header& header) {
    if (key == "descr")
      header.descr = descr();
    else if (key == "fortran_order")
      header.fortran_order = boolean();
    else if (key == "shape")
      header.shape = tuple();
    else
      malformed("an unknown key");
  }

  std::string descr() {
    if (peek() == '[') fail(path_, "found an array of records, expected one of plain numbers");
    return quoted();
  }

  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"})
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return word == "True";
      }
    malformed("no boolean");
  }

  std::vector<Index> tuple() {
    std::vector<Index> numbers;
    expect('(');
    while (!accept(')')) {
      numbers.push_back(number());
      if (numbers.size() > max_dimensions) malformed("too many dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return numbers;
  }

  Index number() {
    skip_blanks();
    Index value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) malformed("a length that is not a whole number >= 0");
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return value;
  }

  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') malformed("no quoted text where one belongs");
    const size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) malformed("an open quote");
    const std::string text(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return text;
  }

  void skip_blanks() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }

  char peek() {
    skip_blanks();
    return text_.empty() ? '\0' : text_[0];
  }

  bool accept(char c) {
    if (peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) malformed(fmt::format("no '{}' where one belongs", c));
  }

  [[noreturn]] void malformed(std::string_view what) const {
    fail(path_, "found {} in the NumPy header, expected descr, fortran_order and shape", what);
  }

  std::string_view text_;
  const std::string& path_;
};

struct Type {
  Element element;
  bool boolean = false;
  bool swapped = false;
};

std::optional<Element> element_of(char kind, char size) {
  constexpr std::string_view sizes = "1248";
  const size_t power = sizes.find(size);
  if (power == std::string_view::npos) return std::nullopt;
  constexpr std::array<Element, 4> ints = {Element::i8, Element::i16, Element::i32, Element::i64};
  constexpr std::array<Element, 4> uints = {Element::u8, Element::u16, Element::u32, Element::u64};
  if (kind == 'i') return ints[power];
  if (kind == 'u') return uints[power];
  if (kind == 'f' && power == 2) return Element::f32;
  if (kind == 'f' && power == 3) return Element::f64;
  if (kind == 'b' && power == 0) return Element::u8;
  return std::nullopt;
}

Type parse_type(std::string_view descr, const std::string& path) {
  constexpr std::string_view orders = "<>|=";
  if (descr.size() == 3 && orders.find(descr[0]) != std::string_view::npos)
    if (const auto element = element_of(descr[1], descr[2]);
        element && (descr[0] != '|' || size_of(*element) == 1))
      return {*element, descr[1] == 'b', descr[0] == '>'};
  fail(path, "found elements of type {}, expected integers, booleans or floats of 4 or 8 bytes",
       in_quotes(descr));
}

std::string read_text(std::istream& file, size_t n, const std::string& path) {
  std::string text(n, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(n)))
    fail(path, "ends within the NumPy header");
  return text;
}

Header read_header(std::istream& file, const std::string& path) {
  file.clear();
  file.seekg(0);
  const std::string start = read_text(file, magic.size() + 2, path);
  const int version = static_cast<unsigned char>(start[magic.size()]);
  if (!start.starts_with(magic)) fail(path, "is not a NumPy file");
  if (version < 1 || version > 3)
    fail(path, "found version {} of the NumPy format, expected 1 to 3", version);
  const std::string digits = read_text(file, version == 1 ? 2 : 4, path);
  std::uint32_t length = 0;
  for (size_t i = digits.size(); i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(digits[i]);
  if (length > max_header)
    fail(path, "found a NumPy header of {} bytes, expected at most {}", length, max_header);
  const std::string text = read_text(file, length, path);
  return HeaderParser(text, path).parse();
}

/// All but the values; leaves the file where they begin.
NumericArray prepare(std::istream& file, const std::string& path, bool& swapped) {
  const Header header = read_header(file, path);
  const Type type = parse_type(header.descr, path);
  swapped = type.swapped;
  NumericArray array;
  array.info = {"", type.boolean ? "bool" : name(type.element), header.shape, true};
  array.element = type.element;

  const std::streamoff begin = file.tellg();
  const std::streamoff end = file.seekg(0, std::ios::end).tellg();
  file.seekg(begin);
  const auto there = static_cast<std::uint64_t>(end - begin);
  const auto promised = byte_count(header.shape, type.element);
  if (!promised) fail(path, "found a shape beyond all memory: {}", array.info.text());
  if (*promised != there)
    fail(path, "found {} bytes of values, expected {} for {}", there, *promised, array.info.text());
  array.strides =
      strides_of(header.shape, header.fortran_order ? Order::first_fastest : Order::last_fastest);
  return array;
}

}  // namespace

bool is_npy(std::istream& file) {
  std::array<char, magic.size()> start{};
  file.clear();
  file.seekg(0).read(start.data(), start.size());
  return file && std::string_view(start.data(), start.size()) == magic;
}

ArrayInfo inspect_npy(std::istream& file, const std::string& path) {
  bool swapped = false;
  return prepare(file, path, swapped).info;
}

NumericArray read_npy(std::istream& file, const std::string& path) {
  bool swapped = false;
  NumericArray array = prepare(file, path, swapped);
  array.values.resize(*byte_count(array.info.shape, array.element));
  if (!file.read(reinterpret_cast<char*>(array.values.data()),
                 static_cast<std::streamsize>(array.values.size())))
    fail(path, "can't be read to its end");
  if (swapped) swap_bytes(array.values, size_of(array.element));
  return array;
}

}  // namespace hyperatom
