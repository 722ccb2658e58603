// Worst-case response times under earliest deadline first on one core (Spuri 1996; George, Rivierre & Spuri 1996). The
// worst job of a task lies in a special busy period. In it, all other tasks are released at the start and then as often
// as possible. Only some release times a of the job need to be checked. At these the deadline of the job meets the
// deadline of another job, or the number of its own task's jobs changes:
//   w(a) = (floor((a + J_i) / T_i) + 1) C_i + sum over others with D_j <= a + D_i of
//          min(ceil((w + J_j) / T_j), floor((a + D_i - D_j + J_j) / T_j) + 1) C_j
//   R_i  = max over a of max(C_i, w(a) - a)
// Unlike under fixed priorities, the first job need not be the worst. The result counts from the release and is exact
// without jitter.
//
// A task may run ahead of its releases: the rest of a job that overran runs as the next job (EdfTask::ahead). For such
// a task only the deadlines say how many of its jobs have precedence. Busy periods then have no end. The analysis
// checks every a at which the demand up to the deadline can be greater than a.
//
// Other load of the core (EdfLoad) runs above all tasks and adds B + sum of ceil((w + J_j) / T_j) C_j to w(a).
//
// Threads: pure functions. Bound: Limits::iterations for every loop.
#pragma once

#include <cstddef>
#include <span>

#include "orb/sched/analysis/demand.h"

namespace corelane::sched {

// Returns the worst response of tasks[which]. Limits::stop_above works as for fixed priorities: a response above it is
// `late`. The number of candidates grows with the busy period. The result is `undecided` if the iterations are used up
// or the busy period has no end.
Response edf_response_time(std::span<const EdfTask> tasks, std::size_t which, const Limits& limits = {}) noexcept;

// Computes the same in pieces, with other load of the core.
class EdfResponseSearch {
 public:
  // Starts a search. `busy` is the longest busy period of all load, or another upper bound of a; it is less than
  // `endless`. `tasks` and `load` must outlive the search.
  void begin(std::span<const EdfTask> tasks, std::size_t which, const EdfLoad& load, Ticks busy,
             const Limits& limits) noexcept;
  // Works like ResponseSearch::step().
  bool step(int& evaluations) noexcept;
  const Response& response() const noexcept { return response_; }

 private:
  const EdfTask& own() const noexcept { return tasks_[which_]; }
  void begin_candidate(Ticks a) noexcept;
  Ticks interference() const noexcept;
  Ticks next_candidate() const noexcept;
  bool end(Response::Verdict verdict, Ticks value) noexcept;

  std::span<const EdfTask> tasks_{};
  std::size_t which_ = 0;
  EdfLoad load_{};
  Ticks busy_ = 0;
  Limits limits_{};
  Response response_{};
  bool done_ = true;
  Ticks a_ = 0;       // the release time that is checked
  Ticks fixed_ = 0;   // the execution of the task's own jobs, plus B
  Ticks window_ = 0;  // at or below w(a)
  Ticks worst_ = 0;
};

}  // namespace corelane::sched
