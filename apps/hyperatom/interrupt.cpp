#include "apps/hyperatom/interrupt.hpp"

#include <csignal>

namespace hyperatom::cli {
namespace {

volatile std::sig_atomic_t told_to_stop = 0;

}  // namespace

void watch_for_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { told_to_stop = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A file that may not grow any further (ulimit -f) is an error of writing like others.
  std::signal(SIGXFSZ, SIG_IGN);
}

bool interrupted() { return told_to_stop != 0; }

}  // namespace hyperatom::cli
