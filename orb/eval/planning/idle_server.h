// IdleServer answers requests for admission as a server with the same options does whose tasks never run. The server's
// own Manager decides, on cores that do not exist. Cores are always idle here, so a task that leaves or moves does so
// at once.
//
// Differences from a server: no other process promises anything, and all tasks are the server's own, so no limit for
// peers applies.
//
// Threads: owned by one thread at a time. Allocates.
//
// The folder orb/eval/planning finds out what a server would promise.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/dispatch/budget_charge.h"
#include "orb/dispatch/executive.h"
#include "orb/sched/commands.h"
#include "orb/sched/facts.h"
#include "orb/sched/manager.h"
#include "orb/sched/refusal.h"

namespace corelane::eval {

class IdleServer {
 public:
  IdleServer(const dispatch::ExecutiveOptions& options, std::span<const CoreId> cores);

  // Returns the task, or the refusal that the server's client would get, with the contract that would fit.
  Expected<TaskId, sched::Refusal> admit(const std::string& label, const Contract& contract);
  // Does the same without the search for a contract that would fit, and without exact bounds. Returns no_task if the
  // task is refused.
  TaskId try_admit(const std::string& label, const Contract& contract);
  // Returns why the latest try_admit() has refused its task. It proposes nothing.
  const sched::Refusal& refusal() const noexcept { return answer_.refusal; }
  void leave(TaskId task);
  // Takes the core away. Its tasks move to other cores, or end: then manager() does not find them any more.
  void lose(CoreId core);

  const sched::Manager& manager() const noexcept { return manager_; }
  // Returns what is added to budgets.
  const dispatch::BudgetCharge& charge() const noexcept { return charge_; }
  // Returns the largest bound that the task has had, as a server reports it. The task must be admitted.
  Duration bound_of(TaskId task) const { return records_.at(task.value).bound; }

 private:
  struct Record {
    std::string label;
    Contract contract{};  // as it is charged
    Duration bound{};
  };
  // The answer to a request for admission.
  struct Answer {
    TaskId task = no_task;
    sched::Refusal refusal{};
  };

  Answer ask(const std::string& label, const Contract& charged);
  void tell(const sched::Fact& fact);
  void refresh_bounds();
  void raise_bounds(CoreId core);
  void raise_all_bounds();
  void list_tasks();
  void complete(sched::Refusal& refusal) const;

  void carry_out(const sched::Admit& admit);
  void carry_out(const sched::Refuse& refuse);
  void carry_out(const sched::Vacate& vacate);
  void carry_out(const sched::Move& move);
  void carry_out(const sched::Dismiss& dismiss);
  void carry_out(const sched::Evict& evict);
  template <typename Other>
  void carry_out(const Other&) {}  // for threads and queues, which do not exist here

  const dispatch::BudgetCharge charge_;
  sched::Manager manager_;
  std::map<std::uint64_t, Record> records_;        // by task
  std::map<CoreId, std::vector<TaskId>> by_core_;  // their tasks, unless `moved_`
  bool moved_ = false;                             // tasks have moved since by_core_ was listed
  std::deque<sched::Fact> facts_;                  // not told yet
  std::uint64_t requests_ = 0;
  Record asking_{};  // of the task that asks for admission
  Answer answer_{};
};

}  // namespace corelane::eval
