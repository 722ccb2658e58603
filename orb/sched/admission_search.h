// AdmissionSearch: where a newcomer may run: the roomiest core that holds all deadlines with it; else a core that does
// once leaving tasks are gone; else a repacking of everything; else nowhere, and why. In pieces of as many evaluations
// as the caller allows (see ResponseSearch), so that more urgent work goes in between.
//
// The tables are read as they are and not changed; what changes them counts up Placement::epoch(), and what was found
// is then of no use any more: see is_current().
//
// The work of one admission is bounded whatever the periods: so many evaluations of the exact tests for all cores
// together, as many again for a repacking (Repacker), and passes over the tasks of a core beyond.
//
// Threads: as Manager. Nothing allocates after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "orb/sched/placement.h"
#include "orb/sched/refusal.h"
#include "orb/sched/repack.h"

namespace corelane::sched {

class AdmissionSearch {
 public:
  enum class Reach : std::uint8_t {
    cores,    // as they are
    waiting,  // or once leaving tasks are gone
    moving,   // or once others have moved, too
  };
  enum class Found : std::uint8_t { nothing, core, plan };

  explicit AdmissionSearch(const Placement& placement);

  // `self`: its slot, or newcomer_slot while it has none.
  void begin(const Demand& demand, std::uint32_t self, Reach reach) noexcept;
  // Goes on for as many evaluations and counts them off; true when it has ended.
  bool step(int& evaluations) noexcept;
  // Whether the tables are as they were at begin().
  bool is_current() const noexcept { return epoch_ == placement_.epoch(); }

  const Demand& demand() const noexcept { return demand_; }
  Reach reach() const noexcept { return reach_; }

  // The answer.
  Found found() const noexcept { return found_; }
  int core() const noexcept { return core_; }            // of Found::core ...
  Roster& roster() noexcept { return trial_.roster(); }  // ... and what is charged there with the newcomer
  Repacker& plan() noexcept { return repacker_; }        // of Found::plan
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
  Demand demand_;
  std::uint32_t self_ = newcomer_slot;
  Reach reach_ = Reach::cores;
  std::uint64_t epoch_ = 0;
  Stage stage_ = Stage::done;
  Found found_ = Found::nothing;
  Refusal refusal_{};

  // Placing.
  std::vector<int> order_;    // cores that live, the roomiest first
  std::size_t at_ = 0;        // of order_
  bool trying_ = false;       // trial_ is under way
  std::optional<int> bound_;  // to the core of those who share its resources
  int core_ = nowhere;
  int closest_ = nowhere;
  int fits_if_open_ = nowhere;
  bool undecided_ = false;
  std::optional<Verdict> best_;  // of the core that came closest
  int exact_left_ = 0;           // evaluations of all cores together
  Trial trial_;

  Repacker repacker_;
};

}  // namespace corelane::sched
