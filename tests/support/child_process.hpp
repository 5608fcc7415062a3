// Work in a child process, for tests that limit or kill a process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace hyperatom::test {

/// Runs f in a child process; its wait status.
template <class Function>
int status_of_child(const Function& f) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(f() ? 0 : 1);
    } catch (...) {
      _exit(2);
    }
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

inline bool succeeded(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

}  // namespace hyperatom::test
