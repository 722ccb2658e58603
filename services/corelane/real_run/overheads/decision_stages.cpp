#include "services/corelane/real_run/overheads/decision_stages.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace corelane::tool {

void StageTimes::add(Time from, Time to) { times_.push_back(std::max(Duration::zero(), to - from)); }

Duration StageTimes::quantile(int percent) const {
  std::vector<Duration> times = times_;
  const std::size_t rank = std::max<std::size_t>((times.size() * static_cast<std::size_t>(percent) + 99) / 100, 1);
  const auto sought = times.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::ranges::nth_element(times, sought);
  return *sought;
}

double StageTimes::mean() const {
  const Duration sum = std::accumulate(times_.begin(), times_.end(), Duration{});
  return std::chrono::duration<double, std::micro>(sum).count() / static_cast<double>(times_.size());
}

void DecisionStages::add(const DecisionStamps& stamps) {
  if (stamps.begun == never) return total.add(stamps.submitted, stamps.ended);  // the manager decided nothing
  queue.add(stamps.submitted, stamps.begun);
  decide.add(stamps.begun, stamps.decided);
  total.add(stamps.begun, stamps.ended);
  if (!stamps.ran) return wake.add(stamps.decided, stamps.ended);
  move.add(stamps.decided, stamps.admitted);
  thread.add(std::max(stamps.decided, stamps.admitted), stamps.placed);
  wake.add(stamps.placed, stamps.ended);
}

}  // namespace corelane::tool
