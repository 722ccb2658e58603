#include "services/corelane/host_card/wake_ups.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "orb/os/clock.h"
#include "orb/os/threads/thread_state.h"
#include "orb/rt/gap_log.h"
#include "services/corelane/host_card/load_threads.h"
#include "services/corelane/host_card/wake_parts.h"

namespace corelane::tool {
namespace {

constexpr std::size_t most_gaps = 1 << 16;
// Between wake-ups. It grows in steps, so that wake-ups meet the kernel's tick at different points.
constexpr Duration least_interval = std::chrono::microseconds{900}, interval_step = std::chrono::microseconds{7};
constexpr int interval_steps = 32;

WakeSample sample_wake_up(Duration interval) {
  const auto ready_before = os::run_delay();
  const Time due = os::now() + interval;
  os::sleep_until(due);
  const Duration late = os::now() - due;
  const auto ready_after = os::run_delay();
  if (!ready_before || !ready_after) return {.due = due, .late = late};
  return {.due = due, .late = late, .ready = std::min(*ready_after - *ready_before, late)};
}

std::vector<WakeSample> wake_often(int count) {
  ::prctl(PR_SET_TIMERSLACK, 1);  // of this thread; no meaning for real-time ones
  std::vector<WakeSample> samples;
  samples.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    samples.push_back(sample_wake_up(least_interval + i % interval_steps * interval_step));
  return samples;
}

}  // namespace

Expected<eval::WakeLatency, NotMeasured> measure_wake_ups(const WakeRequest& request) {
  rt::GapLog gaps(most_gaps);
  std::vector<WakeSample> samples;
  {
    const LoadThreads load(request.load, request.core, gaps);
    if (!load.fault().empty()) return NotMeasured{load.fault()};
    std::vector<PlacedFunction> functions;
    functions.push_back({.core = request.core,
                         .run = [&] { samples = wake_often(request.wake_ups); },
                         .fifo_priority = request.real_time ? measuring_level : 0});
    if (const auto ran = run_together(std::move(functions)); !ran) return ran.error();
  }
  add_machine_gaps(samples, gaps.gaps());
  return latency_of(request.load, request.real_time, request.load != eval::WakeLoad::idle, samples);
}

}  // namespace corelane::tool
