#include "services/corelane/host_card/wake_parts.h"

#include <utility>

namespace corelane::tool {

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
