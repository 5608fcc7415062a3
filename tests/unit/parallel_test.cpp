#include "hyperatom/base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace hyperatom {
namespace {

TEST(ParallelFor, CallsEveryIndexOnce) {
  for (const int threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    for (const Index n : {0, 1, 2, 3, 7, 100, 5000}) {
      std::vector<std::atomic<int>> calls(at(n));
      parallel_for(n, [&](Index i, Index) { ++calls[at(i)]; });
      for (const auto& count : calls) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ParallelFor, NothingToDo) {
  parallel_for(0, [](Index, Index) { FAIL(); });
}

/// Two calls that run at the same time never have the same slot, and no slot is out of range.
TEST(ParallelFor, SlotsAreNotShared) {
  for (const int threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    const Index slots = parallel_slots();
    std::vector<std::atomic<int>> users(at(slots));
    std::atomic<int> shared = 0, outside = 0, running = 0, most = 0;
    for (int repeat = 0; repeat < 20; ++repeat)
      parallel_for(200, [&](Index, Index slot) {
        if (slot < 0 || slot >= slots) {
          ++outside;
          return;
        }
        if (users[at(slot)].fetch_add(1) != 0) ++shared;
        const int now = ++running;
        int before = most;
        while (before < now && !most.compare_exchange_weak(before, now)) {
        }
        std::this_thread::yield();
        --running;
        users[at(slot)].fetch_sub(1);
      });
    EXPECT_EQ(outside, 0) << threads << " threads";
    EXPECT_EQ(shared, 0) << threads << " threads";
    EXPECT_LE(most, threads);
  }
}

TEST(ThreadLimit, SaysHowManySlots) {
  const Index cores = parallel_slots();
  EXPECT_GE(cores, 1);
  {
    const ThreadLimit five(5);
    EXPECT_EQ(parallel_slots(), 5);
    {
      const ThreadLimit one(1);
      EXPECT_EQ(parallel_slots(), 1);
    }
    EXPECT_EQ(parallel_slots(), 5);
    const ThreadLimit none(0);  // at least one thread there is always
    EXPECT_EQ(parallel_slots(), 1);
  }
  EXPECT_EQ(parallel_slots(), cores);
}

TEST(ThreadLimit, OneThreadIsTheCallersInOrder) {
  const ThreadLimit limit(1);
  std::vector<Index> order;
  parallel_for(100, [&](Index i, Index slot) {
    EXPECT_EQ(slot, 0);
    order.push_back(i);
  });
  ASSERT_EQ(order.size(), 100u);
  for (Index i = 0; i < 100; ++i) EXPECT_EQ(order[at(i)], i);
}

/// As many threads as allowed do come, also more than there are cores: each call waits for the
/// others. The minute is there so that a failure ends.
TEST(ThreadLimit, AsManyThreadsAsAllowedRunAtOnce) {
  for (const int threads : {2, 5}) {
    const ThreadLimit limit(threads);
    std::mutex mutex;
    std::condition_variable changed;
    int arrived = 0;
    std::atomic<bool> all = true;
    parallel_for(threads, [&](Index, Index) {
      std::unique_lock lock(mutex);
      ++arrived;
      changed.notify_all();
      if (!changed.wait_for(lock, std::chrono::minutes(1), [&] { return arrived == threads; }))
        all = false;
    });
    EXPECT_TRUE(all) << threads << " threads";
  }
}

TEST(ParallelFor, ExceptionsReachTheCaller) {
  struct Special : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  for (const int threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    for (const Index bad : {0, 1, 500, 999}) {
      try {
        parallel_for(1000, [&](Index i, Index) {
          if (i == bad) throw Special("number " + std::to_string(i));
        });
        ADD_FAILURE() << "nothing thrown";
      } catch (const Special& e) {
        EXPECT_EQ(e.what(), "number " + std::to_string(bad));
      }
    }
    // All throw: one of them arrives, and afterwards all is well.
    EXPECT_THROW(parallel_for(50, [](Index, Index) { throw Special("each"); }), Special);
    std::atomic<int> calls = 0;
    parallel_for(50, [&](Index, Index) { ++calls; });
    EXPECT_EQ(calls, 50);
  }
}

TEST(ParallelFor, NestedUseEnds) {
  for (const int threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    std::vector<std::atomic<int>> calls(20 * 30);
    parallel_for(20, [&](Index i, Index) {
      parallel_for(30, [&](Index j, Index) { ++calls[at(i * 30 + j)]; });
    });
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }
}

/// A call that waits for a nested loop keeps its slot to itself.
TEST(ParallelFor, NestedUseDoesNotShareOuterSlots) {
  for (const int threads : {2, 5}) {
    const ThreadLimit limit(threads);
    std::vector<std::atomic<int>> users(at(parallel_slots()));
    std::atomic<int> shared = 0;
    parallel_for(100, [&](Index, Index slot) {
      if (users[at(slot)].fetch_add(1) != 0) ++shared;
      std::atomic<int> sum = 0;
      parallel_for(20, [&](Index j, Index) { sum += static_cast<int>(j); });
      if (sum != 190) ++shared;
      users[at(slot)].fetch_sub(1);
    });
    EXPECT_EQ(shared, 0);
  }
}

TEST(ParallelFor, NestedExceptionsReachTheCaller) {
  EXPECT_THROW(parallel_for(10,
                            [](Index i, Index) {
                              parallel_for(10, [i](Index j, Index) {
                                if (i == 3 && j == 7) throw std::runtime_error("inner");
                              });
                            }),
               std::runtime_error);
}

TEST(ParallelFor, CallersInManyThreads) {
  std::vector<std::thread> callers;
  std::atomic<int> calls = 0, outside = 0;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&, t] {
      const ThreadLimit limit(1 + t);
      parallel_for(500, [&](Index, Index slot) {
        ++calls;
        if (slot > t) ++outside;
      });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls, 2000);
  EXPECT_EQ(outside, 0);
}

}  // namespace
}  // namespace hyperatom
