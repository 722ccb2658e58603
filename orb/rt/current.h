// corelane::rt::current(): what a servant may ask of the job in which it runs.
//
// Threads: any; the answer is about the calling thread, and a copy: to be used within the call that asked.
#pragma once

#include "orb/base/language.h"

#include <atomic>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::rt {

// Tells a servant that nobody waits for its result any more: its contract says `cancel`, it has used up its budget, and
// its client has got TIMEOUT. Long loops look at it.
class StopToken {
 public:
  explicit StopToken(const std::atomic<bool>* stop = nullptr) noexcept : stop_(stop) {}
  bool stop_requested() const noexcept {
    // PAIR job.stop: acquire here <- release in CorePool::demote().
    return stop_ != nullptr && stop_->load(std::memory_order_acquire);
  }

 private:
  const std::atomic<bool>* stop_;
};

struct Current {
  TaskId task = no_task;  // no_task: not in a task's job (best effort, or no request at all)
  JobId job{};
  CoreId core = no_core;
  Time release{};         // from which the job's deadline counts
  Time deadline = never;  // release + D
  Duration budget{};      // C
  StopToken stop{};

  explicit operator bool() const noexcept { return task != no_task; }
  // Time left to the deadline: negative when it has passed, Duration::max() outside a job.
  Duration slack() const noexcept;
};

Current current() noexcept;

}  // namespace corelane::rt
