// CoreTaskSet holds the tasks that are charged to one core, in priority order, with their levels and analyzed
// responses. It also tests whether they meet their deadlines when one task is added. The test uses response times, or
// the processor demand if the core is scheduled by deadlines.
//
// Threads: value types and pure functions. Nothing allocates after reserve().
//
// The folder orb/sched/admission decides whether a new task fits, and on which core.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/sched/analysis/bounds.h"
#include "orb/sched/analysis/edf_pass.h"
#include "orb/sched/manager.h"
#include "orb/sched/priority.h"
#include "orb/sched/response_time.h"
#include "orb/sched/servers/task_server.h"
#include "orb/sched/share.h"

namespace corelane::sched {

// The values of a contract that the analysis uses, in nanoseconds.
struct Demand {
  struct Section {
    ResourceId resource = no_resource;
    Ticks longest = 0;
  };

  Ticks budget = 0;      // C
  Ticks suspension = 0;  // S
  Ticks period = 0;      // T
  Ticks deadline = 0;    // D, from the nominal release
  Ticks jitter = 0;      // J
  Share share = 0;       // C / T, rounded up
  Rank rank{};
  std::array<Section, max_uses> sections{};
  bool locks = false;     // the task has sections, so it locks resources
  bool enforced = false;  // on a core scheduled by priorities, a job that overruns is demoted
  // On a core scheduled by deadlines, the rest of a job that overruns may run before the release of the next job, with
  // the deadline of that job.
  bool ahead = false;
  // The time that a job may execute at a ceiling after it has used C. A job that is demoted inside a section keeps the
  // ceiling until the end of the section.
  Ticks overshoot = 0;
  // The server that the task has on a core of order `served`. Its budget is 0 if the task can have none.
  Reservation served{};
  bool intensive = false;  // see is_intensive() in orb/base/contract.h

  // Returns the interference on other tasks. A task that suspends itself may run its C late in one period and early in
  // the next. So S (or J + S) as jitter is not enough (Chen et al. 2019, "Many suspensions, many problems", section 3).
  // D - C is enough.
  constexpr Interference as_interference() const noexcept {
    return {budget + overshoot, period, suspension > 0 ? std::max(jitter, deadline - budget) : jitter};
  }
  // Returns the interference that keeps the core from being idle. Suspensions count, too.
  constexpr Interference as_pending() const noexcept { return {budget + overshoot + suspension, period, jitter}; }
  constexpr Analysed as_analysed(Ticks blocking) const noexcept {
    return {budget + suspension, period, jitter, blocking};
  }
};

// Returns the task under earliest deadline first: the deadline is D - J from the release, and a suspension counts as
// execution.
constexpr EdfTask by_deadline(const Demand& d) noexcept {
  return {.budget = d.budget + d.suspension,
          .period = d.period,
          .deadline = d.deadline - d.jitter,
          .jitter = d.jitter,
          .ahead = d.ahead};
}

// Returns the task on a core where each task has its own server. Whatever the task does, it behaves like a task with
// the budget and period of its server.
constexpr EdfTask by_server(const Demand& d) noexcept {
  const Ticks period = d.served.period.count();
  return {.budget = d.served.budget.count(), .period = period, .deadline = period, .jitter = 0, .ahead = false};
}

// Returns the response that the server guarantees, whatever other tasks do. A job ends P after it is ready.
// - If D - J <= T, then P = D - J, and the bound is the deadline.
// - If D - J > T, then P = T. Jitter may let a job arrive before the period of the previous job has ended. If that job
//   used up the budget, this job waits for the end of the period, at most J.
constexpr Ticks bound_by_server(const Demand& d) noexcept {
  return std::min(d.served.period.count() + 2 * d.jitter, d.deadline);
}

// Returns the demand of a sound contract. `charges` is ManagerOptions::charge_overruns.
Demand demand_of(const Contract& contract, std::uint64_t age, bool charges) noexcept;

struct Member {
  std::uint32_t slot = 0;  // index in the Manager's table; candidate_slot during a trial
  Demand demand;
  int level = 0;  // the level of the analysis
  int told = 0;   // the level that the runtime has; 0: not yet on this core
  // The index of the last member that shares its level, or that shared it since the core was idle.
  std::size_t last = 0;
  Ticks response = 0;  // R; after a task has left it is still an upper bound
  Windows windows{};   // the windows of R; empty if they are no valid start
};
inline constexpr std::uint32_t candidate_slot = UINT32_MAX;

// The core on which the tasks run.
struct CoreModel {
  Share capacity = 0;
  Share platform = 0;               // platform load and other processes
  std::vector<Interference> above;  // the same load, as tasks of the highest priority
  Ticks blocking = 0;               // B, added to every task's blocking
  CoreOrder order = CoreOrder::priority;

