// Utilization bounds: cheap sufficient tests. Exact in integers at the edge; where the exact numbers would leave 128
// bits they are rounded against the newcomer (by less than 2^-50), so that a test may refuse at the very edge but never
// admits beyond it. No floating point.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "orb/sched/ticks.h"

namespace corelane::sched {

struct Usage {       // of one task
  Ticks budget = 0;  // C > 0
  Ticks period = 1;  // T > 0
};

// Liu & Layland 1973: rate-monotonic, implicit deadlines, one core: sum U <= n (2^(1/n) - 1), tested as
// (1 + U/n)^n <= 2.
bool liu_layland(std::span<const Usage> tasks) noexcept;

// Bini, Buttazzo & Buttazzo 2001, the hyperbolic bound: the same setting, product of (U_i + 1) <= 2. Admits all that
// liu_layland() does, and more.
bool hyperbolic(std::span<const Usage> tasks) noexcept;

// Goossens, Funk & Baruah 2003: global EDF on m cores, implicit deadlines: sum U <= m - (m - 1) max U.
bool goossens_funk_baruah(std::span<const Usage> tasks, int cores) noexcept;

// Abdelzaher's aperiodic utilization bound for a task that visits several processors: sum over them of
// U (1 - U/2) / (1 - U) <= 1, with U the synthetic utilization of each in parts per million (0 <= U).
bool aperiodic_bound(std::span<const std::int64_t> utilization_ppm) noexcept;

// The axes of the aperiodic bound's middleware (Zhang, Gill & Lu 2008).
enum class When : std::uint8_t { never, per_task, per_job };
struct AperiodicPolicy {
  When admission = When::per_task;  // never is no choice here
  When idle_resetting = When::never;
  When load_balancing = When::never;
};

// Whether the combination makes sense: admission per task reserves for the task's whole life, which resetting at each
// job's end would take back. 15 of the 18 combinations are valid.
bool valid(const AperiodicPolicy& policy) noexcept;

}  // namespace corelane::sched
