// Micro-benchmarks at the paper's sizes: forming k(D, X), coding, the adjoint solve, a training
// step.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>

#include "bench/problem.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/learn/trainer.hpp"

namespace hyperatom::bench {
namespace {

constexpr Index windows[] = {1, 9, 25, 49};
constexpr double sigma = 1;
constexpr double lambda1 = 0.01;

Problem make_problem(const Size& size, Index window) {
  return Problem(size, window, Spec{"gaussian", {{"sigma", sigma}}});
}

void gram(benchmark::State& state, const Size& size) {
  const Problem problem = make_problem(size, 1);
  Matrix columns(problem.D().cols(), problem.pixels().cols());
  for (auto _ : state) {
    problem.kernel().gram(problem.D(), problem.pixels(), columns);
    benchmark::DoNotOptimize(columns.data());
  }
  state.SetItemsProcessed(state.iterations() * columns.cols());
}

void code(benchmark::State& state, const Size& size, Index window) {
  Problem problem = make_problem(size, window);
  const Coder coder(problem.K(), {.lambda1 = lambda1});
  WindowCoder worker(coder);
  Index i = 0, active = 0;
  for (auto _ : state) {
    active += static_cast<Index>(worker.encode(problem.columns(i), problem.kappa()).active.size());
    i = (i + 1) % problem.windows();
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["active"] = static_cast<double>(active) / static_cast<double>(state.iterations());
}

void adjoint(benchmark::State& state, const Size& size, Index window) {
  Problem problem = make_problem(size, window);
  const Coder coder(problem.K(), {.lambda1 = lambda1});
  WindowCoder worker(coder);
  std::vector<SparseCode> codes;
  std::vector<RowMatrix> slopes;
  for (Index i = 0; i < 100; ++i) {
    codes.push_back(worker.encode(problem.columns(i), problem.kappa()));
    slopes.push_back(RowMatrix::Zero(codes.back().A.rows(), codes.back().A.cols()));
    slopes.back().col(0).setOnes();
  }
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(coder.adjoint(codes[i], slopes[i]).beta.data());
    i = (i + 1) % codes.size();
  }
  state.SetItemsProcessed(state.iterations());
}

void training_step(benchmark::State& state, const Size& size, Index window) {
  const Problem problem = make_problem(size, window);
  TrainOptions options;
  options.lambda1 = lambda1;
  options.kernel = problem.kernel().spec();
  const ThreadLimit one_thread(1);
  Trainer trainer(problem.samples(), options);
  for (auto _ : state) trainer.step();
  state.SetItemsProcessed(state.iterations() * options.batch);
}

void register_all() {
  for (const Size& size : sizes) {
    const std::string name = size.name;
    benchmark::RegisterBenchmark(("gram/" + name).c_str(), gram, size)
        ->Unit(benchmark::kMillisecond);
    for (const Index window : windows) {
      const std::string suffix = "/" + name + "/S" + std::to_string(window);
      const std::pair<const char*, void (*)(benchmark::State&, const Size&, Index)> parts[] = {
          {"code", code}, {"adjoint", adjoint}, {"training_step", training_step}};
      for (const auto& [part, function] : parts)
        benchmark::RegisterBenchmark((part + suffix).c_str(), function, size, window)
            ->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace
}  // namespace hyperatom::bench

int main(int count, char** arguments) {
  hyperatom::bench::register_all();
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
