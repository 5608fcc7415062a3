// hyperatom's coder and its honest rival, ADMM, behind a C interface, so that
// bench/peers/measure.py runs them beside the Python libraries in one process.
//
// A problem is K (d x d), the kernel columns of all pixels (d x pixels), windows (S pixel numbers
// each, the centre first) and kappa, the sum of k(x, x) over a window. Matrices are column-major.
// Times are processor time of the calling thread, or wall-clock time with more threads than one.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "bench/admm.hpp"
#include "bench/processor_time.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/coding/coder.hpp"

namespace hyperatom::bench {
namespace {

struct Windows {
  Index d, S, count;
  const double* columns;
  const std::int64_t* pixels;

  /// The columns of window i, in `pointers`.
  Columns at(Index i, std::vector<const double*>& pointers) const {
    pointers.clear();
    for (Index s = 0; s < S; ++s) pointers.push_back(column(i, s));
    return {pointers, d};
  }

  const double* column(Index i, Index s) const { return columns + pixels[i * S + s] * d; }
};

constexpr Index strip = 64;  // windows in a row that one thread codes

}  // namespace
}  // namespace hyperatom::bench

using hyperatom::Index;
using namespace hyperatom::bench;

extern "C" {

/// Codes the windows in order, each from the one before (with threads: in strips). Writes the codes
/// (d x S each) unless `codes` is null.
/// Returns seconds; `found` gets the windows that were not certified and the mean number of rows.
double hyperatom_code(Index d, Index S, Index count, const double* K, const double* columns,
                      const std::int64_t* pixels, double kappa, double lambda1, double tolerance,
                      Index threads, double* codes, double* found) {
  const hyperatom::Coder coder(Eigen::Map<const hyperatom::Matrix>(K, d, d),
                               {.lambda1 = lambda1, .tolerance = tolerance});
  const Windows windows{d, S, count, columns, pixels};
  std::vector<double> uncertified(static_cast<size_t>(count)), rows(static_cast<size_t>(count));
  const auto code = [&](Index begin, Index end) {
    hyperatom::WindowCoder worker(coder);
    std::vector<const double*> pointers;
    for (Index i = begin; i < end; ++i) {
      const bool foreseen = S == 1 && i + 1 < end;
      const hyperatom::Pixel next = {foreseen ? windows.column(i + 1, 0) : nullptr, kappa};
      const hyperatom::SparseCode& result =
          worker.encode(windows.at(i, pointers), kappa, foreseen ? &next : nullptr);
      uncertified[static_cast<size_t>(i)] = !result.converged;
      rows[static_cast<size_t>(i)] = static_cast<double>(result.active.size());
      if (codes) Eigen::Map<hyperatom::Matrix>(codes + i * d * S, d, S) = result.dense(d);
    }
  };
  double seconds = 0;
  if (threads == 1) {
    const double begin = processor_seconds();
    code(0, count);
    seconds = processor_seconds() - begin;
  } else {
    const hyperatom::ThreadLimit limit(static_cast<int>(threads));
    const double begin = wall_seconds();
    hyperatom::parallel_for((count + strip - 1) / strip, [&](Index i, Index) {
      code(i * strip, std::min((i + 1) * strip, count));
    });
    seconds = wall_seconds() - begin;
  }
  found[0] = found[1] = 0;
  for (Index i = 0; i < count; ++i) {
    found[0] += uncertified[static_cast<size_t>(i)];
    found[1] += rows[static_cast<size_t>(i)] / static_cast<double>(count);
  }
  return seconds;
}

/// The iterations of ADMM, with the inverse of K + rho I, until every window's objective is at most
/// `enough`; returns their sum, or -1 when `limit` of them or `most_seconds` were not enough.
std::int64_t admm_needs(Index d, Index S, Index count, const double* K, const double* inverse,
                        const double* columns, const std::int64_t* pixels, double kappa,
                        double lambda1, double rho, const double* enough, std::int64_t limit,
                        double most_seconds, std::int64_t* iterations) {
  Admm admm({K, d, d}, {inverse, d, d}, lambda1, rho);
  const Windows windows{d, S, count, columns, pixels};
  std::vector<const double*> pointers;
  std::int64_t sum = 0;
  const double begin = processor_seconds();
  for (Index i = 0; i < count; ++i) {
    admm.begin(windows.at(i, pointers));
    iterations[i] = 0;
    do {
      admm.iterate();
      ++iterations[i];
      if (++sum > limit || processor_seconds() - begin > most_seconds) return -1;
    } while (admm.objective(kappa) > enough[i]);
  }
  return sum;
}

/// So many iterations for every window, with nothing else inside the clock. Returns seconds.
double admm_run(Index d, Index S, Index count, const double* K, const double* inverse,
                const double* columns, const std::int64_t* pixels, double lambda1, double rho,
                const std::int64_t* iterations) {
  Admm admm({K, d, d}, {inverse, d, d}, lambda1, rho);
  const Windows windows{d, S, count, columns, pixels};
  std::vector<const double*> pointers;
  const double begin = processor_seconds();
  for (Index i = 0; i < count; ++i) {
    admm.begin(windows.at(i, pointers));
    for (std::int64_t k = 0; k < iterations[i]; ++k) admm.iterate();
  }
  return processor_seconds() - begin;
}
}
