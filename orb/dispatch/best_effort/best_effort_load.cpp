#include "orb/dispatch/best_effort/best_effort_load.h"

#include <algorithm>
#include <vector>

namespace corelane::dispatch {
namespace {

sched::PlatformLoad load_of(const BestEffortServerOptions& options) {
  const sched::Reservation& r = options.reservation;
  const bool keeps = options.kind == BestEffortServer::deferrable;
  return {.budget = r.budget, .period = r.period, .jitter = keeps ? r.period - r.budget : Duration::zero()};
}

bool is_in(const std::vector<CoreId>& cores, CoreId core) {
  return std::find(cores.begin(), cores.end(), core) != cores.end();
}

// On cores where the tasks run under SCHED_DEADLINE, no SCHED_FIFO level is above them.
bool is_wanted(const ExecutiveOptions& options, CoreId core) {
  const std::vector<CoreId>& named = options.best_effort_server.cores;
  return !is_in(options.served_cores, core) && (named.empty() || is_in(named, core));
}

}  // namespace

sched::NativeRange task_natives(const ExecutiveOptions& options) noexcept {
  const bool served = options.best_effort_server.kind != BestEffortServer::none;
  return {.lowest = options.lowest_native, .highest = options.highest_native - (served ? 1 : 0)};
}

std::optional<sched::PlatformLoad> best_effort_load(const ExecutiveOptions& options, CoreId core) {
  const BestEffortServerOptions& wanted = options.best_effort_server;
  if (wanted.kind == BestEffortServer::none || !is_wanted(options, core)) return std::nullopt;
  return load_of(wanted);
}

}  // namespace corelane::dispatch
