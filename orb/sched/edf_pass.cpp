#include "orb/sched/edf_pass.h"

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
  all_.assign(load.above.begin(), load.above.end());
  for (const EdfTask& task : tasks_) all_.push_back({task.budget, task.period, task.jitter});
  Share share = 0;
  for (const Interference& one : all_) share += share_of(one.budget, one.period);
  if (share > whole_share) {  // suspensions count here, so those who admit have not seen it
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
  response_.begin(tasks_, task, load_, busy_.longest(), {.iterations = iterations_});
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
