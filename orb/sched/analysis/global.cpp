#include "orb/sched/analysis/global.h"

#include <algorithm>

namespace corelane::sched {
namespace {

// Returns an upper bound of the time that a task with response R executes in any window: carry-in, whole jobs,
// carry-out.
Ticks workload(const SporadicTask& task, Ticks response, Ticks window) noexcept {
  const Ticks reach = window + response - task.budget;
  const Ticks whole = reach / task.period;
  return whole * task.budget + std::min(task.budget, reach - whole * task.period);
}

}  // namespace

bool global_response_times(std::span<const SporadicTask> tasks, int cores, std::span<Ticks> responses) noexcept {
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    Ticks window = tasks[k].budget;
    for (Ticks next = 0; window <= tasks[k].deadline; window = next) {
      Ticks interference = 0;
      for (std::size_t i = 0; i < k; ++i)
        interference += std::min(workload(tasks[i], responses[i], window), window - tasks[k].budget + 1);
      next = tasks[k].budget + interference / cores;
      if (next == window) break;
    }
    if (window > tasks[k].deadline) return false;
    responses[k] = window;
  }
  return true;
}

}  // namespace corelane::sched
