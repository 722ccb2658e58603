// Worst-case response times under earliest deadline first on one core (Spuri 1996; George, Rivierre & Spuri 1996): the
// worst job of a task lies in a busy period in which all others are released at its start and as densely as they may;
// its own release a is one of those at which its deadline meets another's or its own number of jobs changes:
//   w(a) = (floor((a + J_i) / T_i) + 1) C_i + sum over others with D_j <= a + D_i of
//          min(ceil((w + J_j) / T_j), floor((a + D_i - D_j + J_j) / T_j) + 1) C_j
//   R_i  = max over a of max(C_i, w(a) - a)
// Unlike under fixed priorities the worst need not be the first. Exact without jitter, from the release.
//
// Of a task whose jobs run ahead of their release (the rest of a job that overran, as its next one) only the deadlines
// say how many come first; busy periods have no end then, and a is looked at as long as the demand up to its deadline
// can be more than a. With what else the core runs, above all of them, w(a) has B + sum of ceil((w + J_j) / T_j) C_j
// beside it.
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

// The same in pieces, beside what else the core runs.
class EdfResponseSearch {
 public:
  // `busy`: the longest busy period of all of it, or another bound of a; less than `endless`. What is pointed to
  // outlives the search.
  void begin(std::span<const EdfTask> tasks, std::size_t which, const EdfLoad& load, Ticks busy,
             const Limits& limits) noexcept;
  // As ResponseSearch::step().
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
  Ticks a_ = 0;       // the candidate
  Ticks fixed_ = 0;   // its own jobs, and B
  Ticks window_ = 0;  // at or below w(a)
  Ticks worst_ = 0;
};

}  // namespace corelane::sched
