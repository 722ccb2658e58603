#include "orb/sim/baselines/job_admission_simulator.h"

#include <algorithm>
#include <optional>

namespace corelane::sim {
namespace {

// At an instant, a task has at most two current jobs: one that expires then, and the next one.
std::size_t most_current(std::size_t tasks) { return 2 * tasks + 1; }

}  // namespace

JobAdmissionSimulator::JobAdmissionSimulator(std::size_t processors, sched::SoundAperiodicPolicy policy,
                                             std::vector<StagedTask> tasks)
    : per_task_(policy.axes().admission == sched::When::per_task),
      tasks_(std::move(tasks)),
      utilization_(processors, policy, most_current(tasks_.size())),
      ready_(processors),
      refused_(tasks_.size(), false),
      reports_(tasks_.size()) {
  for (const StagedTask& task : tasks_) next_arrival_.push_back(Time{} + task.offset);
}

void JobAdmissionSimulator::run(Time until) {
  for (Time next = next_event(); next <= until; next = next_event()) {
    advance(next);
    complete_stages();
    note_idle();
    for (std::size_t task = 0; task < tasks_.size(); ++task)
      if (next_arrival_[task] == now_) arrive(task);
  }
  advance(until);
}

Time JobAdmissionSimulator::next_event() const {
  Time next = never;
  for (const Time arrival : next_arrival_) next = std::min(next, arrival);
  for (const auto& ready : ready_)
    if (!ready.empty()) next = std::min(next, now_ + ready.begin()->second.left);
  return next;
}

// Lets the most urgent job of each processor run until then.
void JobAdmissionSimulator::advance(Time to) {
  for (auto& ready : ready_)
    if (!ready.empty()) ready.begin()->second.left -= to - now_;
  now_ = to;
}

// Ends the stages that have executed. Only then do the next stages become ready, so that none of them hides a stage
// that ends. A stage has a budget, so it does not end at the instant at which it becomes ready.
void JobAdmissionSimulator::complete_stages() {
  std::vector<std::pair<std::uint64_t, Job>> ended;
  for (auto& ready : ready_) {
    if (ready.empty() || ready.begin()->second.left > Duration::zero()) continue;
    auto node = ready.extract(ready.begin());
    ended.emplace_back(node.key().second, std::move(node.mapped()));
  }
  for (auto& [number, job] : ended) {
    utilization_.completed(JobId{number});
    if (++job.stage < job.processors.size())
      enter(number, std::move(job));
    else
      end(job);
  }
}

void JobAdmissionSimulator::end(const Job& job) {
  JobAdmissionReport& report = reports_[job.task];
  const Duration response = now_ - job.arrival;
  report.worst = std::max(report.worst, response);
  if (response > tasks_[job.task].deadline) ++report.misses;
}

void JobAdmissionSimulator::note_idle() {
  for (std::size_t processor = 0; processor < ready_.size(); ++processor)
    if (ready_[processor].empty()) utilization_.idle(processor);
}

void JobAdmissionSimulator::arrive(std::size_t index) {
  const StagedTask& task = tasks_[index];
  JobAdmissionReport& report = reports_[index];
  next_arrival_[index] += task.period;
  ++report.arrived;
  if (refused_[index]) return;
  std::vector<sched::Stage> stages;
  for (const TaskStage& stage : task.stages) stages.push_back({.budget = stage.budget, .processors = stage.processors});
  const std::uint64_t number = ++jobs_;
  const auto where = utilization_.arrive(now_, JobId{number}, TaskId{index + 1}, task.deadline, stages);
  if (!where) {
    refused_[index] = per_task_;
    return;
  }
  ++report.admitted;
  enter(number, {.task = index, .arrival = now_, .processors = {where->begin(), where->end()}});
}

// Makes the job ready on the processor of its stage.
void JobAdmissionSimulator::enter(std::uint64_t number, Job job) {
  const StagedTask& task = tasks_[job.task];
  job.left = task.stages[job.stage].budget;
  ready_[job.processors[job.stage]].emplace(Rank{task.deadline, number}, std::move(job));
}

}  // namespace corelane::sim
