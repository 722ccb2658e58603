#include "orb/sched/analysis/edf_response.h"

#include <algorithm>
#include <limits>

namespace corelane::sched {
namespace {

// Returns how many jobs of `task` are released in [0, a]. The first one is released at 0 and the others as early as
// possible; a >= 0.
Ticks jobs_until(const EdfTask& task, Ticks a) noexcept { return (a + task.jitter) / task.period + 1; }

}  // namespace

void EdfResponseSearch::begin(std::span<const EdfTask> tasks, std::size_t which, const EdfLoad& load, Ticks busy,
                              const Limits& limits) noexcept {
  tasks_ = tasks;
  which_ = which;
  load_ = load;
  busy_ = busy;
  limits_ = limits;
  done_ = false;
  worst_ = own().budget;
  begin_candidate(0);
}

void EdfResponseSearch::begin_candidate(Ticks a) noexcept {
  a_ = a;
  fixed_ = add_up(load_.blocking, multiply_up(jobs_until(own(), a), own().budget));
  window_ = fixed_;
}

// Makes one round of the fixpoint iteration per evaluation. w(a) is the end of the busy period of jobs with deadlines
// up to a + D_i.
bool EdfResponseSearch::step(int& evaluations) noexcept {
  while (!done_) {
    if (evaluations <= 0) return false;
    evaluations -= 1 + static_cast<int>(tasks_.size() + load_.above.size()) / 32;
    if (limits_.iterations-- <= 0) return end(Response::Verdict::undecided, 0);
    const Ticks next = add_up(fixed_, interference());
    if (next != window_) {
      window_ = next;
      if (window_ == endless) return end(Response::Verdict::undecided, 0);
      continue;
    }
    worst_ = std::max(worst_, window_ - a_);
    if (worst_ > limits_.stop_above) return end(Response::Verdict::late, worst_);
    const Ticks candidate = next_candidate();
    if (candidate < 0 || candidate >= busy_) return end(Response::Verdict::exact, worst_);
    begin_candidate(candidate);
  }
  return true;
}

bool EdfResponseSearch::end(Response::Verdict verdict, Ticks value) noexcept {
  response_ = {verdict, value};
  return done_ = true;
}

Ticks EdfResponseSearch::interference() const noexcept {
  Ticks sum = 0;
  for (const Interference& other : load_.above)
    sum = add_up(sum, multiply_up(ceil_div(add_up(window_, other.jitter), other.period), other.budget));
  for (std::size_t j = 0; j < tasks_.size(); ++j) {
    const EdfTask& other = tasks_[j];
    const Ticks last = a_ + own().deadline - other.deadline;  // the last release whose deadline has precedence
    if (j == which_ || last < 0) continue;
    const Ticks released = other.ahead ? endless : ceil_div(add_up(window_, other.jitter), other.period);
    sum = add_up(sum, multiply_up(std::min(released, jobs_until(other, last)), other.budget));
  }
  return sum;
}

// Returns the next candidate a at which jobs_until() changes for a task, or -1 if there is none.
Ticks EdfResponseSearch::next_candidate() const noexcept {
  Ticks next = endless;
  for (std::size_t j = 0; j < tasks_.size(); ++j) {
    const EdfTask& task = tasks_[j];
    const Ticks shift = j == which_ ? 0 : task.deadline - own().deadline;  // a counts releases up to a - shift
    const Ticks last = a_ - shift;
    const Ticks release = last < 0 ? 0 : multiply_up(jobs_until(task, last), task.period) - task.jitter;
    next = std::min(next, add_up(std::max<Ticks>(release, 0), shift));
  }
  return next == endless ? -1 : next;
}

Response edf_response_time(std::span<const EdfTask> tasks, std::size_t which, const Limits& limits) noexcept {
  const Ticks busy = longest_busy_period(tasks, limits.iterations);
  if (busy == endless) return {Response::Verdict::undecided, 0};
  EdfResponseSearch search;
  search.begin(tasks, which, {}, busy, limits);
  int unlimited = std::numeric_limits<int>::max();
  search.step(unlimited);
  return search.response();
}

}  // namespace corelane::sched
