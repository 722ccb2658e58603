// Worst-case response times under earliest deadline first on one core (Spuri 1996; George, Rivierre & Spuri 1996): the
// worst job of a task lies in a busy period in which all others are released at its start and as densely as they may;
// its own release a is one of those at which its deadline meets another's or its own number of jobs changes:
//   w(a) = (floor((a + J_i) / T_i) + 1) C_i + sum over others with D_j <= a + D_i of
//          min(ceil((w + J_j) / T_j), floor((a + D_i - D_j + J_j) / T_j) + 1) C_j
//   R_i  = max over a of max(C_i, w(a) - a)
// Unlike under fixed priorities the worst need not be the first. Exact without jitter, from the release.
//
// Threads: pure functions. Every loop is bounded by Limits::iterations.
#pragma once

#include <cstddef>
#include <span>

#include "orb/sched/demand.h"

namespace corelane::sched {

// The worst response of tasks[which]. Limits::stop_above as for fixed priorities: a response above it is `late`. The
// number of candidates grows with the busy period; `undecided` when the iterations ran out, or when there is no end.
Response edf_response_time(std::span<const EdfTask> tasks, std::size_t which, const Limits& limits = {}) noexcept;

}  // namespace corelane::sched
