// hyperatom-mat73 list | read NAME: the HDF5 file on standard input to the answer on standard
// output that mat_hdf5.hpp describes. Not for use by hand.
//
// libhdf5 can't be trusted with a hostile file. So this program can open no file but that one, can
// write none, and is bounded in memory and time; objects that lead outside the file (external
// links, external storage, virtual datasets) and filters that would load code are refused.
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hyperatom/io/array_layout.hpp"

namespace {

using hyperatom::Element;
using hyperatom::largest_deflate_ratio;

constexpr std::uint64_t file_descriptors = 4;  // the standard three and HDF5's own
constexpr int max_dimensions = 32;
constexpr size_t max_variables = 10000;

struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ---- Limits -------------------------------------------------------------------------------------

std::uint64_t input_size() {
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0 || !S_ISREG(status.st_mode))
    throw Refusal("is not a regular file");
  return static_cast<std::uint64_t>(status.st_size);
}

void limit(int resource, std::uint64_t value) {
  const rlimit both{value, value};
  if (setrlimit(static_cast<__rlimit_resource_t>(resource), &both) != 0)
    throw Refusal("the reader could not limit its own resources");
}

void limit_resources() {
  const std::uint64_t size = input_size();
  closefrom(STDERR_FILENO + 1);
  limit(RLIMIT_NOFILE, file_descriptors);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CPU, 10 + size / (std::uint64_t{10} << 20));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  limit(RLIMIT_AS, (std::uint64_t{4} << 30) + 2 * size);
#endif
}

// ---- The answer ---------------------------------------------------------------------------------

class Output {
 public:
  void bytes(std::span<const std::byte> data) {
    while (!data.empty()) {
      const ssize_t written = ::write(STDOUT_FILENO, data.data(), data.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) _exit(EXIT_FAILURE);
      data = data.subspan(static_cast<size_t>(written));
    }
  }
  template <class T>
  void number(T value) {
    bytes(std::as_bytes(std::span(&value, 1)));
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes(std::as_bytes(std::span(value)));
  }
  void shape(const std::vector<hsize_t>& lengths) {
    number(static_cast<std::uint32_t>(lengths.size()));
    for (const hsize_t n : lengths) number(std::uint64_t{n});
  }
};

// ---- HDF5 ---------------------------------------------------------------------------------------

/// An HDF5 object, closed at the end.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

struct Variable {
  std::string type = "unreadable";
  std::optional<Element> element;  ///< when it is a dataset of plain numbers
  bool numeric = false;
  bool matlab = false;          ///< it says so itself
  std::vector<hsize_t> stored;  ///< the shape as HDF5 has it
};

hid_t native_type(Element element) {
  switch (element) {
    case Element::i8:
      return H5T_NATIVE_INT8;
    case Element::u8:
      return H5T_NATIVE_UINT8;
    case Element::i16:
      return H5T_NATIVE_INT16;
    case Element::u16:
      return H5T_NATIVE_UINT16;
    case Element::i32:
      return H5T_NATIVE_INT32;
    case Element::u32:
      return H5T_NATIVE_UINT32;
    case Element::i64:
      return H5T_NATIVE_INT64;
    case Element::u64:
      return H5T_NATIVE_UINT64;
    case Element::f32:
      return H5T_NATIVE_FLOAT;
    case Element::f64:
      return H5T_NATIVE_DOUBLE;
  }
  return -1;
}

/// The element that a type is, in either byte order; nothing for types that are not plain numbers.
std::optional<Element> element_of(hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  if (type_class != H5T_INTEGER && type_class != H5T_FLOAT) return std::nullopt;
  for (int i = 0; i <= static_cast<int>(Element::f64); ++i) {
    const auto element = static_cast<Element>(i);
    const Handle candidate(H5Tcopy(native_type(element)), H5Tclose);
    for (const H5T_order_t order : {H5T_ORDER_LE, H5T_ORDER_BE})
      if (H5Tset_order(candidate, order) >= 0 && H5Tequal(type, candidate) > 0) return element;
  }
  return std::nullopt;
}

