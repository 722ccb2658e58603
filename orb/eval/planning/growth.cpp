#include "orb/eval/planning/growth.h"

#include <algorithm>
#include <cstdint>

#include "orb/eval/planning/admitter.h"
#include "orb/sched/refusal.h"
#include "orb/sched/ticks.h"

namespace corelane::eval {
namespace {

constexpr int no_growth = 1000;  // thousandths
constexpr int most_growth = 1'000'000;

// Returns the largest budget that leaves the contract sound.
Duration sound_budget(const Contract& contract) { return contract.deadline - contract.suspension; }

Duration grown(Duration budget, int thousandths) {
  return Duration{static_cast<std::int64_t>(sched::Wide{budget.count()} * thousandths / no_growth)};
}

bool holds_grown(const AnsweredSet& set, int thousandths) {
  std::vector<Task> tasks = set.request.tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!set.admitted[i]) continue;
    Contract& contract = tasks[i].contract;
    contract.budget = grown(contract.budget - set.per_job, thousandths) + set.per_job;
    if (contract.budget > sound_budget(contract)) return false;
    if (tasks[i].is_high) tasks[i].budget_high = grown(tasks[i].budget_high - set.per_job, thousandths) + set.per_job;
  }
  return holds_again(set, tasks);
}

bool has_any(const std::vector<bool>& flags) { return std::ranges::find(flags, true) != flags.end(); }

bool admits_again(const AnsweredSet& set, const std::vector<Task>& tasks) {
  const auto admitter = admitter_for(set.request, set.cores);
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (!admitter->admits(tasks[i]) && set.admitted[i]) return false;
  return true;
}

// Returns whether all chains and tasks of high criticality that have to be in time still are.
bool in_time_again(const AnsweredSet& set, const std::vector<Task>& tasks) {
  PlanRequest request = set.request;
  request.tasks = tasks;
  request.cores = set.cores;
  request.sensitivity = request.fewest = false;
  request.tell = {};
  const Plan again = plan(request);
  for (std::size_t i = 0; i < set.high.size(); ++i)
    if (const auto& high = again.tasks[i].high; set.high[i] && !(high && high->holds)) return false;
  for (std::size_t i = 0; i < set.chains.size(); ++i)
    if (set.chains[i] && !again.chains[i].holds) return false;
  return true;
}

}  // namespace

bool holds_again(const AnsweredSet& set, const std::vector<Task>& tasks) {
  if (!admits_again(set, tasks)) return false;
  return (!has_any(set.high) && !has_any(set.chains)) || in_time_again(set, tasks);
}

Duration largest_budget(const AnsweredSet& set, std::size_t task) {
  std::vector<Task> tasks = set.request.tasks;
  const Duration present = tasks[task].contract.budget, high = tasks[task].budget_high;
  const auto holds_with = [&](Duration probe) {
    tasks[task].contract.budget = probe;
    tasks[task].budget_high = std::max(high, probe);
    return holds_again(set, tasks);
  };
  Duration fits = present, fails = sound_budget(tasks[task].contract) + Duration{1};
  for (;;) {  // bound: 42 rounds, since the distance halves; about 14 with four digits
    const Duration probe = sched::rounded(fits + (fails - fits) / 2, sched::Rounding::down);
    if (probe <= fits) return fits;
    (holds_with(probe) ? fits : fails) = probe;
  }
}

std::optional<int> largest_growth(const AnsweredSet& set) {
  if (std::ranges::count(set.admitted, true) == 0) return std::nullopt;
  int fits = no_growth, fails = most_growth;
  while (fails - fits > 1) {
    const int probe = fits + (fails - fits) / 2;
    (holds_grown(set, probe) ? fits : fails) = probe;
  }
  return fits;
}

}  // namespace corelane::eval
