// Manager decides which tasks may run on this process's cores, and on which core. It is a pure state machine, one per
// process. It admits a task only if the analysis proves that every admitted deadline still holds with it.
//
// Policy for a new task, in this order:
// - the first core that passes the analysis, in the order of the allocation strategy;
// - a core that passes after leaving tasks have left;
// - a repacking of all tasks, the largest first, by the same strategy;
// - Refuse, with the reason.
//
// Threads: owned by one thread at a time. No clock, no thread. All memory is allocated in the constructor; decide()
// allocates nothing.
//
// Invariants: on every core that is not lost, the tasks charged to it (running, leaving, arriving) pass the analysis
// together. A task moves, or starts on capacity freed by others, only after that core was idle. Otherwise the mode
// would change within a busy period, and the response-time argument would not hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/commands.h"
#include "orb/sched/facts.h"
#include "orb/sched/task.h"

namespace corelane::sched {

inline constexpr std::size_t max_interference = 64;  // loads per core

struct ManagerOptions {
  std::vector<CoreOptions> cores;  // the cores that this process holds
  std::size_t max_tasks = 1024;
  std::size_t max_tasks_per_core = 256;
  int levels = 48;  // distinct priorities per core; tasks that share one delay each other
  bool repack = true;
  const AdmissionTest* test = default_admission_test();                  // never null; for cores with fixed priorities
  const AllocationStrategy* allocation = default_allocation_strategy();  // never null
  // The code that carries out the commands answers Watch. If it does not, `demote` and `cancel` are refused.
  bool enforces_budgets = true;
  // CoreSchedulers of cores scheduled by priorities charge overruns under `report` to the task that caused them.
  bool charge_overruns = false;
  // The utilization that one remote peer may hold on all cores together; 0: no limit.
  Ppm peer_limit = 0;
  // peer_limit does not apply to this process's user and to root, see is_of_own_user().
  bool spares_own_user = false;
  // The least D - J, which determines the priority, that a task of a remote peer may have.
  Duration peer_urgency{};
  // How many of max_tasks one remote peer may use; 0: all.
  std::size_t peer_tasks = 0;
};

class Manager {
 public:
  explicit Manager(const ManagerOptions& options);
  ~Manager();
  Manager(Manager&&) noexcept;

  // Processes a fact: Arrived, Proposed, Departed, PeerLost, CoreLost, CoreReturned or Vacated. Ignores facts for
  // CoreSchedulers. The commands are valid until the next call: Ceiling, Reprioritize, Dispatch, Postpone, Vacate,
  // Dismiss, Evict, Refuse, Admit, Move. Cost: for a new task, one response-time analysis per core tried, plus one
  // repacking, unless they were prepared. For a Vacated that begins the next phase of a repacking, one analysis for
  // each task of that phase.
  std::span<const Command> decide(const Fact& fact) noexcept;

  // Analyzes a new task in pieces, so that more urgent work can run in between. Call prepare(), then
  // continue_preparing() until it returns true. decide() for the new task then uses the result. Only one task can be
  // prepared at a time. The preparation changes no decision, so any fact may be processed in between. If a fact changes
  // the tables, continue_preparing() starts the analysis again. `evaluations` bounds one piece. One evaluation is a sum
  // over up to 64 tasks of a core, or other work of half a microsecond. 0 only asks whether the prepared result is
  // still valid.
  void prepare(PeerId peer, const Contract& contract) noexcept;
  bool continue_preparing(int evaluations) noexcept;

  // Returns whether the prepared task, whose preparation has ended, needs other tasks to move or waits for tasks that
  // leave.
  bool would_move() const noexcept;

  // Recomputes response bounds that are only upper bounds because tasks left or moved. It works in pieces as above and
  // returns true when all bounds are exact again. Bounds are for reports: no decision depends on them.
  bool refresh_bounds(int evaluations) noexcept;
  bool has_stale_bounds() const noexcept;

  // Sets the capacity of a core. From now on new tasks must leave the sum of admitted and platform load at or below it.
  // No admitted task is evicted. Ignored for a core that this process does not hold.
  void set_capacity(CoreId core, Ppm capacity) noexcept;

  // Sets the load of other processes on the core. It counts as interference above every task of this process and
  // replaces the load set before. More than `max_interference` loads count as one that uses the whole core, so nothing
  // is admitted there.
  void set_interference(CoreId core, std::span<const PlatformLoad> loads) noexcept;

  // Sets whether the core is closed to new tasks from now on, even if they would fit: a task of another process would
  // be late. Tasks that are on the core stay, and plans in progress continue.
  void set_closed(CoreId core, bool closed) noexcept;

  // Sets whether a new task may make other tasks move. The initial value is ManagerOptions::repack. Moves in progress
  // are completed.
  void set_repack(bool allowed) noexcept;

  // Returns a contract that would fit in place of the refused one, without moving other tasks. This takes several
  // hundred analyses per core: call it after the refusal was sent, or at low priority.
  Nearest nearest(const Contract& contract) const noexcept;
  // Does the same in pieces, so that more urgent work can run first. Call begin_nearest(), then continue_nearest()
  // until it answers. `evaluations`, at least 1, bounds one piece as in continue_preparing(). Facts may be processed in
  // between. If they change the tables, the search starts again, and after FeasibleContractSearch::max_restarts
  // restarts it answers that nothing was found. Only one search runs at a time: begin_nearest() or nearest() replaces
  // it.
  void begin_nearest(const Contract& contract) noexcept;
  std::optional<Nearest> continue_nearest(int evaluations) noexcept;

  // For reports. tasks() and cores() allocate, so do not call them on real-time threads.
  std::vector<TaskView> tasks() const;
  std::vector<CoreView> cores() const;
  // Returns nothing if the task or the core is unknown. A leaving task is known until its core was idle.
  std::optional<TaskView> find(TaskId task) const noexcept;
  std::optional<CoreView> find(CoreId core) const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace corelane::sched
