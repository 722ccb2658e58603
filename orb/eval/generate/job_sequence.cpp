#include "orb/eval/generate/job_sequence.h"

#include <algorithm>

#include "orb/eval/generate/fixed_log.h"
#include "orb/eval/generate/random_source.h"

namespace corelane::eval {
namespace {

constexpr Duration shortest_execution{1};

// Returns a uniform duration from `least` to `most`. A value is too frequent by less than one in 2^20 draws, because
// durations are at most some hours.
Duration uniform_duration(std::uint64_t& state, Duration least, Duration most) noexcept {
  const auto values = static_cast<std::uint64_t>((most - least).count()) + 1;
  return least + Duration{static_cast<std::int64_t>(UnsignedWide{next_small(state)} * values >> 64)};
}

}  // namespace

JobSequence::JobSequence(const Task& task, std::uint64_t seed)
    : task_(&task),
      random_(seed),
      shortest_(std::max(shortest_execution, part_of(task.contract.budget, task.execution.least))),
      longest_(std::max(shortest_execution, part_of(task.contract.budget, task.execution.most))),
      release_(task.offset) {}

TimedJob JobSequence::next() noexcept {
  const TimedJob job{.release = release_, .execution = execution()};
  ++number_;
  release_ += task_->contract.period + gap();
  return job;
}

// Returns the time between two jobs beyond the period.
Duration JobSequence::gap() noexcept {
  const Arrival& arrival = task_->arrival;
  const bool has_gap =
      arrival.kind == ArrivalKind::sporadic || (arrival.kind == ArrivalKind::bursty && number_ % arrival.burst == 0);
  return has_gap ? uniform_duration(random_, Duration::zero(), arrival.gap) : Duration::zero();
}

Duration JobSequence::execution() noexcept {
  const auto& trace = task_->execution.trace;
  if (!trace.empty()) return trace[static_cast<std::size_t>(number_) % trace.size()];
  return shortest_ == longest_ ? longest_ : uniform_duration(random_, shortest_, longest_);
}

std::uint64_t job_seed(const Scenario& scenario, std::int64_t set, std::size_t task) {
  Random random = random_of(static_cast<std::uint64_t>(scenario.seed), static_cast<std::uint64_t>(set), Purpose::jobs);
  std::uint64_t state = random() + task;
  return next_small(state);
}

}  // namespace corelane::eval
