// SpinPlacement places tasks on cores if resources may be shared between cores. A task that finds such a resource
// locked spins for it; see orb/sched/analysis/spin_lock.h. A server cannot do that, so this is an analysis. It tries
// the cores in the order of the server's allocation strategy, and moves no task.
//
// Threads: owned by one thread at a time. Allocates.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/executive.h"
#include "orb/eval/task_set.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/analysis/spin_lock.h"
#include "orb/sched/refusal.h"
#include "orb/sched/response_time.h"
#include "orb/sched/task.h"

namespace corelane::eval {

class SpinPlacement {
 public:
  SpinPlacement(const dispatch::ExecutiveOptions& options, std::span<const CoreId> cores);

  // Returns the task's number, counted from 0 over the admitted tasks; or the refusal, which proposes nothing.
  Expected<std::size_t, sched::Refusal> admit(const Task& task);

  CoreId core_of(std::size_t number) const { return cores_[placed_[number].core].id; }
  // Returns the response of each admitted task beside all others, by number. Zero if the server promises nothing.
  std::vector<Duration> bounds() const;
  std::vector<sched::CoreView> cores() const;

 private:
  struct Core {
    CoreId id{};
    std::vector<sched::PlatformLoad> loads;  // at higher priorities than all tasks
    sched::Ticks blocking = 0;
    sched::Share platform = 0;
  };
  struct Placed {
    Task task;
    std::size_t core = 0;
  };
  // Tasks and loads in the order of the analysis.
  struct Ordered {
    std::vector<sched::SpinningTask> spinning;
    std::vector<std::optional<std::size_t>> numbers;  // which placed task each one is; nothing: a load
  };
  // Whether a placement meets all deadlines, and if not, by how much it misses them.
  struct Miss {
    bool fits = true;
    std::size_t loser = 0;  // the number of the task
    sched::Ticks response = 0;
  };

  Ordered ordered() const;
  sched::SpinningTask spinning(const Placed& placed) const;
  sched::Share used(const Ordered& ordered, std::size_t core) const;
  Miss miss() const;
  bool is_closer(const Miss& one, const Miss& other) const;
  std::vector<std::size_t> order_of_cores() const;
  sched::Refusal refusal(const Miss& found, std::size_t core) const;

  const dispatch::ExecutiveOptions& options_;
  std::vector<Core> cores_;
  std::vector<Placed> placed_;
  std::size_t last_core_ = 0;  // of the last placement
};

}  // namespace corelane::eval
