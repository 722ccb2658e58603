// WholeSet decides about tasks on several cores for policies that no Manager has. These are global scheduling (each job
// runs on whatever core is free), C=D splitting (tasks are cut), CustomPolicies, and budgets that include slowdowns by
// other cores (SlowdownSet). Except for SlowdownSet, the cores run nothing but the tasks.
//
// A task with jitter J is analyzed as a task without jitter that has the period T - J, and the deadline D - J from its
// release. That task demands at least as much as the given one. Deadlines are at most the periods.
//
// Threads: owned by one thread at a time. Allocates.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/eval/plan.h"
#include "orb/eval/planning/admitter.h"
#include "orb/eval/planning/custom_policies.h"
#include "orb/sched/admission_test.h"

namespace corelane::eval {

class WholeSet : public Admitter {
 public:
  // Fills in where the task runs, and its bound beside the tasks that are admitted now. `number`: its number among the
  // admitted tasks, from 0.
  virtual void describe(std::size_t number, TaskVerdict& verdict) const = 0;
  virtual std::vector<sched::CoreView> cores() const = 0;
  // Returns why the latest admits() has refused its task.
  const sched::Refusal& refusal() const noexcept { return refusal_; }
  // Returns a text to print after the one of that refusal; "" if there is none.
  const std::string& refusal_note() const noexcept { return refusal_note_; }

 protected:
  // A set that knows a better reason writes it in admits().
  sched::Refusal refusal_{.by_bound = true};
  std::string refusal_note_{};
};

// Returns null if a Manager has the policies of these options, and `custom` and `charged` are null. `server`, `custom`
// and `charged` must outlive the set.
std::unique_ptr<WholeSet> whole_set_for(const dispatch::ExecutiveOptions& server, std::span<const CoreId> cores,
                                        const CustomPolicies* custom = nullptr, const SlowdownTable* charged = nullptr);

// Returns why a WholeSet cannot have these policies, platform load or tasks, and what to change.
std::optional<std::string> fault_of_whole_set(const PlanRequest& request);

// Returns the task without jitter; nothing if it cannot meet its deadline. D <= T.
std::optional<sched::SporadicTask> sporadic_task_of(const Contract& contract) noexcept;

}  // namespace corelane::eval
