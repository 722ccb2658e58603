#include "orb/eval/planning/global_set.h"

#include <algorithm>
#include <utility>

namespace corelane::eval {

GlobalSet::GlobalSet(const sched::AdmissionTest& test, std::span<const CoreId> cores)
    : test_(test), cores_(cores.begin(), cores.end()) {}

bool GlobalSet::admits(const Task& task) {
  const auto sporadic = sporadic_task_of(task.contract);
  if (!sporadic) return false;
  const auto below = std::ranges::upper_bound(tasks_, sporadic->deadline, {}, &sched::SporadicTask::deadline);
  const auto place = below - tasks_.begin();
  tasks_.insert(below, *sporadic);
  numbers_.insert(numbers_.begin() + place, jitters_.size());
  std::vector<sched::Ticks> responses(tasks_.size());
  if (test_.holds_globally(tasks_, static_cast<int>(cores_.size()), responses)) {
    responses_ = std::move(responses);
    jitters_.push_back(task.contract.jitter);
    load_ += sched::share_of(task.contract.budget.count(), task.contract.period.count());
    return true;
  }
  tasks_.erase(tasks_.begin() + place);
  numbers_.erase(numbers_.begin() + place);
  return false;
}

void GlobalSet::clear() {
  tasks_.clear();
  numbers_.clear();
  responses_.clear();
  jitters_.clear();
  load_ = 0;
}

void GlobalSet::describe(std::size_t number, TaskVerdict& verdict) const {
  const auto index = static_cast<std::size_t>(std::ranges::find(numbers_, number) - numbers_.begin());
  verdict.bound = Duration{responses_[index]} + jitters_[number];
}

// No task belongs to a core. Each core has its part of all of them.
std::vector<sched::CoreView> GlobalSet::cores() const {
  std::vector<sched::CoreView> views;
  const auto count = static_cast<sched::Share>(cores_.size());
  for (const CoreId core : cores_)
    views.push_back({.id = core, .capacity = sched::whole_core, .admitted = sched::ppm_of(load_ / count)});
  return views;
}

}  // namespace corelane::eval
