// Response times of tasks of two criticalities on one core: AMC-rtb (Baruah, Burns & Davis 2011, "Response-Time
// Analysis for Mixed Criticality Systems", section IV.B). A task of high criticality has two budgets: one that its jobs
// normally keep, and a larger one that they never exceed. When a job has used up the first budget and has not ended,
// the core changes to the high mode. Then no job of low criticality is released any more.
//
//   low mode:   R  = J + w,   w  = B + C(LO) + sum over all above of ceil((w + J_j) / T_j) C_j(LO)
//   high mode:  R* = J + w*,  w* = B + C(HI) + sum over high above of ceil((w* + J_j) / T_j) C_j(HI)
//                                            + sum over low above of ceil((w + J_k) / T_k) C_k(LO)
//
// Threads: pure functions. Not for real-time threads (they allocate).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "orb/sched/response_time.h"
#include "orb/sched/ticks.h"

namespace corelane::sched {

struct CriticalTask {
  Ticks budget = 0;             // C(LO) > 0
  std::optional<Ticks> high{};  // C(HI) >= C(LO), of a task of high criticality
  Ticks period = 1;             // T > 0
  Ticks deadline = 1;           // 0 < D <= T
  Ticks jitter = 0;             // J >= 0
  Ticks blocking = 0;           // B >= 0
};

// A response is `late` if it exceeds the deadline.
struct CriticalResponse {
  Response low{};
  std::optional<Response> high{};  // of a task of high criticality
};

// Returns the responses, by task. `tasks` are sorted by descending priority. Bound: `iterations` for each response.
std::vector<CriticalResponse> amc_responses(std::span<const CriticalTask> tasks, int iterations = 100'000);

}  // namespace corelane::sched
