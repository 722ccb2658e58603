#include "orb/sched/analysis/demand.h"

#include <algorithm>
#include <limits>

#include "orb/sched/analysis/rational.h"
#include "orb/sched/share.h"

namespace corelane::sched {
namespace {

using Kind = DemandVerdict::Kind;

// A set of tasks with one optional further task, without a copy.
class Set {
 public:
  explicit Set(std::span<const EdfTask> tasks, const EdfTask* candidate = nullptr) noexcept
      : tasks_(tasks), candidate_(candidate) {}
  std::size_t size() const noexcept { return tasks_.size() + (candidate_ != nullptr ? 1 : 0); }
  const EdfTask& operator[](std::size_t i) const noexcept { return i < tasks_.size() ? tasks_[i] : *candidate_; }

 private:
  std::span<const EdfTask> tasks_;
  const EdfTask* candidate_;
};

bool overloaded(const Set& tasks) noexcept {
  Rational sum;
  for (std::size_t i = 0; i < tasks.size(); ++i) sum += Rational(tasks[i].budget, tasks[i].period);
  return !sum.at_most(1);
}

// Returns a length from which on no window has too much demand, computed from the utilizations alone. Returns `endless`
// if the utilizations leave nothing over. The result is rounded up: terms of D > T + J would lower it and count as
// zero.
Ticks bound_by_utilization(const Set& tasks) noexcept {
  Share load = 0;
  Wide sum = 0;
  Ticks least = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const EdfTask& task = tasks[i];
    const Share share = share_of(task.budget, task.period);
    const Ticks slack = task.period + task.jitter - task.deadline;
    load += share;
    if (slack > 0) sum += Wide{slack} * share;
    least = std::max(least, -slack);
  }
  if (load >= whole_share) return endless;
  const Wide bound = sum / (whole_share - load) + 1;
  return bound >= endless ? endless : std::max(least, static_cast<Ticks>(bound));
}

// Returns the last deadline of the task before `limit`, or 0 if there is none.
Ticks last_deadline(const EdfTask& task, Ticks limit) noexcept {
  if (task.deadline >= limit) return 0;
  const Ticks k = (limit - 1 - task.deadline + task.jitter) / task.period;
  return std::max(task.deadline, task.deadline + k * task.period - task.jitter);
}

Ticks last_deadline(const Set& tasks, Ticks limit) noexcept {
  Ticks last = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) last = std::max(last, last_deadline(tasks[i], limit));
  return last;
}

Ticks demand(const Set& tasks, Ticks t) noexcept {
  Ticks sum = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const EdfTask& task = tasks[i];
    if (t < task.deadline) continue;
    sum = add_up(sum, multiply_up((t - task.deadline + task.jitter) / task.period + 1, task.budget));
  }
  return sum;
}

Ticks longest_busy_period(const Set& tasks, int iterations, Ticks limit) noexcept {
  Ticks length = 1;
  while (length <= limit && iterations-- > 0) {
    Ticks next = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i)
      next = add_up(next, multiply_up(ceil_div(add_up(length, tasks[i].jitter), tasks[i].period), tasks[i].budget));
    if (next <= length) return next;  // less than `length` only if there are no tasks
    length = next;
  }
  return endless;
}

Ticks demand(const EdfLoad& load, Ticks t) noexcept {
  Ticks sum = load.blocking;
  for (const Interference& other : load.above)
    sum = add_up(sum, multiply_up(ceil_div(add_up(t, other.jitter), other.period), other.budget));
  return sum;
}

DemandVerdict analyse(std::span<const EdfTask> tasks, const EdfTask* candidate, const Limits& limits) noexcept {
  const Set set(tasks, candidate);
  if (overloaded(set)) return {Kind::fails, 0, 0};
  const Ticks by_utilization = bound_by_utilization(set);
  const Ticks busy = longest_busy_period(set, limits.iterations, std::min(by_utilization, endless - 1));
  const Ticks length = std::min(by_utilization, busy);
  if (length == endless) return {Kind::undecided, 0, 0};
  DemandSearch search;
  search.begin(tasks, {}, length, limits.iterations, candidate);
  int unlimited = std::numeric_limits<int>::max();
  search.step(unlimited);
  return search.verdict();
}

}  // namespace

Ticks demand(std::span<const EdfTask> tasks, Ticks t) noexcept { return demand(Set(tasks), t); }

Ticks longest_busy_period(std::span<const EdfTask> tasks, int iterations, Ticks limit) noexcept {
  return longest_busy_period(Set(tasks), iterations, limit);
}

DemandVerdict demand_analysis(std::span<const EdfTask> tasks, const Limits& limits) noexcept {
  return analyse(tasks, nullptr, limits);
}

DemandVerdict demand_analysis_with(const EdfTask& candidate, std::span<const EdfTask> tasks,
                                   const Limits& limits) noexcept {
  return analyse(tasks, &candidate, limits);
}

void DemandSearch::begin(std::span<const EdfTask> tasks, const EdfLoad& load, Ticks longest, int iterations,
                         const EdfTask* candidate) noexcept {
  tasks_ = tasks;
  load_ = load;
  candidate_ = candidate;
  iterations_ = iterations;
  verdict_ = {};
  done_ = false;
  t_ = last_deadline(Set(tasks_, candidate_), longest);
}

bool DemandSearch::step(int& evaluations) noexcept {
  const Set set(tasks_, candidate_);
  while (!done_) {
    if (t_ == 0) return done_ = true;
    if (evaluations <= 0) return false;
    evaluations -= 1 + static_cast<int>(set.size() + load_.above.size()) / 32;  // the two sums below
    if (iterations_-- <= 0) verdict_ = {Kind::undecided, 0, 0}, done_ = true;
    const Ticks needed = add_up(demand(set, t_), demand(load_, t_));
    if (!done_ && needed > t_) verdict_ = {Kind::fails, t_, needed}, done_ = true;
    t_ = last_deadline(set, std::min(needed, t_));
  }
  return true;
}

}  // namespace corelane::sched
