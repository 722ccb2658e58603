// Fd owns a file descriptor.
// Threads: a value type; the destructor of the last owner closes the descriptor.
#pragma once

#include <utility>

namespace corelane::os {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}  // takes ownership; negative means none
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Fd() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }
  void reset(int fd = -1) noexcept;

 private:
  int fd_ = -1;
};

// Wraps the descriptor that a system call returned, or throws std::system_error with errno. `what` names the call in
// the message.
Fd made(int fd, const char* what);

}  // namespace corelane::os
