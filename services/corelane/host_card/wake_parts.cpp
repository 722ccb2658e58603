#include "services/corelane/host_card/wake_parts.h"

#include <cstddef>
#include <utility>

namespace corelane::tool {

// Bound: the samples and the gaps, since `first` only grows.
void add_machine_gaps(std::vector<WakeSample>& samples, const std::vector<rt::Gap>& gaps) {
  std::size_t first = 0;  // that may reach into a sample
  for (WakeSample& sample : samples) {
    const Time end = sample.due + sample.late;
    while (first < gaps.size() && gaps[first].begin + gaps[first].length <= sample.due) ++first;
    for (std::size_t i = first; i < gaps.size() && gaps[i].begin < end; ++i) {
      if (gaps[i].cause != rt::GapCause::machine) continue;
      sample.machine += std::min(gaps[i].begin + gaps[i].length, end) - std::max(gaps[i].begin, sample.due);
    }
  }
}

eval::WakeLatency latency_of(eval::WakeLoad load, bool real_time, bool gaps_seen,
                             const std::vector<WakeSample>& samples) {
  std::vector<Duration> late, timer, ready, machine;
  for (const WakeSample& sample : samples) {
    late.push_back(sample.late);
    if (gaps_seen) machine.push_back(sample.machine);
    if (!sample.ready) continue;
    timer.push_back(timer_part(sample));
    ready.push_back(*sample.ready);
  }
  return {.load = load,
          .real_time = real_time,
          .late = eval::summary_of(std::move(late)),
          .timer = eval::summary_of(std::move(timer)),
          .ready = eval::summary_of(std::move(ready)),
          .machine = eval::summary_of(std::move(machine))};
}

}  // namespace corelane::tool