/// The text of the attribute MATLAB_class; empty without one.
std::string matlab_class(hid_t object) {
  if (H5Aexists(object, "MATLAB_class") <= 0) return {};
  const Handle attribute(H5Aopen(object, "MATLAB_class", H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute), H5Tclose);
  const Handle space(H5Aget_space(attribute), H5Sclose);
  std::array<char, 64> text{};
  const bool plain = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
                     H5Tget_size(type) < text.size() && H5Sget_simple_extent_npoints(space) == 1;
  if (!plain || H5Aread(attribute, type, text.data()) < 0) return {};
  return text.data();
}

bool is_numeric_class(std::string_view name) {
  constexpr std::array<std::string_view, 11> names = {"double", "single", "int8",   "uint8",
                                                      "int16",  "uint16", "int32",  "uint32",
                                                      "int64",  "uint64", "logical"};
  return std::ranges::find(names, name) != names.end();
}

std::vector<hsize_t> shape_of(hid_t dataset) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const int dimensions = H5Sget_simple_extent_ndims(space);
  if (dimensions < 0 || dimensions > max_dimensions) throw Refusal("holds too many dimensions");
  std::vector<hsize_t> shape(static_cast<size_t>(dimensions));
  if (H5Sget_simple_extent_dims(space, shape.data(), nullptr) < 0)
    throw Refusal("holds dimensions that can't be read");
  return shape;
}

Variable describe(hid_t object) {
  Variable variable;
  const std::string name = matlab_class(object);
  variable.matlab = !name.empty();
  if (H5Iget_type(object) != H5I_DATASET) {
    variable.type = name.empty() ? "group" : name;
    return variable;
  }
  const Handle type(H5Dget_type(object), H5Tclose);
  variable.element = element_of(type);
  variable.stored = shape_of(object);
  variable.type = !name.empty()      ? name
                  : variable.element ? hyperatom::name(*variable.element)
                                     : "not of numbers";
  if (!name.empty() && !variable.element && is_numeric_class(name))
    variable.type = "complex " + name;
  variable.numeric = variable.element && (name.empty() || is_numeric_class(name));
  if (H5Aexists(object, "MATLAB_empty") > 0) {  // what is stored is the shape
    variable.numeric = false;
    variable.type = "empty " + variable.type;
    variable.stored.clear();
  }
  return variable;
}

/// MATLAB's own header stands before the HDF5 part.
bool has_matlab_header() {
  std::array<char, 4> mark{};
  return pread(STDIN_FILENO, mark.data(), mark.size(), 124) == 4 &&
         std::string_view(mark.data(), mark.size()) == std::string_view("\0\2IM", 4);
}

std::vector<hsize_t> authors_shape(const Variable& variable, bool reversed) {
  std::vector<hsize_t> shape = variable.stored;
  if (reversed) std::ranges::reverse(shape);
  return shape;
}

// ---- The two commands ---------------------------------------------------------------------------

herr_t collect_name(hid_t, const char* name, const H5L_info_t* info, void* names) {
  auto* result = static_cast<std::vector<std::string>*>(names);
  if (info->type == H5L_TYPE_HARD && name[0] != '#') result->emplace_back(name);
  return result->size() > max_variables ? -1 : 0;
}

void list(hid_t file, Output& output) {
  std::vector<std::string> names;
  if (H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_name, &names) < 0)
    throw Refusal("holds a damaged or excessive list of variables");
  std::vector<Variable> variables;
  for (const std::string& name : names) {
    const Handle object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose);
    variables.push_back(object.valid() ? describe(object) : Variable());
  }
  output.number(std::uint8_t{1});
  output.number(static_cast<std::uint32_t>(names.size()));
  const bool matlab = has_matlab_header();
  for (size_t i = 0; i < names.size(); ++i) {
    output.text(names[i]);
    output.text(variables[i].type);
    output.number(std::uint8_t{variables[i].numeric});
    output.shape(authors_shape(variables[i], matlab || variables[i].matlab));
  }
}

