#include "orb/sched/edf_response.h"

#include <algorithm>

namespace corelane::sched {
namespace {

using Verdict = Response::Verdict;

// How many jobs of `task` are released in [0, a] when the first one is at 0 and the others as soon as they may; a >= 0.
Ticks jobs_until(const EdfTask& task, Ticks a) noexcept { return (a + task.jitter) / task.period + 1; }

class Analysis {
 public:
  Analysis(std::span<const EdfTask> tasks, std::size_t which, const Limits& limits) noexcept
      : tasks_(tasks), own_(tasks[which]), which_(which), limits_(limits), left_(limits.iterations) {}

  Response run() noexcept {
    const Ticks busy = longest_busy_period(tasks_, left_);
    if (busy == endless) return {Verdict::undecided, 0};
    Ticks worst = own_.budget;
    for (Ticks a = 0; a >= 0 && a < busy; a = candidate_after(a)) {
      const Ticks end = end_of_job(a);
      if (left_ <= 0) return {Verdict::undecided, 0};
      worst = std::max(worst, end - a);
      if (worst > limits_.stop_above) return {Verdict::late, worst};
    }
    return {Verdict::exact, worst};
  }

 private:
  // The end of the busy period of deadlines up to a + D_i: the least fixpoint of w.
  Ticks end_of_job(Ticks a) noexcept {
    const Ticks own = multiply_up(jobs_until(own_, a), own_.budget);
    Ticks window = own;
    while (left_-- > 0) {
      const Ticks next = add_up(own, interference(window, a));
      if (next == window) break;
      window = next;
    }
    return window;
  }

  Ticks interference(Ticks window, Ticks a) const noexcept {
    Ticks sum = 0;
    for (std::size_t j = 0; j < tasks_.size(); ++j) {
      const EdfTask& other = tasks_[j];
      const Ticks last = a + own_.deadline - other.deadline;  // the last release with a deadline that comes first
      if (j == which_ || last < 0) continue;
      const Ticks jobs = std::min(ceil_div(add_up(window, other.jitter), other.period), jobs_until(other, last));
      sum = add_up(sum, multiply_up(jobs, other.budget));
    }
    return sum;
  }

  // The next a at which jobs_until() changes for somebody; -1 when there is none.
  Ticks candidate_after(Ticks a) const noexcept {
    Ticks next = endless;
    for (std::size_t j = 0; j < tasks_.size(); ++j) {
      const EdfTask& task = tasks_[j];
      const Ticks shift = j == which_ ? 0 : task.deadline - own_.deadline;  // a counts releases up to a - shift
      const Ticks last = a - shift;
      const Ticks release = last < 0 ? 0 : multiply_up(jobs_until(task, last), task.period) - task.jitter;
      next = std::min(next, add_up(std::max<Ticks>(release, 0), shift));
    }
    return next == endless ? -1 : next;
  }

  std::span<const EdfTask> tasks_;
  EdfTask own_;
  std::size_t which_;
  Limits limits_;
  int left_;
};

}  // namespace

Response edf_response_time(std::span<const EdfTask> tasks, std::size_t which, const Limits& limits) noexcept {
  return Analysis(tasks, which, limits).run();
}

}  // namespace corelane::sched
