#include "hyperatom/io/raw_cube.hpp"

#include <gdal_priv.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <system_error>

#include "hyperatom/base/parallel.hpp"
#include "hyperatom/io/array_layout.hpp"
#include "hyperatom/io/data_error.hpp"

namespace hyperatom {
namespace {

constexpr Index piece_bytes = 1 << 20;  // read at once; they stay in a cache until they are turned
constexpr Index tile = 64;              // pixels that are turned at once, in the first-level cache

std::optional<Element> element_of(GDALDataType type) {
  switch (type) {
    case GDT_Byte:
      return Element::u8;
    case GDT_Int16:
      return Element::i16;
    case GDT_UInt16:
      return Element::u16;
    case GDT_Int32:
      return Element::i32;
    case GDT_UInt32:
      return Element::u32;
    case GDT_Int64:
      return Element::i64;
    case GDT_UInt64:
      return Element::u64;
    case GDT_Float32:
      return Element::f32;
    case GDT_Float64:
      return Element::f64;
    default:
      return std::nullopt;
  }
}

template <class T>
float as_float(T value) {
  return static_cast<float>(value);
}

/// What is beyond the largest float, by however little, becomes infinite, as with GDAL.
template <>
float as_float(double value) {
  constexpr double largest = std::numeric_limits<float>::max();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (value > largest) return infinity;
  return value < -largest ? -infinity : static_cast<float>(value);
}

template <class T>
T with_bytes_reversed(T value) {
  if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  else if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
  else
    return value;
}

/// The values of `pixels` pixels, each `step` bytes after the one before, to a column for each
/// pixel; those of band b lie from `starts[b]` on.
template <class T, bool swapped>
void turn(const std::byte* values, std::span<const Index> starts, Index step, Index pixels,
          float* columns) {
  const auto bands = static_cast<Index>(starts.size());
  for (Index begin = 0; begin < pixels; begin += tile) {
    const Index end = std::min(pixels, begin + tile);
    for (Index b = 0; b < bands; ++b) {
      const std::byte* band = values + starts[static_cast<size_t>(b)];
      for (Index i = begin; i < end; ++i) {
        T value;
        std::memcpy(&value, band + i * step, sizeof value);
        columns[i * bands + b] = as_float(swapped ? with_bytes_reversed(value) : value);
      }
    }
  }
}

}  // namespace

std::unique_ptr<RawCube> RawCube::open(GDALDataset& dataset, const std::string& path) {
  GDALDataset::RawBinaryLayout layout;
  if (!EQUAL(dataset.GetDriverName(), "ENVI") || !dataset.GetRawBinaryLayout(layout))
    return nullptr;
  const std::optional<Element> element = element_of(layout.eDataType);
  if (!element || layout.nPixelOffset < 1 || layout.nLineOffset < 1 || layout.nBandOffset < 0)
    return nullptr;
  std::unique_ptr<RawCube> cube(new RawCube);
  cube->file_.reset(::open(layout.osRawFilename.c_str(), O_RDONLY | O_CLOEXEC));
  if (cube->file_.get() < 0) return nullptr;
  cube->path_ = path;
  cube->cols_ = dataset.GetRasterXSize();
  cube->element_ = *element;
  cube->swapped_ = layout.bLittleEndianOrder != (std::endian::native == std::endian::little);
  cube->start_ = static_cast<Index>(layout.nImageOffset);
  cube->pixel_step_ = layout.nPixelOffset;
  cube->row_step_ = layout.nLineOffset;
  cube->band_step_ = layout.nBandOffset;
  return cube;
}

void RawCube::read(Index first, Index count, std::span<const Index> bands, MatrixF& pixels) {
  const auto height = static_cast<Index>(bands.size());
  pixels.resize(height, count * cols_);
  const Index row_bytes = std::max(row_step_, cols_ * pixel_step_ * height);
  const Index rows = std::max<Index>(1, piece_bytes / row_bytes);
  buffers_.resize(static_cast<size_t>(parallel_slots()));
  parallel_for((count + rows - 1) / rows, [&](Index piece, Index slot) {
    const Index begin = piece * rows;
    read_piece(first + begin, std::min(rows, count - begin), bands,
               pixels.data() + begin * cols_ * height, buffers_[static_cast<size_t>(slot)]);
  });
}

void RawCube::read_piece(Index first, Index count, std::span<const Index> bands, float* pixels,
                         std::vector<std::byte>& buffer) const {
  const Index row = (cols_ - 1) * pixel_step_ + static_cast<Index>(size_of(element_));
  std::vector<Index> starts;      // of the bands in the buffer
  if (band_step_ >= row_step_) {  // rows of a band follow one another
    const Index length = (count - 1) * row_step_ + row;
    buffer.resize(static_cast<size_t>(length) * bands.size());
    for (const Index band : bands) {
      starts.push_back(static_cast<Index>(starts.size()) * length);
      fetch(start_ + band * band_step_ + first * row_step_, buffer.data() + starts.back(), length);
    }
  } else {  // all that is between the first value and the last, wanted or not
    const Index low = *std::ranges::min_element(bands) * band_step_;
    const Index high = *std::ranges::max_element(bands) * band_step_;
    const Index length = (count - 1) * row_step_ + high - low + row;
    buffer.resize(static_cast<size_t>(length));
    for (const Index band : bands) starts.push_back(band * band_step_ - low);
    fetch(start_ + first * row_step_ + low, buffer.data(), length);
  }
  with_type(element_, [&](auto type) {
    const auto turn_row = swapped_ ? turn<decltype(type), true> : turn<decltype(type), false>;
    for (Index i = 0; i < count; ++i)
      turn_row(buffer.data() + i * row_step_, starts, pixel_step_, cols_,
               pixels + i * cols_ * static_cast<Index>(bands.size()));
  });
}

void RawCube::fetch(Index from, std::byte* bytes, Index count) const {
  while (count > 0) {
    const ssize_t n = pread(file_.get(), bytes, static_cast<size_t>(count), from);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path_, "can't be read: {}", std::system_category().message(errno));
    if (n == 0) fail(path_, "can't be read: it has become shorter");
    bytes += n;
    from += n;
    count -= n;
  }
}

}  // namespace hyperatom
