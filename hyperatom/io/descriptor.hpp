// A file descriptor that is closed at its end.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace hyperatom {

/// Above those of the standard streams.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) { reset(fd); }
  ~Descriptor() { reset(-1); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  void reset(int fd) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
    if (fd < 0 || fd > STDERR_FILENO) return;
    fd_ = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
  }

 private:
  int fd_ = -1;
};

}  // namespace hyperatom
