#include "hyperatom/scene/normalizer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/spec.hpp"

namespace hyperatom {
namespace {

enum class Statistics { none, standard, minmax };

struct Kind {
  std::string_view name;
  Statistics statistics;
  bool unit;
};

constexpr Kind kinds[] = {
    {"none", Statistics::none, false},         {"unit", Statistics::none, true},
    {"standard", Statistics::standard, false}, {"standard+unit", Statistics::standard, true},
    {"minmax", Statistics::minmax, false},
};

const Kind& find_kind(std::string_view name) {
  for (const Kind& kind : kinds)
    if (kind.name == name) return kind;
  throw OptionError(
      fmt::format("unknown normalization '{}'; known: {}", name, join(normalizer_kinds())));
}

void expect_pixels(const Eigen::Ref<const MatrixF>& pixels) {
  if (pixels.size() == 0)
    throw DataError(fmt::format("{} pixels of {} bands to normalize by, expected at least one",
                                pixels.cols(), pixels.rows()));
  for (Index j = 0; j < pixels.cols(); ++j)
    for (Index b = 0; b < pixels.rows(); ++b)
      if (!std::isfinite(pixels(b, j)))
        throw DataError(
            fmt::format("pixel {} to normalize by is {} in band {} (from 0), expected a number", j,
                        pixels(b, j), b));
}

}  // namespace

Normalizer Normalizer::fit(std::string_view kind, const Eigen::Ref<const MatrixF>& pixels) {
  const Statistics statistics = find_kind(kind).statistics;
  expect_pixels(pixels);
  const Index bands = pixels.rows(), n = pixels.cols();
  Normalizer result{std::string(kind), Vector::Zero(bands), Vector::Ones(bands)};
  if (statistics == Statistics::none) return result;

  const Vector low = pixels.rowwise().minCoeff().cast<double>();
  const Vector high = pixels.rowwise().maxCoeff().cast<double>();
  Vector spread = high - low;
  result.offset = low;
  if (statistics == Statistics::standard) {
    // Sums of x - low: they lose no digits where the values of a band differ by little.
    Vector sum = Vector::Zero(bands), squares = Vector::Zero(bands);
    for (Index j = 0; j < n; ++j) sum += pixels.col(j).cast<double>() - low;
    const Vector mean = sum / static_cast<double>(n);
    for (Index j = 0; j < n; ++j)
      squares += ((pixels.col(j).cast<double>() - low) - mean).cwiseAbs2();
    result.offset += mean;
    spread = (squares / static_cast<double>(n)).cwiseSqrt();
  }
  // By its extremes, because rounding may leave a constant band a small deviation.
  for (Index b = 0; b < bands; ++b) result.scale[b] = low[b] == high[b] ? 0 : 1 / spread[b];
  return result;
}

Matrix Normalizer::apply(const Eigen::Ref<const MatrixF>& pixels) const {
  if (pixels.rows() != bands())
    throw DataError(fmt::format(
        "the pixels have {} bands, expected the {} that the normalization was fitted on",
        pixels.rows(), bands()));
  const bool unit = find_kind(kind).unit;
  Matrix result(pixels.rows(), pixels.cols());
  for (Index j = 0; j < pixels.cols(); ++j) {
    auto column = result.col(j);
    column = (pixels.col(j).cast<double>() - offset).cwiseProduct(scale);
    if (!unit) continue;
    // Eigen sums the squares in an order that depends on the number of bands alone; a sum() over
    // the memory of the column would depend on its alignment, hence on the column's place.
    if (const double norm = column.norm(); norm > 0) column /= norm;
  }
  return result;
}

bool learns_from_pixels(std::string_view kind) {
  return find_kind(kind).statistics != Statistics::none;
}

std::vector<std::string> normalizer_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

}  // namespace hyperatom
