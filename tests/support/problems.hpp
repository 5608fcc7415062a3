// Coding problems made from a seed: dictionaries, windows, and the Gram matrices of both. They are
// the same on every machine, up to rounding: std::mt19937_64 is specified to the bit, and the
// numbers are made from its bits here, because std:: distributions differ between standard
// libraries.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hyperatom/base/types.hpp"
#include "hyperatom/kernel/kernel.hpp"

namespace hyperatom::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// In [0, 1), 53 bits.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Between two positive bounds, equally often in every decade.
  double log_uniform(double low, double high) { return low * std::pow(high / low, uniform()); }
  Index below(Index n) { return static_cast<Index>(engine_() % static_cast<std::uint64_t>(n)); }
  /// Of mean 0 and variance 1, nearly normal: twelve uniforms, no function of libm.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }
  Matrix normals(Index rows, Index cols) {
    Matrix M(rows, cols);
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i) M(i, j) = normal();
    return M;
  }
  std::vector<Index> permutation(Index n) {
    std::vector<Index> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    for (Index i = n - 1; i > 0; --i)
      std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(below(i + 1))]);
    return order;
  }
  /// A rotation (or reflection) of n dimensions: a product of n Householder reflections.
  Matrix orthogonal(Index n) {
    Matrix Q = Matrix::Identity(n, n);
    for (Index k = 0; k < n; ++k) {
      const Vector v = normals(n, 1).col(0).normalized();
      Q -= 2 * v * (v.transpose() * Q);
    }
    return Q;
  }

 private:
  std::mt19937_64 engine_;
};

/// Directions of no order: inner products of about 1/sqrt(bands).
inline Matrix random_atoms(Random& random, Index bands, Index atoms) {
  Matrix D = random.normals(bands, atoms);
  for (Index j = 0; j < atoms; ++j) D.col(j).normalize();
  return D;
}

/// Like spectra of one scene: smooth, positive mixtures of a few bumps with a little noise, of unit
/// length. Off-diagonal entries of the Gaussian Gram matrix with sigma = 1 are about 0.95 to 0.999.
inline Matrix coherent_atoms(Random& random, Index bands, Index atoms) {
  constexpr Index bumps = 5;
  Matrix shapes(bands, bumps);
  for (Index k = 0; k < bumps; ++k) {
    const double center = random.uniform();
    const double width = random.uniform(0.1, 0.4);
    for (Index b = 0; b < bands; ++b) {
      const double t =
          ((static_cast<double>(b) + 0.5) / static_cast<double>(bands) - center) / width;
      shapes(b, k) = 1 / (1 + t * t);
    }
  }
  Matrix D(bands, atoms);
  for (Index j = 0; j < atoms; ++j) {
    Vector mixture = Vector::Constant(bands, 0.6);
    for (Index k = 0; k < bumps; ++k) mixture += random.uniform(0.3, 1.0) * shapes.col(k);
    for (Index b = 0; b < bands; ++b) mixture[b] *= 1 + 0.02 * random.normal();
    D.col(j) = mixture.normalized();
  }
  return D;
}

/// Overwrites about `share` of the atoms by copies of others, moved by `distance`.
inline void duplicate_atoms(Random& random, Matrix& D, double share, double distance) {
  for (Index j = 1; j < D.cols(); ++j) {
    if (random.uniform() >= share) continue;
    D.col(j) = D.col(random.below(j));
    if (distance > 0) D.col(j) += distance * random.normals(D.rows(), 1).col(0).normalized();
  }
}

/// What a dictionary can be like.
enum class Atoms { random, coherent, duplicated, nearly_duplicated, zero, identical };

inline constexpr Atoms all_kinds_of_atoms[] = {Atoms::random,     Atoms::coherent,
                                               Atoms::duplicated, Atoms::nearly_duplicated,
                                               Atoms::zero,       Atoms::identical};

inline const char* name(Atoms kind) {
  switch (kind) {
    case Atoms::random:
      return "random";
    case Atoms::coherent:
      return "coherent";
    case Atoms::duplicated:
      return "duplicated";
    case Atoms::nearly_duplicated:
      return "nearly duplicated";
    case Atoms::zero:
      return "with zeros";
    case Atoms::identical:
      return "identical";
  }
  return "";
}

inline Matrix make_atoms(Random& random, Atoms kind, Index bands, Index atoms) {
  Matrix D = kind == Atoms::random || random.uniform() < 0.5 ? random_atoms(random, bands, atoms)
                                                             : coherent_atoms(random, bands, atoms);
  switch (kind) {
    case Atoms::random:
      break;
    case Atoms::coherent:
      D = coherent_atoms(random, bands, atoms);
      break;
    case Atoms::duplicated:
      duplicate_atoms(random, D, 0.4, 0);
      break;
    case Atoms::nearly_duplicated:
      duplicate_atoms(random, D, 0.4, 1e-9);
      break;
    case Atoms::zero:
      for (Index j = 0; j < atoms; ++j)
        if (j == atoms / 2 || random.uniform() < 0.2) D.col(j).setZero();
      break;
    case Atoms::identical:
      for (Index j = 1; j < atoms; ++j) D.col(j) = D.col(0);
      break;
  }
  return D;
}

/// The pixels of one neighbourhood: one positive mixture of up to three atoms, which varies a
/// little from pixel to pixel, plus noise.
inline Matrix make_window(Random& random, const Matrix& D, Index pixels, double noise = 0.05) {
  Matrix X(D.rows(), pixels);
  const Index parts = 1 + random.below(std::min<Index>(3, D.cols()));
  std::vector<std::pair<Index, double>> mixture;
  for (Index k = 0; k < parts; ++k)
    mixture.emplace_back(random.below(D.cols()), random.uniform(0.2, 1.0));
  for (Index s = 0; s < pixels; ++s) {
    Vector x = Vector::Zero(D.rows());
    for (const auto& [atom, weight] : mixture) x += weight * random.uniform(0.7, 1.3) * D.col(atom);
    x += noise * random.normals(D.rows(), 1) / std::sqrt(static_cast<double>(D.rows()));
    X.col(s) = x.norm() > 0 ? Vector(x.normalized()) : x;
  }
  return X;
}

/// What the coder sees of one dictionary and one window, and what only an oracle sees.
struct Problem {
  std::string name;
  Matrix K;  ///< k(D,D), d x d
  Matrix B;  ///< k(D,X), d x S
  Matrix C;  ///< k(X,X), S x S; its trace is kappa
  double lambda1 = 0;
  double lambda2 = 0;

  Index atoms() const { return K.rows(); }
  Index pixels() const { return B.cols(); }
  double kappa() const { return C.trace(); }
  /// The smallest lambda1 for which the zero code is optimal.
  double largest_lambda1() const { return B.rowwise().norm().maxCoeff(); }
};

inline Problem make_problem(const Kernel& kernel, const Matrix& D, const Matrix& X) {
  Problem p;
  p.K = kernel.gram(D, D);
  p.B = kernel.gram(D, X);
  p.C = kernel.gram(X, X);
  return p;
}

}  // namespace hyperatom::test
