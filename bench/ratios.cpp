// Two ratios, each taken within one interleaved run on one thread:
//   S = 9: solves per second against a warm-started ADMM (best rho of five, stopped by an oracle
//   that knows the optimum,
//          so that its own tests of convergence cost it nothing), both to 1e-6 of the optimum;
//   S = 1: coding a pixel against forming its kernel column.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

#include "bench/admm.hpp"
#include "bench/problem.hpp"
#include "bench/processor_time.hpp"

namespace hyperatom::bench {
namespace {

constexpr double accuracy = 1e-6;
constexpr int repeats = 5;

double seconds(const auto& work) {
  const double begin = processor_seconds();
  work();
  return processor_seconds() - begin;
}

/// Iterations that ADMM needs for each window to come within `accuracy` of the optimum; empty when
/// it does not within the limit.
std::vector<int> oracle_iterations(Problem& problem, const std::vector<double>& optimum,
                                   double lambda1, double rho) {
  constexpr int limit = 20000;
  const Matrix inverse = admm_inverse(problem.K(), rho);
  Admm admm(view(problem.K()), view(inverse), lambda1, rho);
  std::vector<int> iterations;
  for (size_t i = 0; i < optimum.size(); ++i) {
    admm.begin(problem.columns(static_cast<Index>(i)));
    int count = 0;
    do {
      admm.iterate();
      if (++count == limit) return {};
    } while (admm.objective(problem.kappa()) > optimum[i] * (1 + accuracy));
    iterations.push_back(count);
  }
  return iterations;
}

void compare_with_admm(const Size& size, double lambda1, Index count) {
  Problem problem(size, 9, Spec{"gaussian", {{"sigma", 1.0}}});
  std::vector<double> optimum;
  {
    const Coder exact(problem.K(), {.lambda1 = lambda1, .tolerance = 1e-10});
    WindowCoder worker(exact);
    for (Index i = 0; i < count; ++i)
      optimum.push_back(worker.encode(problem.columns(i), problem.kappa()).objective);
  }
  double rho = 0;
  std::vector<int> iterations;
  long fewest = std::numeric_limits<long>::max();
  for (const double tried : {0.001, 0.003, 0.01, 0.03, 0.1}) {
    const std::vector<int> needed = oracle_iterations(problem, optimum, lambda1, tried);
    long sum = 0;
    for (const int n : needed) sum += n;
    if (needed.empty() || sum >= fewest) continue;
    fewest = sum;
    rho = tried;
    iterations = needed;
  }
  if (iterations.empty()) {
    std::printf("%s S=9 lambda1=%g: ADMM did not reach the accuracy with any rho\n", size.name,
                lambda1);
    return;
  }
  const Coder coder(problem.K(), {.lambda1 = lambda1, .tolerance = accuracy});
  const Matrix inverse = admm_inverse(problem.K(), rho);
  double ours = std::numeric_limits<double>::infinity(), theirs = ours;
  Index unsolved = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    ours = std::min(ours, seconds([&] {
                      WindowCoder worker(coder);
                      unsolved = 0;
                      for (Index i = 0; i < count; ++i)
                        unsolved += !worker.encode(problem.columns(i), problem.kappa()).converged;
                    }));
    theirs = std::min(theirs, seconds([&] {
                        Admm admm(view(problem.K()), view(inverse), lambda1, rho);
                        for (Index i = 0; i < count; ++i) {
                          admm.begin(problem.columns(i));
                          for (int k = 0; k < iterations[static_cast<size_t>(i)]; ++k)
                            admm.iterate();
                        }
                      }));
  }
  const auto n = static_cast<double>(count);
  std::printf(
      "%s S=9 sigma=1 lambda1=%g: hyperatom %.0f/s (%td of %td not certified), ADMM %.0f/s (rho "
      "%g, %.0f "
      "iterations): %.1f x\n",
      size.name, lambda1, n / ours, unsolved, count, n / theirs, rho,
      static_cast<double>(fewest) / n, theirs / ours);
}

void compare_with_kernel(const Size& size, double lambda1) {
  Problem problem(size, 1, Spec{"gaussian", {{"sigma", 1.0}}});
  const Coder coder(problem.K(), {.lambda1 = lambda1, .tolerance = accuracy});
  Matrix columns(size.atoms, problem.pixels().cols());
  double kernel = std::numeric_limits<double>::infinity(), coding = kernel;
  for (int repeat = 0; repeat < 2 * repeats; ++repeat) {
    kernel = std::min(
        kernel, seconds([&] { problem.kernel().gram(problem.D(), problem.pixels(), columns); }));
    coding = std::min(coding, seconds([&] {
                        WindowCoder worker(coder);
                        for (Index i = 0; i < problem.windows(); ++i)
                          worker.encode(problem.columns(i), 1);
                      }));
  }
  const auto n = static_cast<double>(problem.windows());
  std::printf(
      "%s S=1 sigma=1 lambda1=%g: coding %.2f us, forming k(D, x) %.2f us a pixel: %.2f x\n",
      size.name, lambda1, 1e6 * coding / n, 1e6 * kernel / n, coding / kernel);
}

}  // namespace
}  // namespace hyperatom::bench

int main() {
  using namespace hyperatom::bench;
  for (const Size& size : sizes)
    for (const double lambda1 : {0.1, 0.01, 0.001}) compare_with_admm(size, lambda1, 200);
  for (const Size& size : sizes)
    for (const double lambda1 : {0.1, 0.01, 0.001}) compare_with_kernel(size, lambda1);
}
