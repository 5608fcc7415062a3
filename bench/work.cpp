// Fixed pieces of work for bench/instructions.py, which counts the instructions of measured_work()
// under callgrind.
#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "bench/admm.hpp"
#include "bench/problem.hpp"
#include "hyperatom/base/parallel.hpp"

extern "C" [[gnu::noinline]] void measured_work(const std::function<void()>& work) {
  work();
  std::fflush(stdout);  // no tail call: this function is on the stack as long as the work lasts
}

namespace hyperatom::bench {
namespace {

constexpr Index count = 100;  // windows, iterations, pixels
constexpr double lambda1 = 0.01;

Problem problem_of(const Size& size, Index window, double sigma = 1) {
  return {size, window, Spec{"gaussian", {{"sigma", sigma}}}};
}

void code(const Size& size, Index window, double sigma = 1) {
  Problem problem = problem_of(size, window, sigma);
  const Coder coder(problem.K(), {.lambda1 = lambda1});
  WindowCoder worker(coder);
  measured_work([&] {
    for (Index i = 0; i < count; ++i) worker.encode(problem.columns(i), problem.kappa());
  });
}

void adjoint(const Size& size, Index window) {
  Problem problem = problem_of(size, window);
  const Coder coder(problem.K(), {.lambda1 = lambda1});
  const SparseCode code = coder.encode(
      problem.kernel().gram(problem.D(), problem.pixels().leftCols(window)), problem.kappa());
  RowMatrix slope = RowMatrix::Zero(code.A.rows(), code.A.cols());
  slope.col(0).setOnes();
  measured_work([&] {
    for (Index i = 0; i < count; ++i) coder.adjoint(code, slope);
  });
}

void gram(const Size& size) {
  const Problem problem = problem_of(size, 1);
  Matrix columns(size.atoms, count);
  measured_work(
      [&] { problem.kernel().gram(problem.D(), problem.pixels().leftCols(count), columns); });
}

/// What the others are compared with.
void admm(const Size& size, Index window) {
  Problem problem = problem_of(size, window);
  const Matrix inverse = admm_inverse(problem.K(), 0.01);
  Admm rival(view(problem.K()), view(inverse), lambda1, 0.01);
  rival.begin(problem.columns(0));
  measured_work([&] {
    for (Index i = 0; i < count; ++i) rival.iterate();
  });
}

}  // namespace
}  // namespace hyperatom::bench

int main(int argc, char** argv) {
  using namespace hyperatom::bench;
  const hyperatom::ThreadLimit one(1);
  const Size &large = sizes[0], &small = sizes[1];
  const std::map<std::string, std::function<void()>> cases = {
      {"reference", [&] { admm(small, 9); }},
      {"code 80 S=1", [&] { code(large, 1); }},
      {"code 45 S=1", [&] { code(small, 1); }},
      {"code 80 S=9", [&] { code(large, 9); }},
      {"code 45 S=9", [&] { code(small, 9); }},
      {"code 80 S=49", [&] { code(large, 49); }},
      {"dense code 45 S=9", [&] { code(small, 9, 1e-3); }},
      {"adjoint 80 S=9", [&] { adjoint(large, 9); }},
      {"kernel 80", [&] { gram(large); }}};
  const auto found = argc == 2 ? cases.find(argv[1]) : cases.end();
  if (found == cases.end()) {
    for (const auto& [name, work] : cases) std::puts(name.c_str());
    return argc == 1 ? 0 : 2;
  }
  found->second();
}