  // Sets the load of the platform and of other processes. Returns whether it changed. More than max_interference loads
  // count as one that uses the whole core.
  bool set(const PlatformLoad& own, std::span<const PlatformLoad> others) noexcept;
};

struct Verdict {
  bool fits = false;
  bool undecided = false;                // the analysis used up its steps
  std::uint32_t loser = candidate_slot;  // the task whose deadline would be missed
  Ticks response = 0;                    // R of the loser; endless: no bound, the core would be overloaded
  Ticks deadline = 0;                    // D of the loser

  // Returns whether this verdict is closer to fitting: (R - D) / D is less.
  bool closer_than(const Verdict& other) const noexcept;
};

// Limits how much of an analysis is exact. An evaluation is one of ResponseSearch::step(). When the evaluations are
// used up, bounds decide the rest in one pass over the tasks of a core. The bounds refuse more sets, but admit none
// that the exact test refuses (orb/sched/response_time.h, EdfPass::cut_short()).
struct Effort {
  int exact = 8192;           // evaluations; most sets need a few dozen, 255 tasks of one level about 1,600
  bool bounds_first = false;  // if the bounds admit the set, they become its responses
};

class CoreTaskSet {
 public:
  // Allocates room for `count` members and their analysis.
  void reserve(std::size_t count);
  std::size_t capacity() const noexcept { return members_.capacity(); }

  std::span<Member> members() noexcept { return members_; }
  std::span<const Member> members() const noexcept { return members_; }
  Share load() const noexcept { return load_; }
  // Returns the part of the load that belongs to intensive tasks.
  Share intensive_load() const noexcept { return intensive_load_; }
  const Member* find(std::uint32_t slot) const noexcept;
  Member* find(std::uint32_t slot) noexcept;

  void clear() noexcept;
  // Copies the members of `other`, which must fit into this task set's room. Never allocates.
  void copy_from(const CoreTaskSet& other) noexcept;
  // Removes a member. `at_idle`: it is an idle instant of the core, so earlier levels do not matter any more.
  void remove(std::uint32_t slot, bool at_idle) noexcept;

  // Adds the new task if all deadlines hold with it. If they do not, the task set must not be used any more.
  Verdict add(const CoreModel& core, const Member& candidate, const AdmissionTest& test, int levels) noexcept;
  // Does the same in pieces: call begin_add(), then step() until it returns true, then verdict(). `core` must outlive
  // the analysis, and no other member may be called during it. step() makes at most `evaluations` evaluations and
  // subtracts those it made; see ResponseSearch.
  void begin_add(const CoreModel& core, const Member& candidate, const AdmissionTest& test, int levels,
                 const Effort& effort = {}) noexcept;
  bool step(int& evaluations) noexcept;
  const Verdict& verdict() const noexcept { return pass_.verdict; }
  // Returns the number of evaluations of the last analysis.
  int spent() const noexcept { return pass_.spent; }
  // Returns whether some responses are only bounds, and begin_refresh() might make them exact.
  bool has_loose_bounds() const noexcept { return pass_.loose; }

