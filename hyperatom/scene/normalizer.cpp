#include "hyperatom/scene/normalizer.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/inner_products.hpp"
#include "hyperatom/base/simd.hpp"
#include "hyperatom/base/spec.hpp"

namespace hyperatom {
namespace {

enum class Statistics { none, standard, minmax, noise };

struct Kind {
  std::string_view name;
  Statistics statistics;
  bool unit;  ///< at last
};

constexpr Kind kinds[] = {
    {"none", Statistics::none, false},         {"unit", Statistics::none, true},
    {"standard", Statistics::standard, false}, {"standard+unit", Statistics::standard, true},
    {"minmax", Statistics::minmax, false},     {"mnf", Statistics::noise, true},
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

// Eigen sums the squares in an order that depends on the number of entries alone; a sum() over the
// memory of a column would depend on its alignment, hence on the column's place.
void make_unit(Eigen::Ref<Vector> x) {
  if (const double norm = x.norm(); norm > 0) x *= 1 / norm;
}

/// The noise that neighbours differ by. Pairs across an edge differ by more than noise, so that
/// only the half of the pairs that differ least counts; equal pixels are copies and tell nothing.
class Noise {
 public:
  Noise(const Matrix& X, std::span<const Normalizer::Pair> pairs) : X_(X) {
    Vector squares = Vector::Zero(X.rows());
    for (const auto& pair : pairs) {
      if (X.col(pair[0]) == X.col(pair[1])) continue;
      pairs_.push_back(pair);
      squares += difference(pair).cwiseAbs2();
    }
    if (static_cast<Index>(pairs_.size()) < 4 * X.rows())
      throw DataError(
          fmt::format("mnf: {} pairs of valid neighbouring pixels that differ, expected at least 4 "
                      "for each of the {} bands",
                      pairs_.size(), X.rows()));
    const double most = squares.maxCoeff();
    weight_ = squares.unaryExpr([&](double s) { return s > 0 ? most / s : 0; });
  }

  Matrix covariance() const {
    std::vector<double> sizes;
    for (const auto& pair : pairs_) sizes.push_back(size(pair));
    std::vector<double> sorted = sizes;
    const auto middle = sorted.begin() + static_cast<Index>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    Matrix sum = Matrix::Zero(X_.rows(), X_.rows());
    Matrix block(X_.rows(), 256);
    Index kept = 0, filled = 0;
    const auto add = [&] {
      sum.selfadjointView<Eigen::Lower>().rankUpdate(block.leftCols(filled));
      kept += filled;
      filled = 0;
    };
    for (size_t i = 0; i < pairs_.size(); ++i) {
      if (sizes[i] > *middle) continue;
      block.col(filled++) = difference(pairs_[i]);
      if (filled == block.cols()) add();
    }
    add();
    return Matrix(sum.selfadjointView<Eigen::Lower>()) / (2 * static_cast<double>(kept));
  }

 private:
  Vector difference(const Normalizer::Pair& pair) const {
    return X_.col(pair[0]) - X_.col(pair[1]);
  }
  double size(const Normalizer::Pair& pair) const {
    return difference(pair).cwiseAbs2().dot(weight_);
  }

  const Matrix& X_;
  std::vector<Normalizer::Pair> pairs_;
  Vector weight_;
};

/// Minimum noise fraction: components of pixels in which the noise is white, the strongest signal
/// first, each weighted as Wiener would by the share of signal in it.
Normalizer fit_mnf(const Eigen::Ref<const MatrixF>& pixels,
                   std::span<const Normalizer::Pair> pairs) {
  const Index bands = pixels.rows();
  Matrix X = pixels.cast<double>();
  for (Index j = 0; j < X.cols(); ++j) make_unit(X.col(j));
  Matrix noise = Noise(X, pairs).covariance();
  noise.diagonal().array() += 1e-9 * noise.trace() / static_cast<double>(bands);
  const Eigen::SelfAdjointEigenSolver<Matrix> of_noise(noise);
  const Matrix whiten =
      of_noise.eigenvectors() * of_noise.eigenvalues().cwiseSqrt().cwiseInverse().asDiagonal();

  Normalizer result{"mnf", X.rowwise().mean(), Vector::Ones(bands), {}};
  X.colwise() -= result.offset;
  const Matrix white = whiten.transpose() * X;
  const Eigen::SelfAdjointEigenSolver<Matrix> of_pixels(
      Matrix(white * white.transpose() / static_cast<double>(X.cols())));
  const Vector& power = of_pixels.eigenvalues();  // of signal and noise, ascending
  // Most components of many bands are noise, whose power the median tells; of few bands it can't.
  const double floor = std::min(power[bands / 2], 2.0);
  Index features = 0;
  while (features < bands && power[bands - 1 - features] > floor) ++features;
  features = std::max<Index>(features, 1);
  Vector weight(features);
  for (Index k = 0; k < features; ++k)
    weight[k] = std::sqrt(std::max(1 - floor / power[bands - 1 - k], 0.01));
  result.mix = weight.asDiagonal() *
               (of_pixels.eigenvectors().rowwise().reverse().leftCols(features).transpose() *
                whiten.transpose());
  return result;
}

}  // namespace

Normalizer Normalizer::fit(std::string_view kind, const Eigen::Ref<const MatrixF>& pixels,
                           std::span<const Pair> pairs) {
  const Statistics statistics = find_kind(kind).statistics;
  expect_pixels(pixels);
  if (statistics == Statistics::noise) return fit_mnf(pixels, pairs);
  const Index bands = pixels.rows(), n = pixels.cols();
  Normalizer result{std::string(kind), Vector::Zero(bands), Vector::Ones(bands), {}};
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
  Matrix result(features(), pixels.cols());
  apply(pixels, result);
  return result;
}

void Normalizer::apply(const Eigen::Ref<const MatrixF>& pixels, Eigen::Ref<Matrix> result) const {
  eigen_assert(result.rows() == features() && result.cols() == pixels.cols());
  if (pixels.rows() != bands())
    throw DataError(fmt::format(
        "the pixels have {} bands, expected the {} that the normalization was fitted on",
        pixels.rows(), bands()));
  const Kind& how = find_kind(kind);
  const bool mixes = mix.size() > 0;
  const auto normalise = [&](Eigen::Ref<Matrix> to) {
    for (Index j = 0; j < pixels.cols(); ++j) {  // all of one pixel, while it is in the cache
      auto pixel = to.col(j);
      pixel = pixels.col(j).cast<double>();
      if (how.statistics == Statistics::noise) make_unit(pixel);
      if (how.statistics != Statistics::none) pixel = (pixel - offset).cwiseProduct(scale);
      if (how.unit && !mixes) make_unit(pixel);
    }
  };
  if (!mixes) return normalise(result);
  Matrix aligned(simd::round_up(bands()), pixels.cols());
  const auto normal = aligned.topRows(bands());
  normalise(normal);
  inner_products(Eigen::Map<const Matrix>(mix.data(), bands(), features()), normal, result);
  for (Index j = 0; how.unit && j < result.cols(); ++j) make_unit(result.col(j));
}

Normalizer::Lengths Normalizer::lengths(const Eigen::Ref<const Eigen::VectorXf>& pixel) const {
  const Kind& how = find_kind(kind);
  const auto divisor = [](double norm) { return norm > 0 ? norm : 1; };
  Vector x = pixel.cast<double>();
  Lengths result;
  if (how.statistics == Statistics::noise) result.offset = divisor(x.norm());
  x = (x / result.offset - offset).cwiseProduct(scale);
  if (mix.size() > 0) x = mix * x;
  result.features = result.offset * (how.unit ? divisor(x.norm()) : 1);
  return result;
}

Matrix Normalizer::spectra(const MatrixView& features) const {
  const Vector inverse = scale.unaryExpr([](double s) { return s == 0 ? 0 : 1 / s; });
  const Matrix bands = mix.size() > 0
                           ? Matrix(mix.completeOrthogonalDecomposition().solve(Matrix(features)))
                           : Matrix(features);
  return inverse.asDiagonal() * bands;
}

bool learns_from_pixels(std::string_view kind) {
  return find_kind(kind).statistics != Statistics::none;
}

bool learns_from_noise(std::string_view kind) {
  return find_kind(kind).statistics == Statistics::noise;
}

std::vector<std::string> normalizer_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

}  // namespace hyperatom
