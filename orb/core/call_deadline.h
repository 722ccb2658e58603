// CallDeadline: calls that this thread begins while one lives end by then, though timeout.request may be later: for who
// calls an object of which he cannot know whether it answers. They nest; the earliest counts.
//
// Threads: each is its thread's own.
#pragma once

#include "orb/base/time.h"

namespace corelane::core {

class CallDeadline {
 public:
  explicit CallDeadline(Time latest) noexcept;
  CallDeadline(const CallDeadline&) = delete;
  CallDeadline& operator=(const CallDeadline&) = delete;
  ~CallDeadline();

  // Of the calling thread; `never` without one.
  static Time current() noexcept;

 private:
  const Time before_;
};

}  // namespace corelane::core
