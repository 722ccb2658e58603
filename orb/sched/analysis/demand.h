// Demand analysis of earliest deadline first on one core. The demand h(t) is the maximum execution time of jobs whose
// release and deadline both lie in a window of length t:
//   h(t) = sum over tasks with D_i <= t of (floor((t + J_i - D_i) / T_i) + 1) C_i
// All deadlines hold if and only if h(t) <= t for all t (Baruah, Rosier & Howell 1990, with jitter after Spuri 1996).
//
// Quick processor-demand analysis (Zhang & Burns 2009) checks only few values of t. It starts at the last deadline
// before L and goes on to the last deadline before min(t, h(t)). It ends when there is no such deadline or h(t) > t. L
// is the smaller of the longest busy period and sum (T_i + J_i - D_i) U_i / (1 - U).
//
// Other load of the core (EdfLoad) has precedence over all these tasks and adds B + sum of ceil((t + J_j) / T_j) C_j to
// h(t). Reason: take the last instant before a deadline at which neither the load nor a job with an earlier deadline
// was pending. From then until the deadline the core always ran the load or such jobs. This sum never decreases, like
// h(t), so the same search is valid.
//
// Deadlines count from the release that the CoreScheduler grants. Two of them are at least T - J apart, and k + 1 of
// them span at least k T - J.
//
// Threads: pure functions. Bound: Limits::iterations for every loop.
//
// The folder orb/sched/analysis has the schedulability tests: pure functions over task parameters.
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
  Ticks jitter = 0;    // J >= 0, release jitter
  // Jobs may begin before their release, and keep the deadline that belongs to that release.
  bool ahead = false;
};

struct DemandVerdict {
  enum class Kind : std::uint8_t { holds, fails, undecided };  // undecided: the iterations were used up
  Kind kind = Kind::holds;
  // For `fails`: the length of a window that has too much demand, or 0 when the utilization is above one.
  Ticks at = 0;
  Ticks demand = 0;  // h(at)
};

// Other load of the core, which runs before any task that is ordered by deadline.
struct EdfLoad {
  std::span<const Interference> above{};
  Ticks blocking = 0;  // B: once in each busy period
};

// Returns h(t) for t >= 0, or `endless` when it does not fit into Ticks.
Ticks demand(std::span<const EdfTask> tasks, Ticks t) noexcept;

DemandVerdict demand_analysis(std::span<const EdfTask> tasks, const Limits& limits = {}) noexcept;

// Analyzes `tasks` and one more task.
DemandVerdict demand_analysis_with(const EdfTask& candidate, std::span<const EdfTask> tasks,
                                   const Limits& limits = {}) noexcept;

// DemandSearch makes the search over t, in pieces.
class DemandSearch {
 public:
  // Starts a search. `longest` is the longest busy period of all load, or another upper bound of the values t to check;
  // it is less than `endless`. The tasks, the load and `candidate` must outlive the search.
  void begin(std::span<const EdfTask> tasks, const EdfLoad& load, Ticks longest, int iterations,
             const EdfTask* candidate = nullptr) noexcept;
  // Works like ResponseSearch::step().
  bool step(int& evaluations) noexcept;
  const DemandVerdict& verdict() const noexcept { return verdict_; }

 private:
  std::span<const EdfTask> tasks_{};
  EdfLoad load_{};
  const EdfTask* candidate_ = nullptr;
  int iterations_ = 0;
  Ticks t_ = 0;
  bool done_ = true;
  DemandVerdict verdict_{};
};

// Returns the longest time for which the tasks can keep the core busy. Returns `endless` if there is no end, or none
// within `iterations` or up to `limit`.
Ticks longest_busy_period(std::span<const EdfTask> tasks, int iterations = Limits{}.iterations,
                          Ticks limit = endless - 1) noexcept;

}  // namespace corelane::sched
