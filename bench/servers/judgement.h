// Whether the responses of a task stayed within its bound. The bound is about jobs within their budgets on a machine
// that executes what it is told to; so the machine's time is taken out, and jobs are left out that used no more beyond
// their budget than the machine took between their begin and their end, be it from them or from who was above them: for
// jobs whose own demand is within their budget.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/rt/gap_log.h"

namespace servers {

// A job from its client to its end; `release` is later than `sent` where it came early.
struct Run {
  corelane::JobId job;
  corelane::Time sent, release, begin, end;
};

// The jobs that used more than their budget. Threads: any.
class Overruns {
 public:
  void note(corelane::JobId job, corelane::Duration used);
  std::size_t count() const;
  corelane::Duration used_by(corelane::JobId job) const;  // zero: it is none of them

 private:
  struct Overrun {
    corelane::JobId job;
    corelane::Duration used;
  };
  mutable std::mutex mutex_;
  std::vector<Overrun> overruns_;
};

// The time that the machine took from the tasks' core, and from that of the manager, by whose way jobs come.
class MachineTime {
 public:
  MachineTime(const corelane::rt::GapLog& log, corelane::CoreId tasks, corelane::CoreId managers);

  // From the job's response: on the tasks' core, and until it began on the manager's if that stood still when the job
  // was sent. Time in which both did counts once.
  corelane::Duration taken_from(const Run& run) const;
  // While it ran.
  corelane::Duration taken_within(const Run& run) const;
  // The same as taken_from(), with what the kernel kept from the core for ordinary threads' sake, since real-time
  // threads wanted nearly all of it.
  corelane::Duration taken_or_braked(const Run& run) const;

 private:
  bool counts(const corelane::rt::Gap& gap, const Run& run) const;
  corelane::Duration sum_of(const std::vector<corelane::rt::Gap>& gaps, const Run& run) const;

  const corelane::CoreId tasks_;
  std::vector<corelane::rt::Gap> gaps_;         // the machine's, by their begin
  std::vector<corelane::rt::Gap> with_brakes_;  // and the brakes of the tasks' core among them
};

struct Judgement {
  std::size_t jobs = 0;  // judged
  std::size_t left_out = 0;
  corelane::Duration longest{}, attributed{};  // as it was, and the longest without the machine's time
  corelane::Duration unbraked{};               // the longest without that and the kernel's brake
};
Judgement judge(const std::vector<Run>& runs, corelane::Duration budget, const Overruns& overruns,
                const MachineTime& machine);

}  // namespace servers