/// Refuses what would lead out of the file or to code that is not libhdf5's. Returns the length of
/// a chunk along the first dimension, or 1.
hsize_t check_storage(hid_t dataset) {
  const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_external_count(properties) != 0) throw Refusal("keeps its values in another file");
  const H5D_layout_t layout = H5Pget_layout(properties);
  if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED)
    throw Refusal("is composed of other datasets");
  const int filters = H5Pget_nfilters(properties);
  if (filters < 0) throw Refusal("holds damaged filters");
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    size_t parameters = 0;
    const H5Z_filter_t filter = H5Pget_filter2(properties, static_cast<unsigned>(i), &flags,
                                               &parameters, nullptr, 0, nullptr, nullptr);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
        filter != H5Z_FILTER_FLETCHER32)
      throw Refusal("is compressed by a filter that is not deflate, shuffle or fletcher32");
  }
  std::array<hsize_t, max_dimensions> chunk{};
  return layout == H5D_CHUNKED && H5Pget_chunk(properties, max_dimensions, chunk.data()) > 0
             ? std::max<hsize_t>(chunk[0], 1)
             : 1;
}

std::uint64_t checked_size(const Variable& variable) {
  std::uint64_t bytes = hyperatom::size_of(*variable.element);
  for (const hsize_t n : variable.stored)
    if (__builtin_mul_overflow(bytes, n, &bytes)) throw Refusal("claims an absurd size");
  if (bytes > input_size() * largest_deflate_ratio)
    throw Refusal("claims more values than the file can hold");
  return bytes;
}

/// Reads some of the first index at a time, so that memory stays bounded, and whole chunks, so that
/// none is decompressed twice.
void write_values(hid_t dataset, const Variable& variable, hsize_t chunk, Output& output) {
  constexpr std::uint64_t piece = 16 << 20;
  const std::uint64_t bytes = checked_size(variable);
  if (bytes == 0) return;
  std::vector<hsize_t> count = variable.stored;
  if (count.empty()) count.push_back(1);
  const hsize_t total = count[0];
  const std::uint64_t row = bytes / total;
  const hsize_t step = std::min(total, (piece / row / chunk + 1) * chunk);
  std::vector<hsize_t> start(count.size(), 0);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  std::vector<std::byte> buffer(step * row);
  for (; start[0] < total; start[0] += step) {
    count[0] = std::min(step, total - start[0]);
    const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                        H5Sclose);
    if (!variable.stored.empty() && H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(),
                                                        nullptr, count.data(), nullptr) < 0)
      throw Refusal("holds values that can't be selected");
    if (H5Dread(dataset, native_type(*variable.element), memory, space, H5P_DEFAULT,
                buffer.data()) < 0)
      std::exit(EXIT_FAILURE);  // part of the answer is out: only an early end can say so
    output.bytes(std::span(buffer).first(count[0] * row));
  }
}

void read(hid_t file, const std::string& name, Output& output) {
  H5L_info_t link{};
  if (H5Lget_info(file, name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
    throw Refusal("found no variable of that name");
  const Handle object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose);
  if (!object.valid()) throw Refusal("holds a variable that can't be opened");
  const Variable variable = describe(object);
  if (!variable.numeric) throw Refusal("found " + variable.type + ", expected real numbers");
  const hsize_t chunk = check_storage(object);
  checked_size(variable);
  const bool reversed = has_matlab_header() || variable.matlab;
  output.number(std::uint8_t{2});
  output.text(variable.type);
  output.number(static_cast<std::uint8_t>(*variable.element));
  output.number(std::uint8_t{reversed});
  output.shape(authors_shape(variable, reversed));
  write_values(object, variable, chunk, output);
}

void answer(std::span<char*> arguments, Output& output) {
  limit_resources();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  if (H5PLset_loading_state(0) < 0) throw Refusal("HDF5 keeps loading plugins");
  const Handle file(H5Fopen("/proc/self/fd/0", H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) throw Refusal("is not a readable HDF5 file: damaged or cut short");
  const std::string_view command = arguments.size() > 1 ? arguments[1] : "";
  if (command == "list" && arguments.size() == 2) return list(file, output);
  if (command == "read" && arguments.size() == 3) return read(file, arguments[2], output);
  throw Refusal("usage: hyperatom-mat73 list | read NAME, with the file on standard input");
}

}  // namespace

int main(int argc, char** argv) {
  Output output;
  try {
    answer(std::span(argv, static_cast<size_t>(argc)), output);
    return EXIT_SUCCESS;
  } catch (const Refusal& refusal) {
    output.number(std::uint8_t{0});
    output.text(refusal.what());
  } catch (const std::exception&) {
    // No memory: the answer may have begun, so only an early end can say it.
  }
  return EXIT_FAILURE;
}
