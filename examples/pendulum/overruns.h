// OverrunLog: which overruns a stall explains, and which late jobs an overrun explains. The servant notes how long its
// computation was stalled, since a thread's processor time goes on while the host has the core; a job that would have
// kept its budget without that is excused. What was promised to a task holds while no job that runs before its own
// takes more than its budget, so whatever is late beside such a job was promised nothing.
//
// Threads: note() any, real-time ones too: no lock, no allocation; all else any others.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
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
  // How many heard() was told of, and those that the events say were lost.
  std::uint64_t told() const;
  // Whether a job that overran may have run while the late one of the task was to: on its core, between its release and
  // its end, and of that task or of one that `report` shows to run before it there. Stalls or not: it took more than
  // the bounds count on. Knows the latest `remembered` overruns.
  bool explains(const dispatch::TaskReport& task, const dispatch::Miss& late,
                const dispatch::ExecutiveReport& report) const;

 private:
  static constexpr std::size_t capacity = 4096;
  static constexpr std::size_t remembered = 1 << 16;
  struct Slot {
    std::atomic<std::uint64_t> job{0};
    std::atomic<std::int64_t> budget{0};   // in ns
    std::atomic<std::int64_t> allowed{0};  // the budget and what stalls took, in ns
  };
  bool is_excused(const rt::TaskEvent& overrun) noexcept;
  Slot& slot_of(JobId job) noexcept { return slots_[job.value % capacity]; }

  std::array<Slot, capacity> slots_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<TaskId, std::uint64_t> excused_;
  std::deque<rt::TaskEvent> latest_;
  std::uint64_t told_ = 0;
};

}  // namespace corelane::pendulum
