// Placement is the Manager's table of tasks and cores, together with the schedulability tests on it. It holds the
// state; the Manager makes the decisions.
//
// Threads: as Manager. Nothing allocates after construction, except where a comment says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orb/sched/admission/core_task_set.h"
#include "orb/sched/admission/trial.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/manager.h"
#include "orb/sched/task.h"

namespace corelane::sched {

inline constexpr int nowhere = -1;

// One admitted (or pending) task.
struct Slot {
  bool used = false;
  // The generation of the task that has the slot now. It is part of the task's id, so no id is used twice.
  std::uint64_t generation = 0;
  PeerId peer{};
  JobId request{};
  bool request_is_job = false;
  Contract contract{};
  Demand demand;
  TaskState state = TaskState::pending;
  int core = nowhere;    // index of the core on which it runs
  int target = nowhere;  // index of the core to which a plan moves it
  int phase = nowhere;   // the phase of the plan in which it moves
};

struct Core {
  CoreOptions options;
  CoreModel model;
  CoreTaskSet task_set;
  bool lost = false;
  bool reserved = false;  // part of a plan: closed to new tasks
  bool closed = false;    // see Manager::set_closed()
  bool changed = false;   // its members or their levels have changed since the last answer
  bool stale = false;     // the responses are only upper bounds, because a task left
  struct Ceiling {
    ResourceId resource;
    int level;
  };
  std::vector<Ceiling> ceilings;  // the ceilings that the runtime has
};

class Placement {
 public:
  explicit Placement(const ManagerOptions& options);

  // The slots that were ever used. Their number is the largest number of tasks that existed at once, including a new
  // task that was being decided.
  std::span<Slot> slots() noexcept { return std::span(slots_).first(touched_); }
  std::span<Core> cores() noexcept { return cores_; }
  std::span<const Slot> slots() const noexcept { return std::span(slots_).first(touched_); }
  std::span<const Core> cores() const noexcept { return cores_; }
  Slot& slot(std::uint32_t index) noexcept { return slots_[index]; }
  Core& core(int index) noexcept { return cores_[static_cast<std::size_t>(index)]; }
  const Core& core(int index) const noexcept { return cores_[static_cast<std::size_t>(index)]; }
  CoreId core_id(int index) const noexcept;
  int index_of(CoreId id) const noexcept;  // nowhere if this process does not hold the core
  const ManagerOptions& options() const noexcept { return options_; }

  // Returns a free slot with its generation incremented, or nothing if all slots are taken.
  std::optional<std::uint32_t> take_slot() noexcept;
  void release(std::uint32_t index) noexcept;
  TaskId id_of(std::uint32_t index) const noexcept;
  std::optional<std::uint32_t> slot_of(TaskId task) const noexcept;
  std::uint64_t next_age() noexcept { return ++last_age_; }
  std::uint64_t last_age() const noexcept { return last_age_; }

  // The epoch counts changes that can affect the result of an analysis. Such changes are those of the tasks that are
  // charged to a core and stay there, of a core's other load, and of the set of cores.
  std::uint64_t epoch() const noexcept { return epoch_; }
  void note_change() noexcept { ++epoch_; }

  // Returns the core of the last placement of a new task, or of a task of a lost core. Before the first placement,
  // returns the first core.
  int last_placed() const noexcept { return last_placed_; }
  // Notes such a placement. The caller also changes the epoch, because the order of the cores may change.
  void note_placed(int core) noexcept { last_placed_ = core; }

  // Starts a trial: whether all deadlines of `task_set` on `core` hold with the given task added.
  void begin(Trial& trial, const CoreTaskSet& task_set, const Core& core, std::uint32_t slot, const Demand& demand,
             const Effort& effort = {}) const noexcept;
  // Returns how many tasks a task set of a core has room for, including a new one.
  std::size_t members() const noexcept { return members_; }

  // Runs such a trial to the end on the tasks that are charged to the core now. If the task fits, charges it.
  Verdict charge(int core, std::uint32_t slot) noexcept;
  // Charges the tasks in `analysed` to the core. This is the task set of a trial that fits: the tasks of the core with
  // one more. Afterwards `analysed` must not be used.
  void charge(int core, CoreTaskSet& analysed) noexcept;
  // Removes a task from a core. `at_idle`: it is an idle instant of the core.
  void discharge(int core, std::uint32_t slot, bool at_idle) noexcept;

  // Returns the core of the tasks that share a resource with these sections, now or after a planned start. Returns
  // nothing if there are no such tasks, and `nowhere` if they are on several cores. All tasks that use a resource must
  // be on one core, because its ceiling is a priority of that core. Ignores `self` and tasks of lost cores.
  std::optional<int> core_of_users(const Demand& demand, std::uint32_t self) const noexcept;

  bool leaves(std::uint32_t slot) const noexcept { return slots_[slot].state == TaskState::leaving; }

 private:
  ManagerOptions options_;
  std::vector<Slot> slots_;  // max_tasks entries
  // The number of slots that were ever used. A new task takes the slot that was released last, or else the next unused
  // one.
  std::size_t touched_ = 0;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Core> cores_;
  std::size_t members_ = 0;
  int last_placed_ = 0;
  Trial trial_;
  std::uint64_t last_age_ = 0;
  std::uint64_t epoch_ = 0;
};

// Returns whether a CoreScheduler has room for the jobs that may be pending under this contract.
bool backlog_fits(const Contract& contract) noexcept;

}  // namespace corelane::sched
