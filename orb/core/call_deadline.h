// CallDeadline limits the calls that the thread begins while the object lives. They end at `latest`, even if
// timeout.request allows more time. Use it to call an object that may not answer. CallDeadlines nest; the earliest
// counts.
//
// Threads: each object belongs to the thread that made it.
#pragma once

#include <algorithm>

#include "orb/base/time.h"

namespace corelane::core {

class CallDeadline {
 public:
  explicit CallDeadline(Time latest) noexcept : before_(current_) { current_ = std::min(current_, latest); }
  CallDeadline(const CallDeadline&) = delete;
  CallDeadline& operator=(const CallDeadline&) = delete;
  ~CallDeadline() { current_ = before_; }

  // Returns the calling thread's limit; `never` if it has none.
  static Time current() noexcept { return current_; }

 private:
  static inline constinit thread_local Time current_ = never;

  const Time before_;
};

}  // namespace corelane::core
