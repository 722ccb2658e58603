// Share is the utilization of a core as an integer. Sums and limits are exact for every period that people usually
// write. A whole core is 2^13 * 3^2 * 5^10 * 7 * 11 * 13 units, so that 3/20, 1234/10000 and 1/7 are whole numbers.
// Other shares are rounded up, by less than 2^-49 of a core per task. Rounding never favors a new task.
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
inline constexpr Share most_share = 16 * whole_share;  // the largest share of a task: the sum of 1000 still fits

// Returns C / T, for 0 <= C and 0 < T.
constexpr Share share_of(Ticks budget, Ticks period) noexcept {
  const Wide share = (Wide{budget} * whole_share + period - 1) / period;
  return share > most_share ? most_share : static_cast<Share>(share);
}

constexpr Share share_of_ppm(Ppm ppm) noexcept {
  return std::clamp<Ppm>(ppm, 0, whole_core) * (whole_share / whole_core);
}

constexpr Ppm ppm_of(Share share) noexcept { return ceil_div(share, whole_share / whole_core); }

}  // namespace corelane::sched
