// SlowdownSet admits tasks with budgets that include what tasks on other cores of their last-level cache may slow them
// down (policy.charge_slowdowns = true). Each core is a server of one core, which tests its tasks with these budgets. A
// new task may lengthen the budgets of tasks on other cores. These cores are tested again. No task moves.
//
// A core runs one task at a time. So each other core of the cache counts with the largest slowdown by one of its tasks,
// as if that task ran all the time. The slowdowns by several cores add up, as in the Simulator: D = 1 + sum of (D_ij -
// 1).
//
// The slowdowns are estimates. The bounds hold only as far as the estimates do.
//
// Threads: owned by one thread at a time. Allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/eval/planning/idle_server.h"
#include "orb/eval/planning/whole_set.h"
#include "orb/eval/slowdown_table.h"

namespace corelane::eval {

class SlowdownSet final : public WholeSet {
 public:
  // `table` and `server` must outlive it.
  SlowdownSet(const SlowdownTable& table, const dispatch::ExecutiveOptions& server, std::span<const CoreId> cores);

  bool admits(const Task& task) override;
  void clear() override;
  void describe(std::size_t number, TaskVerdict& verdict) const override;
  std::vector<sched::CoreView> cores() const override;

 private:
  struct Core {
    CoreId id{};
    int cache = 0;
    std::unique_ptr<IdleServer> server{};  // with the tasks that are placed on the core
  };
  struct Placed {
    Task task{};
    SlowdownTable::Row row{};
    std::size_t core = 0;
    TaskId id = no_task;  // of the task at the core's server
    Duration charged{};   // the budget of the task at the core's server
  };

  std::unique_ptr<IdleServer> new_server(std::size_t core) const;
  std::int64_t factor(const Placed& task, const Placed& other) const;
  std::int64_t slowdown(const Placed& task) const;
  Duration charged_budget(const Placed& task) const;
  std::optional<std::size_t> late_core_with_last();
  std::string note_of_late(std::size_t core) const;
  static TaskId admit(IdleServer& server, const Placed& placed, Duration budget);
  bool admit_all(std::size_t core, IdleServer& server, std::span<const Duration> budgets,
                 std::vector<TaskId>& ids) const;
  std::vector<std::size_t> order_for(const Task& task) const;

  const SlowdownTable& table_;
  const dispatch::ExecutiveOptions& server_;
  std::vector<Core> cores_{};
  std::vector<Placed> placed_{};  // by number
  std::size_t last_core_ = 0;     // of the last placement
};

}  // namespace corelane::eval
