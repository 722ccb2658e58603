// Packing decides where every task would run so that a new task fits. It starts with empty cores, and places the
// largest task first, each by the allocation strategy. It works in pieces, because it costs about one analysis per
// task.
//
// Threads: as Manager. It only reads the tables. They must not change between begin() and the step() that returns true.
// Nothing allocates after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orb/sched/admission/placement.h"
#include "orb/sched/admission/spare_capacities.h"
#include "orb/sched/admission/trial_series.h"

namespace corelane::sched {

// One task of a plan.
struct PlannedTask {
  std::uint32_t slot = candidate_slot;
  int from = nowhere;   // the core on which it runs; nowhere for the new task
  int to = nowhere;     // the core on which the plan places it
  int phase = nowhere;  // the phase in which it moves; nowhere if it does not move

  bool is_candidate() const noexcept { return from == nowhere; }
};

class Packing {
 public:
  explicit Packing(const Placement& placement);

  // Starts a packing with a new task of this demand. `candidate` must outlive the packing.
  void begin(const Demand& candidate) noexcept;
  // Continues for at most `evaluations` evaluations and subtracts those it made. Returns true when the packing has
  // ended.
  bool step(int& evaluations) noexcept;
  // Returns whether all tasks fit. If so, PlannedTask::to is the core of each task.
  bool found() const noexcept { return found_; }

  std::span<PlannedTask> tasks() noexcept { return tasks_; }
  const Demand& demand_of(const PlannedTask& task) const noexcept;

 private:
  enum class Stage : std::uint8_t { packing, matching, done };

  bool is_hopeless() const noexcept;
  bool smaller(const PlannedTask& a, const PlannedTask& b) const noexcept;
  void next_task() noexcept;
  void pack_one(int& evaluations) noexcept;
  int next_core() const noexcept;
  void begin_matching() noexcept;
  void match_one(int& evaluations) noexcept;
  void end(bool found) noexcept;

  const Placement& placement_;
  const Demand* candidate_ = nullptr;
  Stage stage_ = Stage::done;
  bool found_ = false;
  std::vector<PlannedTask> tasks_;  // the first left_ tasks are a heap, the others have a core
  std::size_t left_ = 0;
  std::vector<CoreTaskSet> task_sets_;  // one per core: the tasks packed so far
  std::vector<char> tried_;             // per core: tried for the current task; later: has its bin

  // The state of the current task, tasks_[left_ - 1].
  int last_placed_ = 0;  // the core of the task placed before it
  SpareCapacities spare_;
  std::optional<int> bound_;  // the core of the tasks that use the same resources
  int core_ = nowhere;        // the core on which it is tried
  TrialSeries trials_;        // of all tasks

  std::vector<Share> overlap_;  // bins x cores: the share of a bin that runs on a core now
  std::vector<int> core_of_bin_;
};

}  // namespace corelane::sched
