#include "bench/servers/judgement.h"

#include <algorithm>

#include "orb/rt/stall_watch.h"

namespace servers {

using namespace corelane;

void Overruns::note(JobId job, Duration used) {
  const std::lock_guard lock(mutex_);
  overruns_.push_back({job, used});
}

std::size_t Overruns::count() const {
  const std::lock_guard lock(mutex_);
  return overruns_.size();
}

Duration Overruns::used_by(JobId job) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(overruns_.begin(), overruns_.end(), [&](const Overrun& o) { return o.job == job; });
  return found == overruns_.end() ? Duration::zero() : found->used;
}

MachineTime::MachineTime(const rt::GapLog& log, CoreId tasks, CoreId managers) : tasks_(tasks) {
  std::vector<rt::Gap> all = log.gaps();
  std::ranges::sort(all, {}, &rt::Gap::begin);
  for (const rt::Gap& gap : all) {
    const bool taken = gap.cause == rt::GapCause::machine && (gap.core == tasks || gap.core == managers);
    const bool brake = gap.cause == rt::GapCause::throttled && gap.core == tasks;
    if (taken) gaps_.push_back(gap);
    if (taken || brake) with_brakes_.push_back(gap);
  }
}

// A gap is recorded up to one interval of the watch after it began. For a job that waited for its release, gaps on the
// manager's core do not count.
bool MachineTime::counts(const rt::Gap& gap, const Run& run) const {
  if (gap.core == tasks_) return true;
  return run.release == run.sent && gap.begin <= run.sent + rt::StallWatch::interval;
}

Duration MachineTime::sum_of(const std::vector<rt::Gap>& gaps, const Run& run) const {
  Duration taken{};
  Time reached = run.release;
  for (const rt::Gap& gap : gaps) {
    if (gap.begin >= run.end) break;
    if (!counts(gap, run)) continue;
    const Time end = std::min(gap.begin + gap.length, gap.core == tasks_ ? run.end : run.begin);
    taken += std::max(Duration::zero(), end - std::max(gap.begin, reached));
    reached = std::max(reached, end);
  }
  return taken;
}

Duration MachineTime::taken_from(const Run& run) const { return sum_of(gaps_, run); }

Duration MachineTime::taken_or_braked(const Run& run) const { return sum_of(with_brakes_, run); }

Duration MachineTime::taken_within(const Run& run) const {
  Run alone = run;
  alone.sent = Time{};  // leaves out the manager's core
  alone.release = run.begin;
  return taken_from(alone);
}

Judgement judge(const std::vector<Run>& runs, Duration budget, const Overruns& overruns, const MachineTime& machine) {
  Judgement result;
  for (const Run& run : runs) {
    const Duration used = overruns.used_by(run.job);
    if (used > budget && used - machine.taken_within(run) <= budget) {
      ++result.left_out;
      continue;
    }
    ++result.jobs;
    const Duration response = run.end - run.release;
    result.longest = std::max(result.longest, response);
    result.attributed = std::max(result.attributed, response - machine.taken_from(run));
    result.unbraked = std::max(result.unbraked, response - machine.taken_or_braked(run));
  }
  return result;
}

}  // namespace servers
