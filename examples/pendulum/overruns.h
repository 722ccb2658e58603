// OverrunLog: which overruns a stall explains. The servant notes how long its computation was stalled, since a thread's
// processor time goes on while the host has the core; a job that would have kept its budget without that is excused.
//
// Threads: note() any, real-time ones too: no lock, no allocation; heard() and excused() any others.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "orb/rt/current.h"
#include "orb/rt/rt.h"

namespace corelane::pendulum {

class OverrunLog {
 public:
  // What stalls took of the job so far. Kept until `capacity` jobs later.
  void note(const rt::Current& job, Duration stalled) noexcept;
  // A handler for rt::on_overrun(): comes soon after the job's end.
  void heard(const rt::TaskEvent& overrun);
  // Of the task's overruns those that stalls explain.
  std::uint64_t excused(TaskId task) const;

 private:
  static constexpr std::size_t capacity = 4096;
  struct Slot {
    std::atomic<std::uint64_t> job{0};
    std::atomic<std::int64_t> budget{0};   // in ns
    std::atomic<std::int64_t> allowed{0};  // the budget and what stalls took, in ns
  };
  Slot& slot_of(JobId job) noexcept { return slots_[job.value % capacity]; }

  std::array<Slot, capacity> slots_;
  mutable std::mutex mutex_;
  std::map<TaskId, std::uint64_t> excused_;  // guarded by mutex_
};

}  // namespace corelane::pendulum
