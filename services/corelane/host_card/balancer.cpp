#include "services/corelane/host_card/balancer.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "orb/os/clock.h"
#include "orb/rt/work.h"
#include "services/corelane/host_card/graph_trace.h"

namespace corelane::tool {
namespace {

constexpr Duration period_of_tasks = std::chrono::milliseconds{10};

// Works `budget` in each period until `end`.
void work_periodically(Duration budget, Time end) {
  for (Time release = os::now(); release < end; release += period_of_tasks) {
    os::sleep_until(release);
    if (os::now() >= end) return;  // also in an overload, in which releases fall behind
    rt::work(budget);
  }
}

}  // namespace

Expected<eval::BalancerCost, NotMeasured> measure_balancer(const BalancerRequest& request) {
  const std::string folder = tracefs_folder();
  if (folder.empty())
    return NotMeasured{
        "tracefs is not mounted, or this user may not see it; as root: mount -t tracefs nodev "
        "/sys/kernel/tracing"};
  const auto trace = GraphTrace::start(folder);
  if (!trace) return trace.error();
  const Duration budget = period_of_tasks * request.percent / 100 / request.tasks;
  const Time end = os::now() + request.watched;
  std::vector<PlacedFunction> functions;
  for (int task = 0; task < request.tasks; ++task)
    functions.push_back(
        {.core = request.core, .run = [budget, end] { work_periodically(budget, end); }, .fifo_priority = 0});
  if (const auto ran = run_together(std::move(functions)); !ran) return ran.error();
  return balancer_cost_of(request.tasks, request.percent, request.watched, trace->calls());
}

}  // namespace corelane::tool
