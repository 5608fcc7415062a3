// The contract of every kernel of the table (kernel.hpp).
#include "hyperatom/kernel/kernel.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <ostream>
#include <string>

#include "hyperatom/base/error.hpp"
#include "tests/support/problems.hpp"

namespace hyperatom {

void PrintTo(const Spec& spec, std::ostream* out) { *out << spec.to_string(); }

}  // namespace hyperatom

namespace hyperatom::test {
namespace {

using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
using Parameters = std::map<std::string, long double>;
using Formula = long double (*)(const Parameters&, const LongVector&, const LongVector&);

/// Each kernel written out for one pair of pixels. A new kernel needs its line here.
const std::map<std::string, Formula> formulas = {
    {"linear",
     [](const Parameters&, const LongVector& x, const LongVector& y) { return x.dot(y); }},
    {"gaussian",
     [](const Parameters& p, const LongVector& x, const LongVector& y) {
       return std::exp(-(x - y).squaredNorm() / p.at("sigma"));
     }},
    {"polynomial",
     [](const Parameters& p, const LongVector& x, const LongVector& y) {
       return std::pow(x.dot(y) + p.at("offset"), p.at("degree"));
     }},
};

long double formula(const Spec& spec, const Vector& x, const Vector& y) {
  const auto found = formulas.find(spec.name);
  if (found == formulas.end()) {
    ADD_FAILURE() << "kernel_test.cpp has no formula for kernel '" << spec.name << "'";
    return 0;
  }
  const Parameters parameters(spec.parameters.begin(), spec.parameters.end());
  return found->second(parameters, x.cast<long double>(), y.cast<long double>());
}

/// The examples of the table, and other parameters of kernels that are there.
std::vector<Spec> specs() {
  std::vector<Spec> all = example_kernels();
  for (const char* text :
       {"gaussian(sigma=0.05)", "gaussian(sigma=20)", "polynomial(degree=1,offset=0)",
        "polynomial(degree=2,offset=1)", "polynomial(degree=5,offset=0)"})
    all.push_back(Spec::parse(text));
  return all;
}

/// Not EXPECT_EQ, which would print both matrices.
bool same_bits(const Matrix& A, const Matrix& B) {
  return A.rows() == B.rows() && A.cols() == B.cols() && (A.array() == B.array()).all();
}

class EveryKernel : public ::testing::TestWithParam<Spec> {
 protected:
  std::unique_ptr<const Kernel> kernel = make_kernel(GetParam());
};

std::string test_name(const ::testing::TestParamInfo<Spec>& info) {
  std::string name = info.param.to_string();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return fmt::format("{}_{}", info.index, name);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryKernel, ::testing::ValuesIn(specs()), test_name);

TEST_P(EveryKernel, GramIsTheFormulaPairByPair) {
  Random random(1);
  for (const Index bands : {1, 2, 3, 4, 5, 7, 8, 9, 103, 200}) {
    const Matrix X = random_atoms(random, bands, 9);
    const Matrix Y = 0.8 * random_atoms(random, bands, 14);
    const Matrix K = kernel->gram(X, Y);
    ASSERT_EQ(K.rows(), 9);
    ASSERT_EQ(K.cols(), 14);
    for (Index i = 0; i < 9; ++i)
      for (Index j = 0; j < 14; ++j) {
        const double expected = static_cast<double>(formula(GetParam(), X.col(i), Y.col(j)));
        // Squared distances come from inner products: an absolute error of a few ulp of 1, over
        // sigma.
        EXPECT_NEAR(K(i, j), expected, 2e-13 * std::max(1.0, std::abs(expected)))
            << "bands " << bands << " entry " << i << ',' << j;
      }
  }
}

TEST_P(EveryKernel, GramIsSymmetricAndPositiveSemidefinite) {
  for (const Atoms kind : all_kinds_of_atoms)
    for (const Index atoms : {1, 2, 13, 50}) {
      Random random(static_cast<std::uint64_t>(atoms));
      const Matrix D = make_atoms(random, kind, 17, atoms);
      const Matrix K = kernel->gram(D, D);
      EXPECT_TRUE(same_bits(K, K.transpose())) << name(kind) << ' ' << atoms;
      const Eigen::SelfAdjointEigenSolver<Matrix> eigen(K);
      EXPECT_GE(eigen.eigenvalues().minCoeff(),
                -1e-12 * static_cast<double>(atoms) * K.diagonal().maxCoeff())
          << name(kind) << ' ' << atoms;
    }
}

/// To the last bit: a pixel that is an atom must look like one.
TEST_P(EveryKernel, DiagonalIsThatOfGram) {
  Random random(2);
  for (Index bands = 1; bands <= 40; ++bands) {
    const Matrix X = 3 * random.normals(bands, 11);
    EXPECT_TRUE(same_bits(kernel->diagonal(X), kernel->gram(X, X).diagonal())) << "bands " << bands;
  }
}

TEST_P(EveryKernel, NothingInNothingOut) {
  const Matrix X = Matrix::Ones(5, 3), none(5, 0);
  EXPECT_EQ(kernel->gram(X, none).cols(), 0);
  EXPECT_EQ(kernel->gram(none, X).rows(), 0);
  EXPECT_EQ(kernel->diagonal(none).size(), 0);
  EXPECT_EQ(kernel->pullback(none, X, Matrix(0, 3)).cols(), 0);
  EXPECT_EQ(kernel->pullback(X, none, Matrix(3, 0)), Matrix::Zero(5, 3));
}

/// A pixel that is an atom comes back as that atom, whatever else is there.
TEST_P(EveryKernel, PreimageOfAnAtomIsTheAtom) {
  Random random(7);
  const Matrix D = random_atoms(random, 12, 6);
  for (Index j = 0; j < 6; ++j) {
    const Vector c = kernel->preimage(Vector::Unit(6, j), kernel->gram(D, D.col(j)).col(0),
                                      kernel->diagonal(D.col(j))[0]);
    EXPECT_LT((D * c - D.col(j)).norm(), 1e-12) << j;
  }
}

/// The best combination in the space of the kernel leads back to nearer the pixel than its nearest
/// atom is.
TEST_P(EveryKernel, PreimageOfAGoodCodeIsNearThePixel) {
  Random random(8);
  for (int trial = 0; trial < 20; ++trial) {
    const Vector centre = random_atoms(random, 4, 1).cwiseAbs();
    Matrix D = 0.1 * random.normals(4, 8);
    D.colwise() += centre;
    const Vector x = D * Vector::Constant(8, 0.125);
    const Vector cross = kernel->gram(D, x).col(0);
    const Matrix K = kernel->gram(D, D) + 1e-9 * Matrix::Identity(8, 8);
    const Vector z = D * kernel->preimage(K.ldlt().solve(cross), cross, kernel->diagonal(x)[0]);
    EXPECT_LT((z - x).norm(), 0.5 * (D.colwise() - x).colwise().norm().minCoeff()) << trial;
  }
}

/// sum_js C_js k(x_s, d_j)
double weighted_sum(const Kernel& kernel, const Matrix& D, const Matrix& X, const Matrix& C) {
  return C.cwiseProduct(kernel.gram(D, X)).sum();
}

void expect_pullback(const Kernel& kernel, const Matrix& D, const Matrix& X, const Matrix& C) {
  constexpr double h = 1e-5;
  const Matrix gradient = kernel.pullback(D, X, C);
  ASSERT_EQ(gradient.rows(), D.rows());
  ASSERT_EQ(gradient.cols(), D.cols());
  for (Index j = 0; j < D.cols(); ++j)
    for (Index b = 0; b < D.rows(); ++b) {
      Matrix plus = D, minus = D;
      plus(b, j) += h;
      minus(b, j) -= h;
      const double slope =
          (weighted_sum(kernel, plus, X, C) - weighted_sum(kernel, minus, X, C)) / (2 * h);
      EXPECT_NEAR(gradient(b, j), slope, 2e-6 * std::max(1.0, gradient.cwiseAbs().maxCoeff()))
          << "band " << b << " atom " << j;
    }
}

TEST_P(EveryKernel, PullbackIsTheDerivative) {
  Random random(3);
  for (const Index bands : {1, 3, 8})
    for (const Index pixels : {1, 2, 9}) {
      const Matrix D = random_atoms(random, bands, 6);
      const Matrix X = D.col(0) * Matrix::Ones(1, pixels) + 0.3 * random.normals(bands, pixels);
      expect_pullback(*kernel, D, X, random.normals(6, pixels));
    }
}

/// With X = D the other argument is still held: half of the whole derivative if C is symmetric.
TEST_P(EveryKernel, PullbackOfTheDictionaryWithItself) {
  Random random(4);
  const Matrix D = random_atoms(random, 6, 5);
  const Matrix C = random.normals(5, 5);
  const Matrix held = D;
  expect_pullback(*kernel, D, held, C);
  EXPECT_EQ(kernel->pullback(D, D, C), kernel->pullback(D, held, C));

  constexpr double h = 1e-5;
  const Matrix symmetric = C + C.transpose();
  const Matrix gradient = kernel->pullback(D, D, symmetric);
  for (Index j = 0; j < 5; ++j) {
    Matrix plus = D, minus = D;
    plus(2, j) += h;
    minus(2, j) -= h;
    const double both = (weighted_sum(*kernel, plus, plus, symmetric) -
                         weighted_sum(*kernel, minus, minus, symmetric)) /
                        (2 * h);
    EXPECT_NEAR(2 * gradient(2, j), both, 4e-6 * std::max(1.0, gradient.cwiseAbs().maxCoeff()));
  }
}

/// What maps that do not change with the tile size rest on.
TEST_P(EveryKernel, EntriesAreTheSameBitsInEveryBlock) {
  std::vector<Index> band_counts = {103, 200};
  for (Index bands = 1; bands <= 17; ++bands) band_counts.push_back(bands);
  for (const Index bands : band_counts) {
    SCOPED_TRACE(fmt::format("bands {}", bands));
    Random random(static_cast<std::uint64_t>(bands));
    constexpr Index m = 75, n = 31;  // more than one group of atoms
    const Matrix X = coherent_atoms(random, bands, m);
    const Matrix Y = random_atoms(random, bands, n);
    const Matrix K = kernel->gram(X, Y);
    for (int trial = 0; trial < 40; ++trial) {
      const Index i = random.below(m), rows = 1 + random.below(m - i);
      const Index j = random.below(n), cols = 1 + random.below(n - j);
      const Matrix expected = K.block(i, j, rows, cols);
      ASSERT_TRUE(same_bits(kernel->gram(X.middleCols(i, rows), Y.middleCols(j, cols)), expected));
      // As part of larger matrices, at odd addresses, into part of another.
      Matrix wide_x = random.normals(bands + 3, m + 2), wide_y = random.normals(bands + 1, n + 1);
      wide_x.block(1, 2, bands, m) = X;
      wide_y.block(1, 1, bands, n) = Y;
      Matrix target = Matrix::Constant(rows + 5, cols + 3, -7);
      kernel->gram(wide_x.block(1, 2 + i, bands, rows), wide_y.block(1, 1 + j, bands, cols),
                   target.block(3, 1, rows, cols));
      ASSERT_TRUE(same_bits(target.block(3, 1, rows, cols), expected));
      target.block(3, 1, rows, cols).setConstant(-7);
      ASSERT_TRUE((target.array() == -7).all());  // and nothing beside it
    }
    for (Index j = 0; j < n; ++j) ASSERT_TRUE(same_bits(kernel->gram(X, Y.col(j)), K.col(j)));
    for (Index i = 0; i < m; ++i) ASSERT_TRUE(same_bits(kernel->gram(X.col(i), Y), K.row(i)));
    ASSERT_TRUE(same_bits(kernel->gram(Y, X), K.transpose()));
  }
}

/// A missing value must not pass for a similarity.
TEST_P(EveryKernel, PixelsThatAreNotFiniteGiveNoNumber) {
  Random random(5);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const Matrix D = random_atoms(random, 10, 7);
    Matrix X = random_atoms(random, 10, 5);
    const Matrix clean = kernel->gram(D, X);
    X(3, 2) = bad;
    const Matrix K = kernel->gram(D, X);
    for (Index s = 0; s < 5; ++s)
      for (Index j = 0; j < 7; ++j) {
        if (s == 2) {
          EXPECT_TRUE(!std::isfinite(K(j, s)) || (std::isinf(bad) && K(j, s) == 0)) << K(j, s);
        } else {
          EXPECT_EQ(K(j, s), clean(j, s));
        }
      }
  }
}

TEST_P(EveryKernel, SpecMakesTheSameKernel) {
  const Spec spec = kernel->spec();
  EXPECT_EQ(spec.name, GetParam().name);
  for (const auto& [key, value] : GetParam().parameters) {
    const auto same = [&, k = key, v = value](const auto& p) {
      return p.first == k && p.second == v;
    };
    EXPECT_EQ(std::count_if(spec.parameters.begin(), spec.parameters.end(), same), 1) << key;
  }
  const auto again = make_kernel(Spec::parse(spec.to_string()));
  EXPECT_EQ(again->spec(), spec);
  Random random(6);
  const Matrix X = random_atoms(random, 11, 4);
  EXPECT_TRUE(same_bits(again->gram(X, X), kernel->gram(X, X)));
}

TEST_P(EveryKernel, RefusesParametersItDoesNotKnow) {
  Spec spec = GetParam();
  spec.parameters.emplace_back("sharpness", 2);
  try {
    make_kernel(spec);
    ADD_FAILURE() << "accepted";
  } catch (const OptionError& e) {
    EXPECT_NE(std::string(e.what()).find("'sharpness'"), std::string::npos) << e.what();
  }
}

std::string refusal(const char* text) {
  try {
    make_kernel(Spec::parse(text));
  } catch (const OptionError& e) {
    return e.what();
  }
  ADD_FAILURE() << text << " was accepted";
  return {};
}

void expect_named(const char* text, const std::vector<std::string>& parts) {
  const std::string message = refusal(text);
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << text << ": " << message;
}

TEST(KernelErrors, NameTheParameterAndWhatIsExpected) {
  expect_named("gausian(sigma=1)", {"gausian", "linear", "gaussian", "polynomial"});
  expect_named("gaussian", {"sigma", "missing"});
  expect_named("gaussian(sigma=0)", {"sigma", "greater than 0", "0"});
  expect_named("gaussian(sigma=-2)", {"sigma", "greater than 0", "-2"});
  expect_named("gaussian(sigma=1,gamma=2)", {"gamma", "sigma"});
  expect_named("linear(offset=1)", {"offset", "linear"});
  expect_named("polynomial", {"degree", "missing"});
  expect_named("polynomial(degree=0)", {"degree", "1 to 16", "0"});
  expect_named("polynomial(degree=17)", {"degree", "1 to 16", "17"});
  expect_named("polynomial(degree=2.5)", {"degree", "whole number", "2.5"});
  expect_named("polynomial(degree=2,offset=-1)", {"offset", "0 or greater", "-1"});
  expect_named("polynomial(degree=2,ofset=1)", {"ofset", "degree", "offset"});
}

TEST(KernelDefaults, PolynomialOffsetIsZero) {
  EXPECT_EQ(make_kernel(Spec::parse("polynomial(degree=2)"))->spec().to_string(),
            "polynomial(degree=2,offset=0)");
}

TEST(KernelTable, ExamplesAreValidAndDistinct) {
  const std::vector<Spec> examples = example_kernels();
  EXPECT_GE(examples.size(), 3u);
  for (size_t i = 0; i < examples.size(); ++i) {
    EXPECT_NO_THROW(make_kernel(examples[i]));
    for (size_t j = 0; j < i; ++j) EXPECT_NE(examples[i].name, examples[j].name);
  }
}

}  // namespace
}  // namespace hyperatom::test
