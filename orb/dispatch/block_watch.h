// BlockWatch: whether a task's jobs wait for something without saying so. A job that took longer than it executed, and
// slept as it said, was kept from its core by others, or it waited: the kernel counts how long a thread was ready and
// did not run, and what is left over is a wait.
//
// Asking the kernel costs some microseconds, so it is asked only about jobs that took noticeably longer; and of a task
// whose jobs turn out to have been kept from the core only now and then, since such a job is nothing special.
//
// Threads: the task's own.
#pragma once

#include <optional>

#include "orb/base/time.h"
#include "orb/dispatch/clock.h"

namespace corelane::dispatch {

class BlockWatch {
 public:
  // Shorter waits count as nothing: a page of memory, a lock that another core holds.
  static constexpr Duration shortest = std::chrono::microseconds{200};

  explicit BlockWatch(const Clock& clock) : clock_(clock) {}

  static constexpr int longest_pause = 64;  // jobs between two that are looked at
  static constexpr int longest_age = 64;    // jobs after which what the kernel said before is too old

  // A job ended, and for so long it neither executed nor slept as it said. How long it waited all the same; zero: not
  // noticeably, or it was not looked at.
  Duration end(Duration missing) noexcept;
  // Whether end() asked the kernel just now.
  bool has_asked() const noexcept { return age_ == 0; }

 private:
  void ask() noexcept;

  const Clock clock_;
  std::optional<Duration> delay_{Duration{}};  // the kernel's count when it was asked last
  int age_ = 0;                                // jobs since then
  int left_alone_ = 0;                         // jobs that are not looked at from here on
  int pause_ = 0;
};

}  // namespace corelane::dispatch
