// OverrunLog finds out which overruns a stall explains, and which late jobs an overrun explains.
//
// The processor time of a thread goes on while the host has the core. So the servant notes how long its computation was
// stalled. A job that would have kept its budget without the stalls is excused.
//
// A task's guarantee holds while no job that runs before its own job takes more than its budget. If such jobs did, they
// explain a late job as far as they can have delayed it.
//
// Threads: note() on any thread, real-time ones included: it takes no lock and allocates nothing. The other functions
// on any thread that is not real-time.
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

// What is known at the end of the run in addition to the overruns. Borrowed.
struct Circumstances {
  const dispatch::ExecutiveReport& report;
  const sched::PlatformLoad& platform;  // the load that the analysis charged
  const rt::GapLog& gaps;
};

class OverrunLog {
 public:
  // Notes how much time stalls took of the job so far. The entry is kept until `capacity` jobs later.
  void note(const rt::Current& job, Duration stalled) noexcept;
  // A handler for rt::on_overrun(), which calls it soon after the job's end.
  void heard(const rt::TaskEvent& overrun);
  // Returns how many of the task's overruns are explained by stalls.
  std::uint64_t excused(TaskId task) const;
  // Returns how many events heard() received. Events that were lost do not count.
  std::uint64_t told() const;
  // Returns whether jobs that overran explain that the task's job was late. It considers jobs on the same core that ran
  // between the late job's release and its end. They belong to that task, or to a task that runs before it according to
  // `report`.
  //
  // On a core scheduled by priorities it repeats the response time analysis. The excess over budgets, and the time that
  // the machine took meanwhile, count as blocking. This includes further jobs that are released during the longer
  // response. On a core scheduled by deadlines, other tasks delay the job by their excess. The task's own excess delays
  // it by a period for each additional budget that it took. Only the latest `remembered` overruns are known.
  bool explains(const dispatch::TaskReport& task, const dispatch::Miss& late, const Circumstances& known) const;

 private:
  static constexpr std::size_t capacity = 4096;
  static constexpr std::size_t remembered = 1 << 16;
  struct Slot {
    std::atomic<std::uint64_t> job{0};
    std::atomic<std::int64_t> granted{0};  // its budget, in ns
    std::atomic<std::int64_t> allowed{0};  // the budget and what stalls took, in ns
  };
  // Time beyond budgets, of the jobs that ran beside a late job.
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
