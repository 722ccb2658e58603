#include "orb/sched/analysis/split_placement.h"

#include <algorithm>
#include <utility>

#include "orb/sched/analysis/edf_response.h"

namespace corelane::sched {
namespace {

using Kind = DemandVerdict::Kind;

constexpr int response_steps = 20'000;  // for one bound; beyond that the deadline is the bound

}  // namespace

// Returns where the task runs: on one core if it fits, else in parts on several. Empty: nowhere.
std::vector<SplitPart> SplitPlacement::parts_for(const EdfTask& task) const {
  for (std::size_t core = 0; core < cores_.size(); ++core)
    if (demand_analysis_with(task, cores_[core]).kind == Kind::holds)
      return {SplitPart{.core = core, .offset = 0, .part = task}};
  const std::vector<std::span<const EdfTask>> tasks(cores_.begin(), cores_.end());
  std::vector<SplitPart> parts(cores_.size());
  const Split result = split(tasks, task, parts);
  parts.resize(result.kind == Kind::holds ? result.count : 0);
  return parts;
}

bool SplitPlacement::place(const SporadicTask& task) {
  std::vector<SplitPart> parts = parts_for({.budget = task.budget, .period = task.period, .deadline = task.deadline});
  if (parts.empty()) return false;
  for (const SplitPart& part : parts) cores_[part.core].push_back(part.part);
  const std::size_t last = cores_[parts.back().core].size() - 1;
  placed_.push_back({.deadline = task.deadline, .parts = std::move(parts), .last = last});
  return true;
}

void SplitPlacement::clear() {
  for (std::vector<EdfTask>& tasks : cores_) tasks.clear();
  placed_.clear();
}

Ticks SplitPlacement::response(std::size_t number) const {
  const Placed& task = placed_[number];
  const SplitPart& part = task.parts.back();
  const Response last = edf_response_time(cores_[part.core], task.last, {.iterations = response_steps});
  if (last.verdict != Response::Verdict::exact) return task.deadline;
  return std::min(part.offset + last.value, task.deadline);
}

}  // namespace corelane::sched
