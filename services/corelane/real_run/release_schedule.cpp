#include "services/corelane/real_run/release_schedule.h"

#include <algorithm>

namespace corelane::tool {

std::vector<PlannedJob> planned_jobs(sim::JobSource& source, std::size_t task, Duration length, Duration call_cost) {
  std::vector<PlannedJob> jobs;
  Duration latest{};  // a job that would arrive before its predecessor arrives together with it
  for (auto job = source.next(task); job; job = source.next(task)) {  // bound: the length
    latest = std::max(latest, job->nominal.time_since_epoch() + job->delay);
    if (latest >= length) break;
    jobs.push_back({.release = latest, .demand = std::max(Duration::zero(), job->demand - call_cost)});
  }
  return jobs;
}

}  // namespace corelane::tool
