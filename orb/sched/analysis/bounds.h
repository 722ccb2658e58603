// Utilization bounds: cheap and sufficient schedulability tests, in integers, without floating point. They are exact at
// the edge of the bound. If the exact numbers would need more than 128 bits, they are rounded up by less than 2^-50. A
// test may then refuse a set at the very edge, but it never admits one beyond it.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "orb/sched/admission_test.h"

namespace corelane::sched {

// Tests the bound of Liu & Layland 1973: rate-monotonic priorities, implicit deadlines, one core, sum U <= n (2^(1/n) -
// 1). The test has the form (1 + U/n)^n <= 2.
bool liu_layland(std::span<const Usage> tasks) noexcept;

// Tests the hyperbolic bound of Bini, Buttazzo & Buttazzo 2001 for the same setting: product of (U_i + 1) <= 2. It
// admits every set that liu_layland() admits, and more.
bool hyperbolic(std::span<const Usage> tasks) noexcept;

// Tests the bound of Goossens, Funk & Baruah 2003: global EDF on m cores, sum U <= m - (m - 1) max U. For deadlines
// below the periods, U is the density C / D (Bertogna, Cirinei & Lipari 2005).
bool goossens_funk_baruah(std::span<const SporadicTask> tasks, int cores) noexcept;

// Tests Abdelzaher's aperiodic utilization bound for a task that visits several processors: the sum of U (1 - U/2) / (1
// - U) over these processors is <= 1. U is the synthetic utilization of each processor in parts per million (0 <= U).
bool aperiodic_bound(std::span<const std::int64_t> utilization_ppm) noexcept;

// The choices of the middleware that uses the aperiodic bound (Zhang, Gill & Lu 2008).
enum class When : std::uint8_t { never, per_task, per_job };
struct AperiodicPolicy {
  When admission = When::per_task;  // `never` is not allowed here
  When idle_resetting = When::never;
  When load_balancing = When::never;
};

// Returns whether the combination is valid. Admission per task reserves utilization for the whole life of the task, and
// resetting at the end of each job would take it back. 15 of the 18 combinations are valid.
bool valid(const AperiodicPolicy& policy) noexcept;

}  // namespace corelane::sched
