#include "orb/sched/analysis/splitting.h"

#include <algorithm>

#include "orb/sched/share.h"

namespace corelane::sched {
namespace {

using Kind = DemandVerdict::Kind;

// Returns at least the budget that the utilization leaves to a task of this period. It can be a few ticks more, because
// shares are rounded down.
Ticks left_by_utilization(std::span<const EdfTask> tasks, Ticks period) noexcept {
  Share load = 0;
  for (const EdfTask& task : tasks) load += static_cast<Share>(Wide{task.budget} * whole_share / task.period);
  return static_cast<Ticks>(Wide{std::max<Share>(whole_share - load, 0)} * period / whole_share);
}

// Returns the next budget to try after that of `part` has failed.
Ticks less_than(const EdfTask& part, const DemandVerdict& verdict) noexcept {
  if (verdict.at < part.deadline) return part.budget - 1;  // overloaded by about a tick
  const Ticks jobs = (verdict.at - part.deadline) / part.period + 1;
  const Ticks others = verdict.demand - jobs * part.budget;
  return std::min(part.budget - 1, (verdict.at - others) / jobs);
}

}  // namespace

FirstPart largest_first_part(std::span<const EdfTask> tasks, const EdfTask& task, const Limits& limits) noexcept {
  Ticks budget = std::min(task.budget, left_by_utilization(tasks, task.period));
  for (int left = limits.iterations; budget > 0; --left) {
    if (left == 0) return {Kind::undecided, 0};
    const EdfTask part{.budget = budget, .period = task.period, .deadline = budget};
    const DemandVerdict verdict = demand_analysis_with(part, tasks, limits);
    if (verdict.kind == Kind::undecided) return {verdict.kind, 0};
    if (verdict.kind == Kind::holds) return {verdict.kind, budget};
    budget = less_than(part, verdict);
  }
  return {Kind::fails, 0};
}

Split split(std::span<const std::span<const EdfTask>> cores, const EdfTask& task, std::span<SplitPart> parts,
            const Limits& limits) noexcept {
  EdfTask rest = task;
  std::size_t count = 0;
  bool undecided = false;
  for (std::size_t core = 0; core < cores.size(); ++core) {
    const Ticks offset = task.deadline - rest.deadline;
    const Kind whole = demand_analysis_with(rest, cores[core], limits).kind;
    if (whole == Kind::holds) {
      parts[count++] = {core, offset, rest};
      return {Kind::holds, count};
    }
    const FirstPart first = largest_first_part(cores[core], rest, limits);
    undecided |= whole == Kind::undecided || first.kind == Kind::undecided;
    if (first.kind != Kind::holds) continue;
    parts[count++] = {core, offset, {.budget = first.budget, .period = task.period, .deadline = first.budget}};
    rest.budget -= first.budget;
    rest.deadline -= first.budget;
  }
  return {undecided ? Kind::undecided : Kind::fails, 0};
}

}  // namespace corelane::sched
