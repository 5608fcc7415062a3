#include "hyperatom/base/parallel.hpp"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace hyperatom {
namespace {

thread_local int thread_limit = 0;  // 0: all cores
thread_local bool inside = false;   // a call of parallel_for

/// While it lives, its thread is inside.
class Inside {
 public:
  Inside() : previous_(std::exchange(inside, true)) {}
  ~Inside() { inside = previous_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  bool previous_;
};

/// Calls f in an arena of so many threads. Making one takes thirty times as long as using it, so a
/// thread keeps its last; but not for calls from inside, most of which are made by threads of
/// oneTBB, whose end is not ours to see.
template <class Function>
void execute_with(int threads, const Function& f) {
  if (inside) {
    tbb::task_arena(threads).execute(f);
    return;
  }
  thread_local std::optional<tbb::task_arena> arena;
  if (!arena || arena->max_concurrency() != threads) arena.emplace(threads);
  arena->execute(f);
}

}  // namespace

Index parallel_slots() {
  return thread_limit > 0 ? thread_limit : tbb::info::default_concurrency();
}

void parallel_for(Index n, const std::function<void(Index, Index)>& f) {
  const int threads = static_cast<int>(parallel_slots());
  if (threads <= 1 || n <= 1) {
    for (Index i = 0; i < n; ++i) f(i, 0);
    return;
  }
  // Without it oneTBB would silently give no more threads than there are cores.
  std::optional<tbb::global_control> more;
  if (threads > tbb::info::default_concurrency())
    more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
  execute_with(threads, [&] {
    tbb::parallel_for(
        tbb::blocked_range<Index>(0, n, 1),
        [&](const tbb::blocked_range<Index>& range) {
          const Inside mark;
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
