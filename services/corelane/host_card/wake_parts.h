// Divides how late a thread ran into its causes.
// Threads: pure functions. Allocates.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "orb/base/time.h"
#include "orb/eval/host_card/host_card.h"
#include "orb/rt/gap_log.h"

namespace corelane::tool {

// One wake-up by a timer.
struct WakeSample {
  Time due;                         // of the timer
  Duration late{};                  // until the thread's first instruction
  std::optional<Duration> ready{};  // how long of that the thread was ready; nothing: the kernel does not tell
  Duration machine{};               // how much of [due, due + late) the host or an interrupt had the core
};

// Returns how long the thread was not ready although its timer was due, and the core had no gap. Requires `ready`.
constexpr Duration timer_part(const WakeSample& sample) noexcept {
  return std::max(sample.late - *sample.ready - sample.machine, Duration::zero());
}

// Adds to each sample how much of it the gaps with cause `machine` cover. The gaps are those of one thread on the same
// core. Both lists ascend, and neither samples nor gaps overlap among themselves.
void add_machine_gaps(std::vector<WakeSample>& samples, const std::vector<rt::Gap>& gaps);

// Sums up wake-ups of one kind. The parts have no samples if the kernel does not tell how long a thread is ready.
// `gaps_seen`: whether a thread that looks for gaps ran on the core; otherwise `machine` has no samples, either.
eval::WakeLatency latency_of(eval::WakeLoad load, bool real_time, bool gaps_seen,
                             const std::vector<WakeSample>& samples);

}  // namespace corelane::tool
