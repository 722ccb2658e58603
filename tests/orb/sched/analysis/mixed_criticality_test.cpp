#include "orb/sched/analysis/mixed_criticality.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace mixed_criticality_test {

using namespace corelane::sched;
using Verdict = Response::Verdict;

namespace {

using Tasks = std::vector<CriticalTask>;

CriticalTask low(Ticks budget, Ticks period) { return {.budget = budget, .period = period, .deadline = period}; }
CriticalTask high(Ticks budget, Ticks larger, Ticks period) {
  return {.budget = budget, .high = larger, .period = period, .deadline = period};
}

bool all_meet(const std::vector<CriticalResponse>& responses) {
  return std::ranges::all_of(responses, [](const CriticalResponse& response) {
    return response.low.verdict == Verdict::exact && (!response.high || response.high->verdict == Verdict::exact);
  });
}

// Runs tasks of descending priority in steps of one unit. Some jobs of high criticality take the larger budget.
class TwoModes {
 public:
  TwoModes(const Tasks& tasks, std::mt19937_64& random) : tasks_(tasks), random_(random), jobs_(tasks.size()) {
    for (const CriticalTask& task : tasks) next_.push_back(below(task.period));
  }

  // Checks each response against its bound.
  void run(Ticks length, const std::vector<CriticalResponse>& bounds) {
    for (Ticks now = 0; now < length; ++now) {
      for (std::size_t i = 0; i < tasks_.size(); ++i) release(i, now);
      const auto running = std::ranges::find_if(jobs_, [](const Job& job) { return job.left > 0; });
      if (running == jobs_.end()) {
        is_high_ = false;
        continue;
      }
      const auto task = static_cast<std::size_t>(running - jobs_.begin());
      if (--running->left == 0)
        end(task, now + 1, bounds[task]);
      else if (tasks_[task].high && ++running->executed >= tasks_[task].budget)
        is_high_ = true;
    }
  }
  int switches() const { return switches_; }

 private:
  struct Job {
    Ticks released = 0, left = 0, executed = 0;
  };

  Ticks below(Ticks bound) { return static_cast<Ticks>(random_() % static_cast<std::uint64_t>(bound)); }

  void release(std::size_t i, Ticks now) {
    const CriticalTask& task = tasks_[i];
    if (next_[i] != now) return;
    next_[i] += task.period + (below(3) == 0 ? below(task.period) : 0);
    if (is_high_ && !task.high) return;
    const bool exceeds = task.high && below(4) == 0;
    jobs_[i] = {.released = now, .left = exceeds ? *task.high : task.budget};
  }

  void end(std::size_t i, Ticks now, const CriticalResponse& bound) {
    const Ticks response = now - jobs_[i].released;
    switches_ += is_high_ ? 1 : 0;
    if (!is_high_) CHECK(response <= bound.low.value);
    if (bound.high) CHECK(response <= bound.high->value);
  }

  const Tasks& tasks_;
  std::mt19937_64& random_;
  std::vector<Job> jobs_;  // by task; deadlines are met, so there is one job at a time
  std::vector<Ticks> next_;
  bool is_high_ = false;
  int switches_ = 0;
};

}  // namespace

TEST_CASE("responses of two criticalities are those computed by hand") {
  const auto found = amc_responses(Tasks{high(1, 2, 5), low(2, 8), high(2, 4, 20)});
  CHECK(found[0].low.value == 1);
  CHECK(found[1].low.value == 3);  // 2 + 1
  CHECK(found[2].low.value == 5);  // 2 + 1 + 2
  CHECK(found[0].high->value == 2);
  CHECK_FALSE(found[1].high);
  CHECK(found[2].high->value == 10);  // 4 + 2 * 2 + 2: the task between them runs once in the low mode
  CHECK(all_meet(found));
}

TEST_CASE("without larger budgets the high mode is no worse than the low mode") {
  const auto found = amc_responses(Tasks{high(1, 1, 4), high(1, 1, 5), high(3, 3, 9), high(3, 3, 18)});
  const Ticks published[] = {1, 2, 7, 18};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(found[i].low.value == published[i]);
    CHECK(found[i].high->value == published[i]);
  }
}

TEST_CASE("jitter and blocking count in both modes") {
  Tasks tasks{high(1, 2, 10), low(1, 10), high(2, 3, 30)};
  tasks[1].jitter = 8;
  tasks[2].jitter = 1;
  tasks[2].blocking = 2;
  const auto found = amc_responses(tasks);
  // w = 2 + 2 + ceil(w / 10) + ceil((w + 8) / 10) = 7; w* = 2 + 3 + 2 ceil(w* / 10) + 2 = 9.
  CHECK(found[2].low.value == 8);
  CHECK(found[2].high->value == 10);
}

TEST_CASE("a task is late in the mode in which it misses its deadline") {
  const auto found = amc_responses(Tasks{high(2, 8, 10), high(2, 3, 10)});
  CHECK(found[1].low.verdict == Verdict::exact);
  CHECK(found[1].high->verdict == Verdict::late);
  const auto full = amc_responses(Tasks{low(8, 10), high(3, 3, 10)});
  CHECK(full[1].low.verdict == Verdict::late);
  CHECK(full[1].high->verdict == Verdict::late);
}

TEST_CASE("no job is later than its bound, whenever the mode changes") {
  std::mt19937_64 random(3);
  int sets = 0, switches = 0;
  for (int attempt = 0; attempt < 800; ++attempt) {
    Tasks tasks;
    for (int i = 0; i < 4; ++i) {
      const auto period = 6 + static_cast<Ticks>(random() % 30);
      const auto budget = 1 + static_cast<Ticks>(random() % 4);
      tasks.push_back(random() % 2 == 0 ? low(budget, period)
                                        : high(budget, budget + static_cast<Ticks>(random() % 4), period));
    }
    std::ranges::sort(tasks, {}, &CriticalTask::period);
    const auto bounds = amc_responses(tasks);
    if (!all_meet(bounds)) continue;
    TwoModes modes(tasks, random);
    modes.run(400, bounds);
    switches += modes.switches();
    ++sets;
  }
  CHECK(sets > 80);
  CHECK(switches > 200);
}

}  // namespace mixed_criticality_test
