// InotifyQueue receives the events of the files and directories that it watches (inotify).
// Threads: one at a time.
#pragma once

#include <cstdint>

#include "orb/os/fd.h"

namespace corelane::os {

class InotifyQueue {
 public:
  InotifyQueue() = default;  // watches nothing

  // Opens the queue. Returns false with errno. EMFILE: fs.inotify.max_user_instances, or the process's descriptors, are
  // used up.
  bool open() noexcept;
  void close() noexcept { queue_.reset(); }
  // Watches `path` for these kinds of events (IN_CREATE and so on), too. Returns false with errno.
  bool watch(const char* path, std::uint32_t events) const noexcept;

  explicit operator bool() const noexcept { return bool(queue_); }
  // Returns a descriptor that is readable while an event is there; -1: the queue is not open.
  int descriptor() const noexcept { return queue_.get(); }
  // Returns whether the queue is open and holds no event. One system call.
  bool is_empty() const noexcept;
  // Discards the events, and returns all their kinds; 0: there was none. Keeps some if they arrive faster than this
  // function reads them.
  std::uint32_t take() const noexcept;

 private:
  Fd queue_;
};

}  // namespace corelane::os
