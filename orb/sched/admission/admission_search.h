// AdmissionSearch finds where a new task may run. It works in pieces: each step() makes at most as many evaluations as
// the caller allows (see ResponseSearch), so more urgent work can run in between. The search tries, in this order:
// - the first core, in the order of the allocation strategy, on which all deadlines hold with the new task;
// - a core on which all deadlines hold after tasks that are leaving have left;
// - a repacking of all tasks (see Repacker).
// If nothing fits, refusal() says why.
//
// The search reads the Manager's tables and does not change them. Every change of the tables increments
// Placement::epoch(). After such a change the result is invalid: see is_current().
//
// Bound: there is one budget of evaluations of the exact tests for all cores together, and a second one for a repacking
// (Repacker). When they are used up, only passes over the tasks of a core follow. Periods do not change the bound.
//
// Threads: as Manager. Nothing allocates after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "orb/sched/admission/placement.h"
#include "orb/sched/admission/repack.h"
#include "orb/sched/admission/spare_capacities.h"
#include "orb/sched/admission/trial_series.h"
#include "orb/sched/refusal.h"

namespace corelane::sched {

class AdmissionSearch {
 public:
  enum class Reach : std::uint8_t {
    cores,    // the cores as they are now
    waiting,  // or a core after leaving tasks have left
    moving,   // or a core after other tasks have moved
  };
  enum class Found : std::uint8_t { nothing, core, plan };

  explicit AdmissionSearch(const Placement& placement);

  // Starts a search. `self` is the slot of the task, or candidate_slot if it has none yet.
  void begin(const Demand& demand, std::uint32_t self, Reach reach) noexcept;
  // Continues the search for at most `evaluations` evaluations and subtracts those it made. Returns true when the
  // search has ended.
  bool step(int& evaluations) noexcept;
  // Returns whether the tables are unchanged since begin().
  bool is_current() const noexcept { return epoch_ == placement_.epoch(); }

  const Demand& demand() const noexcept { return demand_; }
  Reach reach() const noexcept { return reach_; }

  // The result, valid after step() has returned true.
  Found found() const noexcept { return found_; }
  int core() const noexcept { return core_; }                      // for Found::core
  CoreTaskSet& task_set() noexcept { return trials_.task_set(); }  // for Found::core: its tasks, the new one included
  Repacker& plan() noexcept { return repacker_; }                  // for Found::plan
  const Refusal& refusal() const noexcept { return refusal_; }

 private:
  enum class Stage : std::uint8_t { placing, bounding, planning, done };

  void place_one(int& evaluations) noexcept;
  void note(const Verdict& verdict) noexcept;
  void bound(int& evaluations) noexcept;
  void end_placing() noexcept;
  void explain() noexcept;
  void end(Found found) noexcept;

  const Placement& placement_;
  SpareCapacities spare_;
  Demand demand_;
  std::uint32_t self_ = candidate_slot;
  Reach reach_ = Reach::cores;
  std::uint64_t epoch_ = 0;
  Stage stage_ = Stage::done;
  Found found_ = Found::nothing;
  Refusal refusal_{};

  // State of the stage `placing`.
  std::vector<int> order_;    // cores that are not lost, in the order of the allocation strategy
  std::size_t at_ = 0;        // index into order_
  std::optional<int> bound_;  // the core of the tasks that use the same resources, if there is one
  int core_ = nowhere;
  int closest_ = nowhere;
  int fits_if_open_ = nowhere;
  bool undecided_ = false;
  std::optional<Verdict> best_;  // of the core that came closest to fitting
  TrialSeries trials_;           // one on each core

  Repacker repacker_;
};

}  // namespace corelane::sched
