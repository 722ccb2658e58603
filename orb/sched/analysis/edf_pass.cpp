#include "orb/sched/analysis/edf_pass.h"

#include <algorithm>

#include "orb/sched/share.h"

namespace corelane::sched {

void EdfPass::reserve(std::size_t tasks, std::size_t loads) {
  tasks_.reserve(tasks);
  responses_.reserve(tasks);
  all_.reserve(tasks + loads);
}

void EdfPass::begin(const EdfLoad& load, Goal goal, int iterations) noexcept {
  load_ = load;
  goal_ = goal;
  iterations_ = iterations;
  verdict_ = {};
  responses_.clear();
  for (const EdfTask& task : tasks_) responses_.push_back(task.deadline);
  ahead_ = std::any_of(tasks_.begin(), tasks_.end(), [](const EdfTask& task) { return task.ahead; });
  all_.assign(load.above.begin(), load.above.end());
  for (const EdfTask& task : tasks_) all_.push_back({task.budget, task.period, task.jitter});
  Share share = 0;
  for (const Interference& one : all_) share += share_of(one.budget, one.period);
  // Suspensions count here. The utilization test before this analysis has not included them.
  if (share > whole_share) {
    verdict_ = {DemandVerdict::Kind::fails, 0, 0};
    stage_ = Stage::done;
    return;
  }
  stage_ = Stage::busy;
  busy_.begin(all_, load.blocking, iterations);
}

bool EdfPass::step(int& evaluations) noexcept {
  while (stage_ != Stage::done) {
    if (stage_ == Stage::busy) {
      if (!busy_.step(evaluations)) return false;
      end_busy();
    } else if (stage_ == Stage::walking) {
      if (!demand_.step(evaluations)) return false;
      verdict_ = demand_.verdict();
      stage_ = Stage::done;
    } else {
      if (!response_.step(evaluations)) return false;
      end_response();
    }
  }
  return true;
}

void EdfPass::cut_short() noexcept {
  if (stage_ == Stage::done) return;
  if (goal_ == Goal::deadlines)
    verdict_.kind = holds_by_bound() ? DemandVerdict::Kind::holds : DemandVerdict::Kind::undecided;
  stage_ = Stage::done;
}

// h(t) is at most U t + K, because floor(x) + 1 <= x + 1 and ceil(x) <= x + 1. So if U t + K <= t holds at the first
// deadline, it holds at every later one.
bool EdfPass::holds_by_bound() const noexcept {
  Share load = 0;
  Wide rest = Wide{load_.blocking} * whole_share;  // K, in units of Share
  for (const Interference& other : load_.above) {
    const Share share = share_of(other.budget, other.period);
    load += share;
    rest += Wide{share} * (other.period + other.jitter);
  }
  Ticks first = endless;
  for (const EdfTask& task : tasks_) {
    const Share share = share_of(task.budget, task.period);
    load += share;
    rest += Wide{share} * std::max<Ticks>(0, task.period + task.jitter - task.deadline);
    first = std::min(first, task.deadline);
  }
  return load < whole_share && rest <= Wide{first} * (whole_share - load);
}

void EdfPass::end_busy() noexcept {
  if (busy_.longest() == endless) {
    verdict_ = {DemandVerdict::Kind::undecided, 0, 0};
    stage_ = Stage::done;
    return;
  }
  if (goal_ == Goal::responses) return begin_response(0);
  demand_.begin(tasks_, load_, busy_.longest(), iterations_);
  stage_ = Stage::walking;
}

void EdfPass::begin_response(std::size_t task) noexcept {
  responding_ = task;
  stage_ = task < tasks_.size() ? Stage::responding : Stage::done;
  if (stage_ == Stage::done) return;
  const Ticks last = ahead_ ? horizon(tasks_[task]) : busy_.longest();
  response_.begin(tasks_, task, load_, last, {.iterations = iterations_});
}

// Returns an upper bound of the release times a to check. A job released after it comes after all demand with deadlines
// up to its own has been served. There, the sum of U_j (a + D_i - D_j + T_j + J_j) and the same terms of the load above
// is at most a.
Ticks EdfPass::horizon(const EdfTask& own) const noexcept {
  Share load = 0;
  Wide sum = Wide{load_.blocking} * whole_share;
  const auto add = [&](Ticks budget, Ticks period, Ticks offset) {
    const Share share = share_of(budget, period);
    load += share;
    if (offset > 0) sum += Wide{offset} * share;
  };
  for (const Interference& other : load_.above) add(other.budget, other.period, other.period + other.jitter);
  for (const EdfTask& task : tasks_)
    add(task.budget, task.period, task.period + task.jitter + own.deadline - task.deadline);
  const Wide bound = load < whole_share ? sum / (whole_share - load) + 1 : Wide{endless};
  return bound < endless ? static_cast<Ticks>(bound) : endless - 1;
}

void EdfPass::end_response() noexcept {
  const Response& found = response_.response();
  if (found.verdict == Response::Verdict::exact) responses_[responding_] = found.value;
  begin_response(responding_ + 1);
}

std::size_t EdfPass::loser() const noexcept {
  std::size_t last = tasks_.size() - 1;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const Ticks since = verdict_.at - tasks_[i].deadline;
    if (since == 0 || (since > 0 && (since + tasks_[i].jitter) % tasks_[i].period == 0)) last = i;
  }
  return last;
}

}  // namespace corelane::sched
