// BlockingDetector detects jobs of a task that wait without declaring it. The elapsed time of a job, minus its
// execution and declared suspensions, is the missing time. During it the thread was either preempted or it waited. The
// kernel counts how long a thread was ready but did not run, so the remainder is a wait.
//
// Asking the kernel costs some microseconds. So the watch asks only about jobs with noticeable missing time. If a
// task's jobs turn out to be merely preempted, it looks at only some of them.
//
// Threads: the task's own.
#pragma once

#include <optional>

#include "orb/base/time.h"
#include "orb/dispatch/clock.h"

namespace corelane::dispatch {

class BlockingDetector {
 public:
  // Shorter waits are ignored: they may be a page fault, or a lock that a thread on another core holds.
  static constexpr Duration shortest = std::chrono::microseconds{200};

  explicit BlockingDetector(const Clock& clock) : clock_(clock) {}

  static constexpr int longest_pause = 64;  // the most jobs that are skipped between two checks
  static constexpr int longest_age = 64;    // the number of jobs after which the kernel's last answer is too old

  // Call at the end of a job. `missing`: how long the job neither executed nor slept as declared. Returns how long it
  // waited undeclared; zero: not noticeably, or it was not checked.
  Duration end(Duration missing) noexcept;
  // Returns whether the last end() asked the kernel.
  bool has_asked() const noexcept { return age_ == 0; }

 private:
  void ask() noexcept;

  const Clock clock_;
  std::optional<Duration> delay_{Duration{}};  // the kernel's last answer
  int age_ = 0;                                // jobs since then
  int left_alone_ = 0;                         // the number of next jobs that are skipped
  int pause_ = 0;
};

}  // namespace corelane::dispatch
