#include "orb/eval/planning/split_set.h"

#include <algorithm>
#include <utility>

#include "orb/sched/analysis/edf_response.h"

namespace corelane::eval {
namespace {

using Kind = sched::DemandVerdict::Kind;

constexpr int response_steps = 20'000;  // for one bound; beyond that the deadline is the bound

}  // namespace

SplitSet::SplitSet(std::span<const CoreId> cores) {
  for (const CoreId core : cores) cores_.push_back({.id = core});
}

// Returns where the task runs: on one core if it fits, else in parts on several. Empty: nowhere.
std::vector<sched::SplitPart> SplitSet::parts_of(const sched::EdfTask& task) const {
  for (std::size_t core = 0; core < cores_.size(); ++core)
    if (sched::demand_analysis_with(task, cores_[core].tasks).kind == Kind::holds)
      return {{.core = core, .offset = 0, .part = task}};
  std::vector<std::span<const sched::EdfTask>> tasks;
  for (const Core& core : cores_) tasks.emplace_back(core.tasks);
  std::vector<sched::SplitPart> parts(cores_.size());
  const sched::Split result = sched::split(tasks, task, parts);
  parts.resize(result.kind == Kind::holds ? result.count : 0);
  return parts;
}

bool SplitSet::admits(const Task& task) {
  const auto sporadic = sporadic_task_of(task.contract);
  if (!sporadic) return false;
  const auto parts =
      parts_of({.budget = sporadic->budget, .period = sporadic->period, .deadline = sporadic->deadline});
  if (parts.empty()) return false;
  Admitted admitted{.contract = task.contract};
  for (const sched::SplitPart& part : parts) {
    Core& core = cores_[part.core];
    admitted.parts.push_back({.core = part.core, .index = core.tasks.size(), .offset = part.offset});
    core.tasks.push_back(part.part);
    core.load += sched::share_of(part.part.budget, task.contract.period.count());
  }
  admitted_.push_back(std::move(admitted));
  return true;
}

void SplitSet::clear() {
  admitted_.clear();
  for (Core& core : cores_) core.tasks.clear(), core.load = 0;
}

void SplitSet::describe(std::size_t number, TaskVerdict& verdict) const {
  const auto& [contract, parts] = admitted_[number];
  const Part& last = parts.back();
  const auto response = sched::edf_response_time(cores_[last.core].tasks, last.index, {.iterations = response_steps});
  const bool is_exact = response.verdict == sched::Response::Verdict::exact;
  const Duration bound = Duration{last.offset + response.value} + contract.jitter;
  verdict.bound = is_exact ? std::min(bound, contract.deadline) : contract.deadline;
  verdict.core = cores_[parts.front().core].id;
  if (parts.size() == 1) return;
  for (const auto& [core, index, offset] : parts)
    verdict.parts.push_back({.core = cores_[core].id, .budget = Duration{cores_[core].tasks[index].budget}});
}

std::vector<sched::CoreView> SplitSet::cores() const {
  std::vector<sched::CoreView> views;
  for (const Core& core : cores_)
    views.push_back({.id = core.id,
                     .capacity = sched::whole_core,
                     .admitted = sched::ppm_of(core.load),
                     .tasks = static_cast<std::uint32_t>(core.tasks.size()),
                     .order = sched::CoreOrder::deadline});
  return views;
}

}  // namespace corelane::eval
