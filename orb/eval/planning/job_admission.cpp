#include "orb/eval/planning/job_admission.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "orb/eval/planning/whole_set.h"
#include "orb/sched/share.h"
#include "orb/sim/baselines/job_admission_simulator.h"

namespace corelane::eval {
namespace {

constexpr int longest_periods = 20;  // the run has so many of them

// Returns the task as the simulator needs it. Its jobs run on the processor `home`, or with load balancing on any one.
sim::StagedTask staged_task(const Task& task, const sched::SporadicTask& sporadic, std::size_t home,
                            std::size_t processors) {
  sim::TaskStage stage{.budget = task.contract.budget, .processors = {}};
  for (std::size_t i = 0; i < processors; ++i) stage.processors.push_back((home + i) % processors);
  return {.period = task.contract.period,
          .deadline = Duration{sporadic.deadline},
          .offset = task.offset,
          .stages = {std::move(stage)}};
}

Time end_of_run(const std::vector<Task>& tasks) {
  Duration longest{}, offset{};
  for (const Task& task : tasks) {
    longest = std::max(longest, task.contract.period);
    offset = std::max(offset, task.offset);
  }
  return Time{} + offset + longest_periods * longest;
}

void describe(const sim::JobAdmissionReport& report, TaskVerdict& verdict) {
  const auto arrived = static_cast<sched::Ppm>(report.arrived), admitted = static_cast<sched::Ppm>(report.admitted);
  verdict.jobs_admitted = admitted * sched::whole_core / arrived;  // the first job comes before the end of the run
  verdict.admitted = admitted == arrived;
  if (verdict.admitted) verdict.bound = verdict.task.contract.deadline;
}

}  // namespace

void answer_by_jobs(const PlanRequest& request, Plan& plan) {
  const std::size_t processors = request.cores.size();
  std::vector<sim::StagedTask> staged;
  std::vector<std::size_t> numbers;  // of these tasks
  for (std::size_t i = 0; i < request.tasks.size(); ++i) {
    const auto sporadic = sporadic_task_of(request.tasks[i].contract);
    plan.tasks[i].jobs_admitted = 0;
    if (!sporadic) continue;
    staged.push_back(staged_task(request.tasks[i], *sporadic, i % processors, processors));
    numbers.push_back(i);
  }
  sim::JobAdmissionSimulator simulator(processors, *sched::SoundAperiodicPolicy::of(*request.jobs), std::move(staged));
  simulator.run(end_of_run(request.tasks));
  for (std::size_t i = 0; i < numbers.size(); ++i) describe(simulator.report(i), plan.tasks[numbers[i]]);
}

}  // namespace corelane::eval