  // Returns how long the core can be without an idle instant while every task keeps its contract. `endless`: no bound
  // is known.
  Ticks longest_busy(const CoreModel& core) noexcept;
  // Does the same in pieces. The task set must not change during the search.
  void begin_longest_busy(const CoreModel& core, BusySearch& search) noexcept;

  // Returns the level of the most urgent task that uses the resource, or 0 if no task uses it.
  int ceiling_of(ResourceId resource) const noexcept;
  // Returns whether another task uses a resource that the task in `slot` uses.
  bool shares_resources(std::uint32_t slot) const noexcept;

  // Recomputes all responses after members have left, so that bounds become exact again. Call step() as after
  // begin_add(). Each response is an upper bound all the time.
  void begin_refresh(const CoreModel& core) noexcept;

 private:
  void begin_pass(const CoreModel& core, std::size_t first, Ticks added, bool cold, const Effort& effort) noexcept;
  bool take_bounds(std::size_t first) noexcept;
  void run_out() noexcept;
  bool step_by_deadline(int& evaluations) noexcept;
  void begin_member() noexcept;
  void end_member() noexcept;
  void search(const Limits& limits) noexcept;
  void end_pass(const Verdict& verdict) noexcept;
  void begin_by_deadline(const CoreModel& core, EdfPass::Goal goal, const Effort& effort) noexcept;
  void end_by_deadline() noexcept;
  Ticks blocking_of(std::size_t index) const noexcept;
  bool servers_fit(const CoreModel& core) const noexcept;
  void decide_by(const AdmissionTest& test, const CoreModel& core, Ticks deadline) noexcept;
  std::span<const Usage> rate_monotonic_tasks(const CoreModel& core) noexcept;
  bool renumber(int levels) noexcept;
  void gather(const CoreModel& core) noexcept;
  void gather_locks() noexcept;
  std::size_t first_user(ResourceId resource) const noexcept;
  void tie() noexcept;
  bool has_ties() const noexcept;
  bool locks() const noexcept;

  std::vector<Member> members_;  // sorted by descending priority
  Share load_ = 0;
  Share intensive_load_ = 0;
  std::vector<Interference> above_;  // scratch: the load of the core, then the members in order
  std::vector<int> levels_;          // scratch
  std::vector<Usage> usages_;        // scratch: see rate_monotonic_tasks()
  std::vector<BoundTerms> terms_;    // scratch: sums over the first entries of above_
  std::vector<Ticks> bounds_;        // scratch
  struct Lock {
    std::size_t user;     // index of the member
    std::size_t ceiling;  // index of the most urgent member that uses the resource
    Ticks longest;
  };
  std::vector<Lock> locks_;  // scratch: all sections of all members

  // The analysis in progress; it has reached members_[index].
  struct Pass {
    const CoreModel* core = nullptr;
    std::size_t index = 0;
    Ticks added = 0;    // budget of the new task
    bool cold = false;  // no earlier result is a valid start
    bool done = true;
    bool refreshing = false;  // all deadlines hold, and exact responses are computed
    bool loose = false;       // some responses are bounds
    int left = 0;             // exact evaluations left
    int spent = 0;            // evaluations made, for exact tests and for bounds
    int owed = 0;             // evaluations for bounds, not yet subtracted
    bool searching = false;   // the response of members_[index] is being computed
    bool explaining = false;  // that member is late: finds out by how much
    // During the search: the index of that member in above_, and the index to which its entry was swapped.
    std::size_t own = 0;
    std::size_t end = 0;
    ResponseSearch response{};
    Verdict verdict{};
  };
  Pass pass_;
  EdfPass by_deadline_;  // the analysis on a core scheduled by deadlines
  EdfPass::Goal goal_ = EdfPass::Goal::deadlines;
};

// Returns the cost of copying a task set, in evaluations.
inline int cost_of_copy(const CoreTaskSet& task_set) noexcept {
  return 1 + static_cast<int>(task_set.members().size()) / 16;
}

}  // namespace corelane::sched
