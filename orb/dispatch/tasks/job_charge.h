// JobCharge says which execution time of a task's thread a job is charged. A job's charge begins where that of the job
// before ended: waking up and reading the request are part of the job.
//
// Threads: the task's thread, where a function does not say otherwise.
#pragma once

#include <algorithm>
#include <atomic>
#include <utility>

#include "orb/base/time.h"
#include "orb/dispatch/clock.h"
#include "orb/os/clock.h"

namespace corelane::dispatch {

class JobCharge {
 public:
  explicit JobCharge(const Clock& clock) : clock_(clock) {}

  // Begins the first charge. Call it once, when the thread starts.
  void start() noexcept {
    cpu_clock_.store(os::cpu_clock_of_this_thread(), std::memory_order_relaxed);  // relaxed: see begin()
    begin();
  }
  // Begins a charge: what the thread uses from here on belongs to its next job. Returns the thread's execution time.
  Duration begin() noexcept {
    const Duration used = clock_.cpu_time();
    begun_at_.store(used, std::memory_order_relaxed);  // relaxed: the pool's lock orders it for used_by_job()
    return used;
  }
  // Returns the thread's execution time when the charge began, and begins one if there is none.
  Duration begun() noexcept {
    const Duration at = begun_at_.load(std::memory_order_relaxed);  // relaxed: this thread writes it
    return at == unknown ? begin() : at;
  }
  // Charges nobody for what the thread uses until the next charge begins.
  void stop() noexcept { begun_at_.store(unknown, std::memory_order_relaxed); }  // relaxed: see begin()
  Duration thread_time() const noexcept { return clock_.cpu_time(); }
  // Returns the execution time so far of the job that runs. Any thread. Makes a system call.
  Duration used_by_job() const noexcept {
    // relaxed: see begin(), and the clock is set before the first job
    const Duration before = begun_at_.load(std::memory_order_relaxed);
    const Duration now = clock_.cpu_time_of(cpu_clock_.load(std::memory_order_relaxed));  // relaxed: as above
    return before == unknown || now < before ? Duration::zero() : now - before;
  }

  // Note that the thread has spun for at most so long since its last job, and return what of `used` was not spinning.
  void note_spinning(Duration longest) noexcept { spun_ = longest; }
  Duration without_spinning(Duration used) const noexcept { return used - std::min(used, spun_); }
  void forget_spinning() noexcept { spun_ = {}; }

 private:
  static constexpr Duration unknown{-1};

  const Clock clock_;
  std::atomic<Duration> begun_at_{unknown};  // unknown: no charge has begun
  std::atomic<os::CpuClock> cpu_clock_{};    // the thread's own; set in start()
  Duration spun_{};                          // owner: the task's thread
};

}  // namespace corelane::dispatch
