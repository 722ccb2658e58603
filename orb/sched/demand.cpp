#include "orb/sched/demand.h"

#include <algorithm>

#include "orb/sched/rational.h"
#include "orb/sched/share.h"

namespace corelane::sched {
namespace {

using Kind = DemandVerdict::Kind;

// Tasks and perhaps one more, without a copy.
class Set {
 public:
  explicit Set(std::span<const EdfTask> tasks, const EdfTask* newcomer = nullptr) noexcept
      : tasks_(tasks), newcomer_(newcomer) {}
  std::size_t size() const noexcept { return tasks_.size() + (newcomer_ != nullptr ? 1 : 0); }
  const EdfTask& operator[](std::size_t i) const noexcept { return i < tasks_.size() ? tasks_[i] : *newcomer_; }

 private:
  std::span<const EdfTask> tasks_;
  const EdfTask* newcomer_;
};

bool overloaded(const Set& tasks) noexcept {
  Rational sum;
  for (std::size_t i = 0; i < tasks.size(); ++i) sum += Rational(tasks[i].budget, tasks[i].period);
  return !sum.at_most(1);
}

// No window from here on has too much demand, by the utilizations alone; `endless` where those leave nothing over.
// Rounded up: terms of D > T + J, which would lower it, count as nothing.
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

// The last deadline of the task before `limit`, 0 when there is none.
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
    if (next <= length) return next;  // less only when there are no tasks
    length = next;
  }
  return endless;
}

DemandVerdict analyse(const Set& tasks, const Limits& limits) noexcept {
  if (overloaded(tasks)) return {Kind::fails, 0, 0};
  const Ticks by_utilization = bound_by_utilization(tasks);
  const Ticks busy = longest_busy_period(tasks, limits.iterations, std::min(by_utilization, endless - 1));
  const Ticks length = std::min(by_utilization, busy);
  if (length == endless) return {Kind::undecided, 0, 0};
  Ticks t = last_deadline(tasks, length);
  for (int left = limits.iterations; t > 0; --left) {
    if (left == 0) return {Kind::undecided, 0, 0};
    const Ticks needed = demand(tasks, t);
    if (needed > t) return {Kind::fails, t, needed};
    t = needed < t ? needed : last_deadline(tasks, t);
  }
  return {};
}

}  // namespace

Ticks demand(std::span<const EdfTask> tasks, Ticks t) noexcept { return demand(Set(tasks), t); }

Ticks longest_busy_period(std::span<const EdfTask> tasks, int iterations, Ticks limit) noexcept {
  return longest_busy_period(Set(tasks), iterations, limit);
}

DemandVerdict demand_analysis(std::span<const EdfTask> tasks, const Limits& limits) noexcept {
  return analyse(Set(tasks), limits);
}

DemandVerdict demand_analysis_with(const EdfTask& newcomer, std::span<const EdfTask> tasks,
                                   const Limits& limits) noexcept {
  return analyse(Set(tasks, &newcomer), limits);
}

}  // namespace corelane::sched
