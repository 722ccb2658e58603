#include "orb/eval/experiment/whole_set_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "orb/eval/experiment/job_account.h"
#include "orb/sched/refusal.h"

namespace corelane::eval {
namespace {

// Gives the simulator the jobs of the admitted tasks. The account counts all tasks, the simulator only these.
class AdmittedJobs final : public sim::JobSource, public sim::JobObserver {
 public:
  AdmittedJobs(JobAccount& account, std::vector<std::size_t> tasks) : account_(account), tasks_(std::move(tasks)) {}

  std::optional<sim::JobRelease> next(std::size_t task) override { return account_.next(tasks_[task]); }
  void finished(const sim::FinishedJob& job) override {
    sim::FinishedJob told = job;
    told.task = tasks_[job.task];
    account_.finished(told);
  }
  void executed(const sim::ExecutedSlice& slice) override {
    sim::ExecutedSlice told = slice;
    told.task = tasks_[slice.task];
    account_.executed(told);
  }

 private:
  JobAccount& account_;
  std::vector<std::size_t> tasks_;
};

// Fills in who is admitted. Returns the verdicts about the admitted tasks, and their indices.
std::pair<std::vector<TaskVerdict>, std::vector<std::size_t>> admit_all(const RunRequest& request, WholeSet& set,
                                                                        RunOutcome& outcome) {
  std::vector<TaskVerdict> verdicts;
  std::vector<std::size_t> admitted;
  for (std::size_t i = 0; i < request.tasks.size(); ++i) {
    outcome.tasks[i].admitted = set.admits(request.tasks[i]);
    if (outcome.tasks[i].admitted)
      admitted.push_back(i);
    else
      outcome.tasks[i].refusal = sched::text_of(set.refusal());
  }
  for (std::size_t number = 0; number < admitted.size(); ++number) {
    TaskVerdict& verdict = verdicts.emplace_back(TaskVerdict{.task = request.tasks[admitted[number]]});
    set.describe(number, verdict);
    outcome.tasks[admitted[number]].core = verdict.core;
    outcome.tasks[admitted[number]].bound = verdict.bound;
  }
  return {std::move(verdicts), std::move(admitted)};
}

// Returns the number that the simulator gives to a core.
CoreId simulated(CoreId core, const std::vector<CoreId>& cores) {
  return CoreId{static_cast<std::int16_t>(std::ranges::find(cores, core) - cores.begin())};
}

sim::MulticoreTask simulated_task(const TaskVerdict& verdict, const std::vector<CoreId>& cores) {
  sim::MulticoreTask task{.deadline = verdict.task.contract.deadline};
  if (verdict.core != no_core) task.core = simulated(verdict.core, cores);
  for (const TaskPart& part : verdict.parts)
    task.parts.push_back(
        {.core = simulated(part.core, cores), .budget = part.budget, .offset = part.offset, .deadline = part.deadline});
  return task;
}

// Gives the tasks distinct priorities, in the order that the analysis assumes: D - J, then arrival.
void prioritize(std::vector<sim::MulticoreTask>& tasks, const std::vector<TaskVerdict>& verdicts) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tasks.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(
      order, {}, [&](std::size_t i) { return verdicts[i].task.contract.deadline - verdicts[i].task.contract.jitter; });
  for (std::size_t i = 0; i < order.size(); ++i)
    tasks[order[i]].priority = Priority{static_cast<std::int32_t>(order.size() - i)};
}

}  // namespace

bool run_whole_set(const RunRequest& request, WholeSet& set, sim::JobObserver* observer,
                   const std::function<bool()>& is_to_stop, RunOutcome& outcome) {
  const sched::Scheduling scheduling = request.server.admission_test->scheduling;
  const bool is_by_deadline =
      scheduling == sched::Scheduling::deadlines || scheduling == sched::Scheduling::global_deadlines;
  auto [verdicts, admitted] = admit_all(request, set, outcome);
  std::vector<sim::MulticoreTask> tasks;
  for (const TaskVerdict& verdict : verdicts) tasks.push_back(simulated_task(verdict, request.cores));
  prioritize(tasks, verdicts);
  const auto cores = static_cast<std::int32_t>(request.cores.size());
  const sim::MulticoreOptions options{.cores = cores,
                                      .cluster = sched::is_global(scheduling) ? cores : 1,
                                      .order = is_by_deadline ? sim::Order::deadline : sim::Order::priority,
                                      .overheads = overheads_in(request.dispatcher->mode, request.overheads).costs,
                                      .seed = request.seed};
  JobAccount account(request, {}, observer);
  account.rename_cores();
  AdmittedJobs jobs(account, std::move(admitted));
  sim::MulticoreSimulator simulator(options, tasks, jobs, &jobs);
  simulator.stop_when(is_to_stop);
  simulator.run(Time{request.length});
  outcome.trace_hash = simulator.trace_hash();
  account.close(outcome);
  return !simulator.stopped();
}

}  // namespace corelane::eval
