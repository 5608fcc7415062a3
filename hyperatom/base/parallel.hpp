// The only gate to threads (oneTBB behind it).
//
// Results must not depend on the number of threads: f(i) may write only to what belongs to i, and
// sums over i are taken afterwards, in order of i.
#pragma once

#include <functional>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

/// Calls f(i) for i in [0, n), on the threads allowed by the enclosing ThreadLimit (all cores
/// without one). An exception thrown by f is rethrown here. `scratch` slots: f(i, slot) may use the
/// scratch memory number `slot`, 0 <= slot < parallel_slots(), without sharing it with a running f.
void parallel_for(Index n, const std::function<void(Index i, Index slot)>& f);

/// Likewise f(begin, size) for blocks of at most `block` of n things. The blocks don't depend on
/// the number of threads.
void parallel_for_blocks(Index n, Index block,
                         const std::function<void(Index begin, Index size)>& f);

/// How many calls of f may be running at the same time.
Index parallel_slots();

/// While it lives, parallel_for called from the same thread uses at most `threads` (>= 1) threads.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int previous_;
};

}  // namespace hyperatom
