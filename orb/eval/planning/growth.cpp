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

bool admits_grown(const AnsweredSet& set, int thousandths) {
  std::vector<Task> tasks = set.tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!set.admitted[i]) continue;
    Contract& contract = tasks[i].contract;
    contract.budget = grown(contract.budget, thousandths);
    if (contract.budget > sound_budget(contract)) return false;
  }
  return admits_again(set, tasks);
}

}  // namespace

bool admits_again(const AnsweredSet& set, const std::vector<Task>& tasks) {
  const auto admitter = admitter_for(set.server, set.cores, set.spin_locks);
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (!admitter->admits(tasks[i]) && set.admitted[i]) return false;
  return true;
}

Duration largest_budget(const AnsweredSet& set, std::size_t task) {
  std::vector<Task> tasks = set.tasks;
  Duration& budget = tasks[task].contract.budget;
  const auto holds = [&](Duration probe) {
    budget = probe;
    return admits_again(set, tasks);
  };
  Duration fits = budget, fails = sound_budget(tasks[task].contract) + Duration{1};
  for (;;) {  // bound: 42 rounds, since the distance halves; about 14 with four digits
    const Duration probe = sched::rounded(fits + (fails - fits) / 2, sched::Rounding::down);
    if (probe <= fits) return fits;
    (holds(probe) ? fits : fails) = probe;
  }
}

std::optional<int> largest_growth(const AnsweredSet& set) {
  if (std::ranges::count(set.admitted, true) == 0) return std::nullopt;
  int fits = no_growth, fails = most_growth;
  while (fails - fits > 1) {
    const int probe = fits + (fails - fits) / 2;
    (admits_grown(set, probe) ? fits : fails) = probe;
  }
  return fits;
}

}  // namespace corelane::eval
