// Ctrl-C and SIGTERM: work stops at the next safe point and says so with exit code 130. The second
// signal ends the process at once.
#pragma once

namespace hyperatom::cli {

/// Thrown by a command that was told to stop, after it has left everything in order.
struct Interrupted {};

void watch_for_interrupts();
bool interrupted();

}  // namespace hyperatom::cli
