// Roster: the tasks charged to one core, in priority order, with their levels and analysed responses; and the test
// whether they hold their deadlines with one more: by response times, or, on a core by deadlines, by its demand.
//
// Threads: value types and pure functions. Nothing allocates once reserve() has been called.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/sched/bounds.h"
#include "orb/sched/edf_pass.h"
#include "orb/sched/manager.h"
#include "orb/sched/priority.h"
#include "orb/sched/response_time.h"
#include "orb/sched/share.h"
#include "orb/sched/task_server.h"

namespace corelane::sched {

// A contract as the analysis sees it, in nanoseconds.
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
  bool locks = false;     // has sections
  bool enforced = false;  // a job that overruns is demoted, by priorities
  bool ahead = false;     // by deadlines the rest of a job that overruns goes on as the next one, before its release
  Ticks overshoot = 0;    // what a job may execute past C at a ceiling: demoted inside a section, it ends that first
  Reservation served{};   // its server where the platform has one for each task; no budget: there is no such server

  // As it bears on others. A task that suspends itself may run its C late in one period and early in the next, so S (or
  // J + S) as jitter is not enough (Chen et al. 2019, "Many suspensions, many problems", section 3): D - C is.
  constexpr Interference as_interference() const noexcept {
    return {budget + overshoot, period, suspension > 0 ? std::max(jitter, deadline - budget) : jitter};
  }
  // As it keeps its core from being idle: also while it sleeps.
  constexpr Interference as_pending() const noexcept { return {budget + overshoot + suspension, period, jitter}; }
  constexpr Analysed as_analysed(Ticks blocking) const noexcept {
    return {budget + suspension, period, jitter, blocking};
  }
};

// The same under earliest deadline first: D - J from the release, and a suspension counts as execution.
constexpr EdfTask by_deadline(const Demand& d) noexcept {
  return {.budget = d.budget + d.suspension,
          .period = d.period,
          .deadline = d.deadline - d.jitter,
          .jitter = d.jitter,
          .ahead = d.ahead};
}

// On a core whose tasks have servers of their own: whatever it does, it is a task of its server's budget and period.
constexpr EdfTask by_server(const Demand& d) noexcept {
  const Ticks period = d.served.period.count();
  return {.budget = d.served.budget.count(), .period = period, .deadline = period, .jitter = 0, .ahead = false};
}

// What its server promises a task, whatever others do: it ends P after it is ready. One that comes before the period of
// the job before is over, as jitter allows where D - J > T, may find the server's budget used, and waits for its end.
constexpr Ticks bound_by_server(const Demand& d) noexcept {
  return std::min(d.served.period.count() + 2 * d.jitter, d.deadline);
}

// `contract` is sound.
// `charges`: ManagerOptions::charge_overruns.
Demand demand_of(const Contract& contract, std::uint64_t age, bool charges) noexcept;

struct Member {
  std::uint32_t slot = 0;  // of the task in the Manager's table; newcomer_slot while it is only asked about
  Demand demand;
  int level = 0;         // as analysed
  int told = 0;          // as the runtime knows it; 0: not yet on this core
  std::size_t last = 0;  // index of the last one that shares its level, or did so since the core was idle
  Ticks response = 0;    // R; after somebody left still an upper bound
  Windows windows{};     // of R; empty when they are no valid start
};
inline constexpr std::uint32_t newcomer_slot = UINT32_MAX;

// The core under the tasks.
struct CoreModel {
  Share capacity = 0;
  Share platform = 0;               // platform load and other processes
  std::vector<Interference> above;  // the same, as tasks of the highest priority
  Ticks blocking = 0;               // B of every task
  CoreOrder order = CoreOrder::priority;

  // Whether that changed anything. More than max_interference others count as one that uses the core up.
  bool set(const PlatformLoad& own, std::span<const PlatformLoad> others) noexcept;
};

struct Verdict {
  bool fits = false;
  bool undecided = false;               // the analysis ran out of steps
  std::uint32_t loser = newcomer_slot;  // whose deadline would be missed
  Ticks response = 0;                   // R of the loser; endless: no bound, the core would be overloaded
  Ticks deadline = 0;                   // D of the loser

  // Whether this came closer to fitting: less (R - D) / D.
  bool closer_than(const Verdict& other) const noexcept;
};

// How much of an analysis is exact. An evaluation is one of ResponseSearch::step(). What is left when they are used up
// is decided by bounds that take one pass over the tasks of a core: they refuse more, and admit nothing that the exact
// test refuses (orb/sched/response_time.h, EdfPass::cut_short()).
struct Effort {
  int exact = 8192;           // evaluations; ordinary sets need a few dozen, 255 tasks of one level some 1,600
  bool bounds_first = false;  // what the bounds admit is not analysed; its responses are the bounds
};

