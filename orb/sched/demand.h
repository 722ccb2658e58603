// Demand analysis of earliest deadline first on one core. The demand h(t) is the execution that jobs need whose release
// and deadline both lie in a window of length t, at most:
//   h(t) = sum over tasks with D_i <= t of (floor((t + J_i - D_i) / T_i) + 1) C_i
// The set holds all deadlines if and only if h(t) <= t everywhere (Baruah, Rosier & Howell 1990, with jitter after
// Spuri 1996). Quick processor-demand analysis (Zhang & Burns 2009) walks only few t: from the last deadline before L
// downwards, to the last deadline before min(t, h(t)), until there is none or h(t) > t. L is the smaller of the longest
// busy period and sum (T_i + J_i - D_i) U_i / (1 - U).
//
// What else the core runs stands above all of them: h(t) then has B + sum of ceil((t + J_j) / T_j) C_j beside it, since
// from the last instant before a deadline at which neither that nor an earlier deadline's job was pending the core was
// never without it. As h(t) it does not fall, so the walk is the same.
//
// Deadlines count from the release that the Lane grants: two of them lie at least T - J apart, k + 1 at least k T - J.
//
// Threads: pure functions. Every loop is bounded by Limits::iterations.
#pragma once

#include <cstdint>
#include <span>

#include "orb/sched/response_time.h"
#include "orb/sched/ticks.h"

namespace corelane::sched {

struct EdfTask {
  Ticks budget = 0;    // C > 0
  Ticks period = 1;    // T > 0
  Ticks deadline = 1;  // D > 0, from the release
  Ticks jitter = 0;    // J >= 0, of its releases
  bool ahead = false;  // its jobs may begin before their release, with the deadlines that they have all the same
};

struct DemandVerdict {
  enum class Kind : std::uint8_t { holds, fails, undecided };  // undecided: the iterations ran out
  Kind kind = Kind::holds;
  Ticks at = 0;      // when it fails: a window too short for its demand; 0 when the core is overloaded for good
  Ticks demand = 0;  // h(at)
};

// What the core runs beside the tasks by deadlines, before any of them.
struct EdfLoad {
  std::span<const Interference> above{};
  Ticks blocking = 0;  // B: of each busy period, once
};

// h(t), t >= 0; `endless` when it does not fit.
Ticks demand(std::span<const EdfTask> tasks, Ticks t) noexcept;

DemandVerdict demand_analysis(std::span<const EdfTask> tasks, const Limits& limits = {}) noexcept;

// The same for `tasks` and one more.
DemandVerdict demand_analysis_with(const EdfTask& newcomer, std::span<const EdfTask> tasks,
                                   const Limits& limits = {}) noexcept;

// The walk alone, in pieces.
class DemandSearch {
 public:
  // `longest`: of a busy period of all of it, or another bound of the t to look at; less than `endless`. What is
  // pointed to outlives the search.
  void begin(std::span<const EdfTask> tasks, const EdfLoad& load, Ticks longest, int iterations,
             const EdfTask* newcomer = nullptr) noexcept;
  // As ResponseSearch::step().
  bool step(int& evaluations) noexcept;
  const DemandVerdict& verdict() const noexcept { return verdict_; }

 private:
  std::span<const EdfTask> tasks_{};
  EdfLoad load_{};
  const EdfTask* newcomer_ = nullptr;
  int iterations_ = 0;
  Ticks t_ = 0;
  bool done_ = true;
  DemandVerdict verdict_{};
};

// The longest time for which the tasks can keep the core busy; `endless` when it has no end, or none within
// `iterations` or up to `limit`.
Ticks longest_busy_period(std::span<const EdfTask> tasks, int iterations = Limits{}.iterations,
                          Ticks limit = endless - 1) noexcept;

}  // namespace corelane::sched
