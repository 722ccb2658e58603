#include "orb/sched/analysis/mixed_criticality.h"

#include <cstddef>

namespace corelane::sched {
namespace {

// Returns how much the tasks of low criticality execute within the window of the low mode, in which alone they run.
Ticks low_interference(std::span<const CriticalTask> above, Ticks window) {
  Ticks sum = 0;
  for (const CriticalTask& other : above)
    if (!other.high) sum = add_up(sum, multiply_up(ceil_div(add_up(window, other.jitter), other.period), other.budget));
  return sum;
}

// Since D <= T, a response within the deadline is that of the first window.
Response high_response(const CriticalTask& task, std::span<const CriticalTask> above, Ticks low, const Limits& limits) {
  std::vector<Interference> high;
  for (const CriticalTask& other : above)
    if (other.high) high.push_back({*other.high, other.period, other.jitter});
  const Ticks blocking = add_up(task.blocking, low_interference(above, low - task.jitter));
  if (blocking == endless) return {.verdict = Response::Verdict::late, .value = endless};
  return response_time({.budget = *task.high, .period = task.period, .jitter = task.jitter, .blocking = blocking}, high,
                       limits);
}

}  // namespace

std::vector<CriticalResponse> amc_responses(std::span<const CriticalTask> tasks, int iterations) {
  std::vector<CriticalResponse> responses;
  std::vector<Interference> above;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const CriticalTask& task = tasks[i];
    const Limits limits{.stop_above = task.deadline, .iterations = iterations};
    CriticalResponse response{.low =
                                  response_time({task.budget, task.period, task.jitter, task.blocking}, above, limits)};
    const bool is_known = response.low.verdict == Response::Verdict::exact;
    if (task.high)
      response.high = is_known ? high_response(task, tasks.first(i), response.low.value, limits) : response.low;
    responses.push_back(response);
    above.push_back({task.budget, task.period, task.jitter});
  }
  return responses;
}

}  // namespace corelane::sched