class Roster {
 public:
  // Room for `count` members and the analysis of them.
  void reserve(std::size_t count);
  std::size_t capacity() const noexcept { return members_.capacity(); }

  std::span<Member> members() noexcept { return members_; }
  std::span<const Member> members() const noexcept { return members_; }
  Share load() const noexcept { return load_; }
  const Member* find(std::uint32_t slot) const noexcept;
  Member* find(std::uint32_t slot) noexcept;

  void clear() noexcept;
  // Never allocates: `other` has no more members than this has room for.
  void copy_from(const Roster& other) noexcept;
  // at_idle: at an idle instant of the core; what levels were before does not matter from there on.
  void remove(std::uint32_t slot, bool at_idle) noexcept;

  // Adds the newcomer if everybody's deadline holds with it; else the roster is in no state to be used.
  Verdict add(const CoreModel& core, const Member& newcomer, AdmissionTest test, int levels) noexcept;
  // The same in pieces: begin_add(), then step() until it is true, then verdict(). `core` outlives that, and nothing
  // else is called meanwhile. step() evaluates as often as `evaluations` says at most, and counts them off; see
  // ResponseSearch.
  void begin_add(const CoreModel& core, const Member& newcomer, AdmissionTest test, int levels,
                 const Effort& effort = {}) noexcept;
  bool step(int& evaluations) noexcept;
  const Verdict& verdict() const noexcept { return pass_.verdict; }
  // Evaluations of the last analysis.
  int spent() const noexcept { return pass_.spent; }
  // Whether some responses are bounds of the last analysis that begin_refresh() might make exact.
  bool has_loose_bounds() const noexcept { return pass_.loose; }

  // How long the core can be without an idle instant while everybody keeps to his contract; `endless`: no bound is
  // known.
  Ticks longest_busy(const CoreModel& core) noexcept;
  // The same in pieces. The roster does not change meanwhile.
  void begin_longest_busy(const CoreModel& core, BusySearch& search) noexcept;

  // The level of the most urgent user of the resource; 0: nobody uses it.
  int ceiling_of(ResourceId resource) const noexcept;
  // Whether somebody beside `slot` uses a resource that it uses.
  bool shares_resources(std::uint32_t slot) const noexcept;

  // Computes everybody's response anew, after members left: bounds become exact again. Then step() as after
  // begin_add(); each response is a bound all the time.
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
  bool within_hyperbolic(const CoreModel& core) noexcept;
  bool renumber(int levels) noexcept;
  void gather(const CoreModel& core) noexcept;
  void gather_locks() noexcept;
  std::size_t first_user(ResourceId resource) const noexcept;
  void tie() noexcept;
  bool has_ties() const noexcept;
  bool locks() const noexcept;

  std::vector<Member> members_;  // by descending priority
  Share load_ = 0;
  std::vector<Interference> above_;  // scratch: the core's own, then the members in order
  std::vector<int> levels_;          // scratch
  std::vector<Usage> usages_;        // scratch
  std::vector<BoundTerms> terms_;    // scratch: sums over the first ones of above_
  std::vector<Ticks> bounds_;        // scratch
  struct Lock {
    std::size_t user;     // index of the member
    std::size_t ceiling;  // index of the most urgent user
    Ticks longest;
  };
  std::vector<Lock> locks_;  // scratch: all sections of all members

  // The analysis under way, of members_[index ..].
  struct Pass {
    const CoreModel* core = nullptr;
    std::size_t index = 0;
    Ticks added = 0;    // budget of the newcomer
    bool cold = false;  // nothing that was found before is of use
    bool done = true;
    bool refreshing = false;  // all are in time, and what is exact of their responses is looked for
    bool loose = false;       // some responses are bounds
    int left = 0;             // exact evaluations
    int spent = 0;            // of them, and of what the bounds took
    int owed = 0;             // evaluations, for the bounds
    bool searching = false;   // for the response of members_[index]
    bool explaining = false;  // which is late: by how much?
    std::size_t own = 0;      // where that member stands in above_ meanwhile, ...
    std::size_t end = 0;      // ... and where it stood
    ResponseSearch response{};
    Verdict verdict{};
  };
  Pass pass_;
  EdfPass by_deadline_;  // the pass on a core by deadlines
  EdfPass::Goal goal_ = EdfPass::Goal::deadlines;
};

// What copying a roster costs, in evaluations.
inline int cost_of_copy(const Roster& roster) noexcept { return 1 + static_cast<int>(roster.members().size()) / 16; }

}  // namespace corelane::sched
