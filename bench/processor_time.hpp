// Clocks. Processor time of this thread is what is measured by: what else runs on the machine
// matters less.
#pragma once

#include <chrono>
#include <ctime>

namespace hyperatom::bench {

inline double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// For work on several threads.
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace hyperatom::bench
