// plan() predicts what a server would answer if the tasks of a set asked it for admission one after the other: which of
// them it admits, on which core, and with which bound. It also finds out how many cores all of them need, and how much
// their budgets may grow. Other policies than a server's are analyzed in the same way: global scheduling, tasks that
// are cut, and resources that tasks on several cores lock. It also bounds chains of tasks, and tasks of high
// criticality.
//
// Threads: pure functions. Allocates. Cost: up to 25 admissions of the whole set for each task, with sensitivity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/executive.h"
#include "orb/eval/run_overheads.h"
#include "orb/eval/slowdown_table.h"
#include "orb/eval/task_set.h"
#include "orb/sched/analysis/synthetic_utilization.h"
#include "orb/sched/refusal.h"
#include "orb/sched/task.h"

namespace corelane::eval {

struct CustomPolicies;  // orb/eval/planning/custom_policies.h

// How far plan() is. It tells after each step.
struct PlanProgress {
  enum class Stage : std::uint8_t {
    admission,  // `done` of `all` tasks have asked
    cores,      // `done` cores were tried, of at most `all`
    growth,     // how far `done` of `all` budgets may grow is known
  };
  Stage stage = Stage::admission;
  std::size_t done = 0, all = 0;
};

struct PlanRequest {
  std::vector<Task> tasks;            // in the order in which they ask
  std::vector<CoreId> cores;          // at least one
  dispatch::ExecutiveOptions server;  // with the policies
  // For the admission test `aub`: decides about single jobs, or reserves for tasks, by one of its policies. Nothing:
  // the test decides about tasks, as in a server.
  std::optional<sched::AperiodicPolicy> jobs{};
  bool sensitivity = true;  // whether to find out how much the budgets may grow
  bool fewest = true;       // whether to find out how many cores all tasks need
  std::vector<Chain> chains{};
  bool spin_locks = false;  // policy.locks = msrp; no task has high criticality then
  // Policies in place of those of `server`, or null. Then nothing is found out about more cores or larger budgets.
  const CustomPolicies* custom = nullptr;
  // policy.charge_slowdowns = true: budgets of the analysis include slowdowns by the tasks on other cores; see
  // SlowdownSet. Nothing: they include those of server.slowdowns, if there are any.
  std::optional<SlowdownTable> charged_slowdowns{};
  // What the analysis charges. Utilizations and bounds of the plan include it; budgets do not.
  RunOverheads overheads{};
  std::function<void(const PlanProgress& progress)> tell{};  // empty: nobody is told
};

// A task of high criticality after a job has exceeded its budget: AMC-rtb.
struct HighMode {
  bool holds = false;               // the deadline is met
  std::optional<Duration> bound{};  // of the response; nothing if it is beyond the deadline
};

// A part of a task that is cut. The parts run one after the other: each is released `offset` after the task's job, and
// ends within `deadline` from then.
struct TaskPart {
  CoreId core = no_core;
  Duration budget{}, offset{}, deadline{};
};

struct TaskVerdict {
  Task task;
  sched::Ppm utilization = 0;
  bool admitted = false;
  // Of an admitted task. The core is no_core if its jobs run on whatever core is free. The bound is the largest one
  // while the other tasks were admitted; zero if nothing is analyzed.
  CoreId core = no_core;
  Duration bound{};
  std::vector<TaskPart> parts{};  // empty if it is not cut
  // With PlanRequest::jobs: the part of its jobs that is admitted. The task is admitted if all of them are.
  std::optional<sched::Ppm> jobs_admitted{};
  Priority priority{};             // on its core
  std::optional<HighMode> high{};  // if it has high criticality
  // The largest budget with which all is in time that is in time now: admitted tasks, chains, and tasks of high
  // criticality. Nothing: it was not looked for.
  std::optional<Duration> largest_budget{};
  // Of an admitted task, if budgets include slowdowns: the budget with which it was analyzed.
  std::optional<Duration> charged_budget{};
  std::int64_t slowdown = unity.millionths;  // the factor in it
  // Of a refused task. The note says more about budgets that slowdowns have lengthened; "": nothing.
  sched::Refusal refusal{};
  std::string refusal_note{};
};

// A chain of tasks. Bounds are from the nominal release of the first task to the end of the last one.
struct ChainVerdict {
  std::string label;
  std::vector<std::size_t> tasks{};  // indices of Plan::tasks
  std::optional<Duration> deadline{};
  // With a release guard: early jobs wait, as in a server. Nothing: a task is refused, or has no bound.
  std::optional<Duration> bound{};
  // If each job were released at once. Nothing: as above, or there is no bound. It is computed only for tasks that a
  // server places on cores by priorities.
  std::optional<Duration> direct{};
  bool holds = false;  // all tasks are admitted, and `bound` is within the deadline
};

struct Plan {
  std::vector<TaskVerdict> tasks;
  std::vector<sched::CoreView> cores;
  bool promises = true;    // false: the server analyzes nothing, and admits every task
  bool is_global = false;  // each job runs on whatever core is free
  std::size_t refused = 0;
  sched::Ppm accepted = sched::whole_core;  // the part of the tasks' utilization that is admitted; 1 without tasks
  std::vector<ChainVerdict> chains{};
  // How many cores all tasks and chains need to be in time; nothing if it was not looked for, or no number is enough.
  std::optional<int> fewest_cores{};
  // The task that fits on no core, not even alone, if there is one; an index of `tasks`.
  std::optional<std::size_t> hopeless{};
  // The factor, in thousandths, by which all budgets may grow together. Nothing: it was not looked for, or no task is
  // admitted.
  std::optional<int> growth{};
  std::vector<std::string> notes{};  // sentences without a full stop that belong beside the figures
};

// Returns why a task is refused, in a sentence. The note, which may be "", belongs behind it.
std::string reason_of(const sched::Refusal& refusal, const std::string& note);

// Returns what of the request does not work together, and what to change; nothing if plan() may be called. It concerns
// policies that work outside servers only.
std::optional<std::string> fault_of(const PlanRequest& request);

Plan plan(const PlanRequest& request);

// Returns whether every task is admitted, every chain is in time, and every task of high criticality, too.
bool holds(const Plan& plan);

// Returns the cores from 0 to count - 1.
std::vector<CoreId> numbered_cores(int count);

}  // namespace corelane::eval
