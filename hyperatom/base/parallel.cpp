#include "hyperatom/base/parallel.hpp"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <optional>

namespace hyperatom {
namespace {

thread_local int thread_limit = 0;  // 0: all cores

}  // namespace

Index parallel_slots() {
  return thread_limit > 0 ? thread_limit : tbb::info::default_concurrency();
}

void parallel_for(Index n, const std::function<void(Index, Index)>& f) {
  const int threads = static_cast<int>(std::min<Index>(parallel_slots(), n));
  if (threads <= 1) {
    for (Index i = 0; i < n; ++i) f(i, 0);
    return;
  }
  // Without it oneTBB would silently give no more threads than there are cores.
  std::optional<tbb::global_control> more;
  if (threads > tbb::info::default_concurrency())
    more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<Index>(0, n, 1),
        [&](const tbb::blocked_range<Index>& range) {
          const Index slot = tbb::this_task_arena::current_thread_index();
          for (Index i = range.begin(); i < range.end(); ++i) f(i, slot);
        },
        tbb::simple_partitioner());
  });
}

void parallel_for_blocks(Index n, Index block, const std::function<void(Index, Index)>& f) {
  parallel_for((n + block - 1) / block,
               [&](Index i, Index) { f(i * block, std::min(block, n - i * block)); });
}

ThreadLimit::ThreadLimit(int threads) : previous_(thread_limit) {
  thread_limit = std::max(1, threads);
}

ThreadLimit::~ThreadLimit() { thread_limit = previous_; }

}  // namespace hyperatom
