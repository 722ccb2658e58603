// Judges whether the responses of a task stayed within its bound. The bound is about jobs within their budgets on a
// machine that runs without gaps. So the machine's time is subtracted. Some jobs exceeded their budgets by no more than
// the time that the machine took while they ran, from them or from jobs of higher priority. These jobs are left out,
// because their own demand was within the budget.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/rt/gap_log.h"

namespace servers {

// A job from its sending to its end. `release` is later than `sent` if the job came early.
struct Run {
  corelane::JobId job;
  corelane::Time sent, release, begin, end;
};

// The jobs that used more than their budget. Threads: any.
class Overruns {
 public:
  void note(corelane::JobId job, corelane::Duration used);
  std::size_t count() const;
  corelane::Duration used_by(corelane::JobId job) const;  // zero: the job is not among them

 private:
  struct Overrun {
    corelane::JobId job;
    corelane::Duration used;
  };
  mutable std::mutex mutex_;
  std::vector<Overrun> overruns_;
};

// The time that the machine took from the tasks' core and from the manager's core, through which jobs come.
class MachineTime {
 public:
  MachineTime(const corelane::rt::GapLog& log, corelane::CoreId tasks, corelane::CoreId managers);

  // Returns the time taken from the job's response on the tasks' core. If the manager's core was stalled when the job
  // was sent, that stall counts until the job began. Time in which both cores were stalled counts once.
  corelane::Duration taken_from(const Run& run) const;
  // Returns the time taken while the job ran.
  corelane::Duration taken_within(const Run& run) const;
  // Like taken_from(), and includes the time in which the kernel stopped the core's real-time threads to let ordinary
  // threads run.
  corelane::Duration taken_or_braked(const Run& run) const;

 private:
  bool counts(const corelane::rt::Gap& gap, const Run& run) const;
  corelane::Duration sum_of(const std::vector<corelane::rt::Gap>& gaps, const Run& run) const;

  const corelane::CoreId tasks_;
  std::vector<corelane::rt::Gap> gaps_;         // the machine's gaps, by their begin
  std::vector<corelane::rt::Gap> with_brakes_;  // the same and the tasks' core's brakes
};

struct Judgement {
  std::size_t jobs = 0;  // judged
  std::size_t left_out = 0;
  corelane::Duration longest{}, attributed{};  // longest response as measured, and without the machine's time
  corelane::Duration unbraked{};               // longest without that and without the kernel's brake
};
Judgement judge(const std::vector<Run>& runs, corelane::Duration budget, const Overruns& overruns,
                const MachineTime& machine);

}  // namespace servers
