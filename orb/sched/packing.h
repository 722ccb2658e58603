// Packing: where everybody would run so that a newcomer fits: worst fit decreasing from empty cores. In pieces, since
// it costs about one analysis per task.
//
// Threads: as Manager. Reads the tables and changes nothing in them; they stay as they are from begin() until step()
// is true. Nothing allocates after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orb/sched/placement.h"

namespace corelane::sched {

// One task of a plan.
struct PlannedTask {
  std::uint32_t slot = newcomer_slot;
  int from = nowhere;   // the core it runs on; nowhere: the newcomer
  int to = nowhere;     // where the plan wants it
  int phase = nowhere;  // in which it goes there; nowhere: it does not

  bool is_newcomer() const noexcept { return from == nowhere; }
};

class Packing {
 public:
  explicit Packing(const Placement& placement);

  // With a newcomer of this demand, which outlives the packing.
  void begin(const Demand& newcomer) noexcept;
  // Goes on for as many evaluations and counts them off; true when it has ended.
  bool step(int& evaluations) noexcept;
  // Whether everybody fits: each task's `to` then says where.
  bool found() const noexcept { return found_; }

  std::span<PlannedTask> tasks() noexcept { return tasks_; }
  const Demand& demand_of(const PlannedTask& task) const noexcept;

 private:
  enum class Stage : std::uint8_t { packing, matching, done };

  bool is_hopeless() const noexcept;
  bool smaller(const PlannedTask& a, const PlannedTask& b) const noexcept;
  void next_task() noexcept;
  void pack_one(int& evaluations) noexcept;
  int emptiest() const noexcept;
  Share room_of(std::size_t core) const noexcept;
  void begin_matching() noexcept;
  void match_one(int& evaluations) noexcept;
  void end(bool found) noexcept;

  const Placement& placement_;
  const Demand* newcomer_ = nullptr;
  Stage stage_ = Stage::done;
  bool found_ = false;
  std::vector<PlannedTask> tasks_;  // the first left_ are a heap, the others have their core
  std::size_t left_ = 0;
  std::vector<Roster> rosters_;  // one per core: what is packed so far
  std::vector<char> tried_;      // per core, for the task that is being packed; later: has its bin

  // Of tasks_[left_ - 1].
  std::optional<int> bound_;  // to the core of those who share its resources
  int core_ = nowhere;        // where it is tried
  Trial trial_;

  int exact_left_ = 0;  // evaluations of the exact tests, for all trials

  std::vector<Share> overlap_;  // bins x cores: what a bin has of those who run on a core now
  std::vector<int> core_of_bin_;
};

}  // namespace corelane::sched
