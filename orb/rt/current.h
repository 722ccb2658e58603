// corelane::rt::current() describes the job in which a servant runs.
//
// Threads: any. The result describes the calling thread. It is a copy: use it only within the call that asked for it.
#pragma once

#include "orb/base/language.h"

#include <atomic>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::rt {

// StopToken tells a servant that no client waits for its result any more. This happens if the contract says `cancel`
// and the job has used up its budget; the client has got TIMEOUT. Long loops should check it.
class StopToken {
 public:
  explicit StopToken(const std::atomic<bool>* stop = nullptr) noexcept : stop_(stop) {}
  bool stop_requested() const noexcept {
    // PAIR job.stop: acquire here <- release in CoreJobs::demote().
    return stop_ != nullptr && stop_->load(std::memory_order_acquire);
  }

 private:
  const std::atomic<bool>* stop_;
};

struct Current {
  TaskId task = no_task;  // no_task: not in a task's job (best effort, or no request)
  JobId job{};
  CoreId core = no_core;
  Time release{};         // the job's deadline counts from it
  Time deadline = never;  // release + D
  Duration budget{};      // C
  StopToken stop{};

  explicit operator bool() const noexcept { return task != no_task; }
  // Returns the time left until the deadline: negative after it, Duration::max() outside a job.
  Duration slack() const noexcept;
};

Current current() noexcept;

}  // namespace corelane::rt
