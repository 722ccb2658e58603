#include "orb/dispatch/leases/cross_process_analysis.h"

#include <algorithm>

#include "orb/sched/response_time.h"

namespace corelane::dispatch {
namespace {

// Returns a task's jitter as interference. A task that suspends itself may run late in one period and early in the
// next: D - C bounds that.
Duration jitter_of(const Contract& c) {
  return c.suspension > Duration::zero() ? std::max(c.jitter, c.deadline - c.budget) : c.jitter;
}

sched::Interference interference_of(const Contract& c) {
  return {.budget = c.budget.count(), .period = c.period.count(), .jitter = jitter_of(c).count()};
}

bool is_task(const Promise& p) { return p.kind == PromiseKind::task; }
bool is_load(const Promise& p) { return p.contract.budget > Duration::zero(); }

// Returns whether the owner's own tasks on that core share levels, so that any of them may delay any other.
bool shares_levels(const Promise& task, std::span<const Promise> all) {
  const auto count = std::count_if(all.begin(), all.end(), [&](const Promise& p) {
    return is_task(p) && p.owner == task.owner && p.core == task.core;
  });
  return task.levels > 0 && count > task.levels;
}

// Returns whether `other` may delay `task`, both on one physical core. Owners order their tasks by D - J on each
// hardware thread; of two equal ones, each may delay the other.
bool runs_above(const Promise& other, const Promise& task, bool shared) {
  if (other.owner != task.owner || other.core != task.core || !is_task(other) || shared) return true;
  return other.contract.deadline - other.contract.jitter <= task.contract.deadline - task.contract.jitter;
}

bool holds(const Contract& c, std::span<const sched::Interference> above, Duration blocking) {
  const sched::Analysed task{.budget = (c.budget + c.suspension).count(),
                             .period = c.period.count(),
                             .jitter = c.jitter.count(),
                             .blocking = blocking.count()};
  const auto response = sched::response_time(task, above, {.stop_above = c.deadline.count()});
  return response.verdict == sched::Response::Verdict::exact && response.value <= c.deadline.count();
}

bool is_on(const CoreLease& lease, const Promise& promise) { return promise.physical_core == lease.physical_core; }

// Returns the utilization, rounded up. It does not overflow, because C, T <= 1 h.
sched::Ppm share_of(const CoreLease& lease, const Promise& promise) {
  if (!is_on(lease, promise) || !is_load(promise)) return 0;
  const sched::Ppm period = promise.contract.period.count();
  return (promise.contract.budget.count() * sched::whole_core + period - 1) / period;
}

}  // namespace

std::vector<sched::PlatformLoad> interference_on(const CoreLease& lease, std::span<const Promise> others) {
  std::vector<sched::PlatformLoad> loads;
  for (const Promise& other : others)
    if (is_on(lease, other))
      loads.push_back({.budget = other.contract.budget,
                       .period = other.contract.period,
                       .jitter = jitter_of(other.contract),
                       .blocking = other.blocking});
  return loads;
}

bool others_hold(const CoreLease& lease, std::span<const Promise> others, std::span<const Promise> ours) {
  Duration blocking{};
  std::vector<sched::Interference> our_load;
  for (const Promise& other : others)
    if (is_on(lease, other)) blocking = std::max(blocking, other.blocking);
  for (const Promise& own : ours) {
    if (!is_on(lease, own)) continue;
    blocking = std::max(blocking, own.blocking);
    if (is_load(own)) our_load.push_back(interference_of(own.contract));
  }
  return std::all_of(others.begin(), others.end(), [&](const Promise& task) {
    if (!is_task(task) || !is_on(lease, task)) return true;
    const bool shared = shares_levels(task, others);
    std::vector<sched::Interference> above = our_load;
    for (const Promise& other : others)
      if (&other != &task && is_on(lease, other) && is_load(other) && runs_above(other, task, shared))
        above.push_back(interference_of(other.contract));
    return holds(task.contract, above, blocking);
  });
}

sched::Ppm promised_on(const CoreLease& lease, std::span<const Promise> promises) {
  sched::Ppm sum = 0;
  for (const Promise& promise : promises) sum += share_of(lease, promise);
  return sum;
}

sched::Ppm platform_on(const CoreLease& lease, std::span<const Promise> promises) {
  sched::Ppm sum = 0;
  for (const Promise& promise : promises)
    if (!is_task(promise)) sum += share_of(lease, promise);
  return sum;
}

Duration longest_deadline_on(const CoreLease& lease, std::span<const Promise> promises) {
  Duration longest{};
  for (const Promise& promise : promises)
    if (is_task(promise) && is_on(lease, promise)) longest = std::max(longest, promise.contract.deadline);
  return longest;
}

}  // namespace corelane::dispatch
