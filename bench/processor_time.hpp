// Processor time of this thread: what else runs on the machine matters less.
#pragma once

#include <ctime>

namespace hyperatom::bench {

inline double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace hyperatom::bench
