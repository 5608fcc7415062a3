#include "hyperatom/io/array_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "hyperatom/base/safetensors.hpp"
#include "hyperatom/io/array_layout.hpp"
#include "hyperatom/io/data_error.hpp"
#include "hyperatom/io/mat_file.hpp"
#include "hyperatom/io/mat_hdf5.hpp"
#include "hyperatom/io/npy_file.hpp"

namespace hyperatom {
namespace {

template <class T>
T load(const std::vector<std::byte>& values, Index at) {
  T value;
  std::memcpy(&value, values.data() + at * static_cast<Index>(sizeof(T)), sizeof(T));
  return value;
}

std::ifstream open_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path.string(), "can't be read");
  return file;
}

ArrayFormat require_format(const std::filesystem::path& path) {
  const std::optional<ArrayFormat> format = array_format(path);
  if (!format) fail(path.string(), "is neither a MATLAB 5, a MATLAB 7.3 nor a NumPy file");
  return *format;
}

/// HDF5 may be preceded by a block of the user's, of 512 bytes or twice, four times ... that.
bool has_hdf5_signature(std::istream& file, std::streamoff size) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  for (std::streamoff at = 0; at < size; at = at == 0 ? 512 : 2 * at) {
    std::array<char, 8> found{};
    file.clear();
    if (file.seekg(at).read(found.data(), found.size()) &&
        std::string_view(found.data(), found.size()) == signature)
      return true;
  }
  return false;
}

}  // namespace

std::string name(ArrayFormat format) {
  switch (format) {
    case ArrayFormat::mat5:
      return "MATLAB 5";
    case ArrayFormat::mat73:
      return "MATLAB 7.3";
    case ArrayFormat::npy:
      return "NumPy";
  }
  return "";
}

std::optional<ArrayFormat> array_format(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path, error));
  std::ifstream file(path, std::ios::binary);
  if (is_npy(file)) return ArrayFormat::npy;
  if (has_hdf5_signature(file, size)) return ArrayFormat::mat73;
  if (is_mat5(file)) return ArrayFormat::mat5;
  if (is_mat4(file)) fail(path.string(), "is a MATLAB 4 file; save it again with -v7 or -v7.3");
  return std::nullopt;
}

std::string ArrayInfo::text() const {
  const bool printable = std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f; });
  const std::string label = name.empty() ? "unnamed" : printable ? name : in_quotes(name);
  return fmt::format("{} ({}{}{})", label, fmt::join(shape, " x "), shape.empty() ? "" : " ", type);
}

std::vector<double> NumericArray::read_rows(Index first, Index count) const {
  const Index cols = info.shape[1];
  std::vector<double> rows;
  rows.reserve(static_cast<size_t>(count * cols));
  with_type(element, [&](auto type) {
    for (Index row = first; row < first + count; ++row)
      for (Index col = 0; col < cols; ++col)
        rows.push_back(
            static_cast<double>(load<decltype(type)>(values, row * strides[0] + col * strides[1])));
  });
  return rows;
}

void NumericArray::read_rows(Index first, Index count, MatrixF& pixels) const {
  const Index cols = info.shape[1], bands = info.shape[2];
  pixels.resize(bands, count * cols);
  with_type(element, [&](auto type) {
    for (Index i = 0; i < count * cols; ++i) {
      const Index at = (first + i / cols) * strides[0] + i % cols * strides[1];
      for (Index band = 0; band < bands; ++band)
        pixels(band, i) = static_cast<float>(load<decltype(type)>(values, at + band * strides[2]));
    }
  });
}

std::vector<ArrayInfo> list_arrays(const std::filesystem::path& path) {
  const ArrayFormat format = require_format(path);
  if (format == ArrayFormat::mat73) return list_mat73(path);
  std::ifstream file = open_file(path);
  if (format == ArrayFormat::mat5) return list_mat5(file, path.string());
  return {inspect_npy(file, path.string())};
}

NumericArray read_array(const std::filesystem::path& path, const std::string& variable) {
  const ArrayFormat format = require_format(path);
  if (format == ArrayFormat::mat73) return read_mat73(path, variable);
  std::ifstream file = open_file(path);
  if (format == ArrayFormat::mat5) return read_mat5(file, path.string(), variable);
  return read_npy(file, path.string());
}

void expect_no_variable(const std::filesystem::path& path, const std::string& variable) {
  std::error_code ignored;
  if (!variable.empty() && std::filesystem::exists(path, ignored))
    fail(path.string(), "is no MATLAB file and has no variable '{}'", variable);
}

NumericArray read_fitting_array(const std::filesystem::path& path, const std::string& variable,
                                const std::string& wanted,
                                const std::function<bool(const ArrayInfo&)>& fits) {
  std::vector<std::string> all, fitting;
  const ArrayInfo* chosen = nullptr;
  const std::vector<ArrayInfo> arrays = list_arrays(path);
  for (const ArrayInfo& array : arrays) {
    all.push_back(array.text());
    const bool named = variable.empty() || array.name == variable || array.name.empty();
    if (!named || !array.numeric || !fits(array)) continue;
    fitting.push_back(array.text());
    chosen = &array;
  }
  if (fitting.size() == 1) return read_array(path, chosen->name);
  if (fitting.size() > 1)
    fail(path.string(), "found {} arrays of {}, expected one or the name of one: {}",
         fitting.size(), wanted, fmt::join(fitting, ", "));
  if (all.empty()) fail(path.string(), "found no variables, expected an array of {}", wanted);
  const std::string what =
      variable.empty() ? "no numeric array" : fmt::format("no numeric array '{}'", variable);
  fail(path.string(), "found {} of {}; there are: {}", what, wanted, fmt::join(all, ", "));
}

}  // namespace hyperatom
