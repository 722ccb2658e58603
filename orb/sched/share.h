// Share: utilization of a core in integers, so that sums and limits are exact for every period that people write: a
// whole core is 2^13 * 3^2 * 5^10 * 7 * 11 * 13 units, of which 3/20, 1234/10000 and 1/7 are whole numbers. What does
// not divide is rounded up, by less than 2^-49 of a core per task: against the newcomer, never for it.
//
// Threads: pure functions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "orb/sched/task.h"
#include "orb/sched/ticks.h"

namespace corelane::sched {

using Share = std::int64_t;
inline constexpr Share whole_share = 720'720'000'000'000;
inline constexpr Share most_share = 16 * whole_share;  // a task asks for at most so much: 1000 of them still add up

// C / T, 0 <= C, 0 < T.
constexpr Share share_of(Ticks budget, Ticks period) noexcept {
  const Wide share = (Wide{budget} * whole_share + period - 1) / period;
  return share > most_share ? most_share : static_cast<Share>(share);
}

constexpr Share share_of_ppm(Ppm ppm) noexcept {
  return std::clamp<Ppm>(ppm, 0, whole_core) * (whole_share / whole_core);
}

constexpr Ppm ppm_of(Share share) noexcept { return ceil_div(share, whole_share / whole_core); }

}  // namespace corelane::sched
