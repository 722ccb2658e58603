#include "orb/dispatch/manager_options.h"

#include <algorithm>
#include <cstddef>

#include "orb/dispatch/best_effort/best_effort_load.h"

namespace corelane::dispatch {

sched::CoreOrder order_of(const ExecutiveOptions& options, CoreId core) noexcept {
  const auto is_in = [core](const std::vector<CoreId>& cores) {
    return std::find(cores.begin(), cores.end(), core) != cores.end();
  };
  if (options.admission_test->scheduling == sched::Scheduling::deadlines) return sched::CoreOrder::deadline;
  if (is_in(options.served_cores)) return sched::CoreOrder::served;
  return is_in(options.deadline_cores) ? sched::CoreOrder::deadline : sched::CoreOrder::priority;
}

namespace {

sched::Ppm half_of(const std::vector<sched::CoreOptions>& cores) {
  sched::Ppm sum = 0;
  for (const sched::CoreOptions& core : cores) sum += core.capacity;
  return sum / 2;
}

// Returns the number of the last-level cache of a leased core.
int cache_of(const ExecutiveOptions& options, const std::vector<CoreLease>& leases, const CoreLease& lease) {
  if (options.cache_domains == 0) return lease.cache;
  const auto rank =
      std::count_if(leases.begin(), leases.end(), [&](const CoreLease& l) { return l.core < lease.core; });
  return static_cast<int>(static_cast<std::size_t>(rank) * options.cache_domains / leases.size());
}

}  // namespace

sched::ManagerOptions manager_options(const ExecutiveOptions& options, const std::vector<CoreLease>& leases) {
  sched::ManagerOptions result;
  sched::PlatformLoad load = options.platform;
  load.blocking += options.overshoot;  // a release may be late by so much; all tasks of a core share it
  load.blocking += spin_of(options);   // a thread that has nothing to do any more may take so much
  for (const CoreLease& lease : leases)
    result.cores.push_back({.id = lease.core,
                            .capacity = options.capacity,
                            .load = load,
                            .order = order_of(options, lease.core),
                            .cache = cache_of(options, leases, lease)});
  result.max_tasks = options.max_tasks;
  result.levels = task_natives(options).task_levels();
  result.test = options.admission_test;
  result.allocation = options.allocation;
  result.repack = options.repack;
  result.charge_overruns = options.charge_overruns;
  result.spares_own_user = !options.peer_limit;
  result.peer_limit = options.peer_limit.value_or(result.test->promises ? half_of(result.cores) : 0);
  result.peer_urgency = options.peer_urgency;
  result.peer_tasks = peer_tasks_of(options);
  return result;
}

sched::PlatformLoad reader_load(const ExecutiveOptions& options) noexcept {
  sched::PlatformLoad load = options.reader;
  load.jitter = sched::reader_jitter(options.reader_server, {.budget = load.budget, .period = load.period});
  return load;
}

std::vector<sched::PlatformLoad> own_loads(const ExecutiveOptions& options, CoreId core) {
  std::vector<sched::PlatformLoad> loads;
  if (const auto server = best_effort_load(options, core)) loads.push_back(*server);
  if (options.reader.budget > Duration::zero()) loads.push_back(reader_load(options));
  return loads;
}

}  // namespace corelane::dispatch
