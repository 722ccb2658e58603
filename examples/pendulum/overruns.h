// OverrunLog: which overruns a stall explains, and which late jobs an overrun explains. The servant notes how long its
// computation was stalled, since a thread's processor time goes on while the host has the core; a job that would have
// kept its budget without that is excused. What was promised to a task holds while no job that runs before its own
// takes more than its budget; a job beside which some did is explained as far as they can have delayed it.
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
#include "orb/rt/gap_log.h"
#include "orb/rt/rt.h"

namespace corelane::pendulum {

// What is known at the end of the run beside the overruns. Borrowed.
struct Circumstances {
  const dispatch::ExecutiveReport& report;
  const sched::PlatformLoad& platform;  // that the analysis charged
  const rt::GapLog& gaps;
};

class OverrunLog {
 public:
  // What stalls took of the job so far. Kept until `capacity` jobs later.
  void note(const rt::Current& job, Duration stalled) noexcept;
  // A handler for rt::on_overrun(): comes soon after the job's end.
  void heard(const rt::TaskEvent& overrun);
  // Of the task's overruns those that stalls explain.
  std::uint64_t excused(TaskId task) const;
  // How many heard() was told of. Those that the events say were lost are not among them.
  std::uint64_t told() const;
  // Whether jobs that overran explain that the task's was late: jobs on its core that ran between its release and its
  // end, of that task or of one that `report` shows to run before it there, stalls or not. On a core by priorities the
  // response is analysed anew with what they took beyond their budgets, and with what the machine took meanwhile, as
  // blocking: what is pushed out by that lets further jobs in. By deadlines others delay the job by what they took, and
  // itself by a period for each budget that it took more. Knows the latest `remembered` overruns.
  bool explains(const dispatch::TaskReport& task, const dispatch::Miss& late, const Circumstances& known) const;

 private:
  static constexpr std::size_t capacity = 4096;
  static constexpr std::size_t remembered = 1 << 16;
  struct Slot {
    std::atomic<std::uint64_t> job{0};
    std::atomic<std::int64_t> granted{0};  // its budget, in ns
    std::atomic<std::int64_t> allowed{0};  // the budget and what stalls took, in ns
  };
  // Beyond budgets, of those beside a late job.
  struct Excess {
    Duration own{}, others{};
  };
  Excess excess_beside(const dispatch::TaskReport& task, const dispatch::Miss& late, const Circumstances& known) const;
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
