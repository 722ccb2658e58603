#include "orb/sched/analysis/holistic.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <random>

namespace holistic_test {

using namespace corelane::sched;

namespace {

using Tasks = std::vector<ChainedTask>;

// The published example: two chains, each from the first resource to the second one.
Tasks published() {
  return {{.core = 0, .priority = 2, .longest = 10, .shortest = 5, .period = 30, .jitter = 5},
          {.core = 0, .priority = 1, .longest = 3, .shortest = 1, .period = 15, .jitter = 6},
          {.core = 1, .priority = 2, .longest = 2, .shortest = 2, .period = 30, .released_by = 0},
          {.core = 1, .priority = 1, .longest = 9, .shortest = 4, .period = 15, .released_by = 1}};
}

// Runs tasks in steps of one unit, with random jitters and execution times, and keeps the largest times.
class ChainSimulation {
 public:
  ChainSimulation(const Tasks& tasks, std::mt19937_64& random)
      : tasks_(tasks), random_(random), waiting_(tasks.size()), largest_(tasks.size()) {}

  struct Largest {
    Ticks response = 0, end = 0;
  };

  const std::vector<Largest>& run(Ticks length) {
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      for (Ticks nominal = below(tasks_[i].period); !tasks_[i].released_by && nominal < length;
           nominal += tasks_[i].period)
        coming_.push_back({nominal + below(tasks_[i].jitter + 1), i, nominal});
    std::ranges::stable_sort(coming_, {}, &Release::at);
    for (Ticks now = 0; now < 2 * length; ++now) step(now);
    return largest_;
  }

 private:
  struct Release {
    Ticks at;
    std::size_t task;
    Ticks nominal;
  };
  struct Job {
    Ticks released, nominal, left;
  };

  Ticks below(Ticks bound) { return static_cast<Ticks>(random_() % static_cast<std::uint64_t>(bound)); }

  void release(std::size_t task, Ticks now, Ticks nominal) {
    const Ticks shortest = std::max<Ticks>(1, tasks_[task].shortest);
    waiting_[task].push_back({now, nominal, shortest + below(tasks_[task].longest - shortest + 1)});
  }

  void step(Ticks now) {
    for (; next_ < coming_.size() && coming_[next_].at <= now; ++next_)
      release(coming_[next_].task, coming_[next_].at, coming_[next_].nominal);
    std::vector<std::size_t> running;  // at most one task of each core
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (waiting_[i].empty()) continue;
      const auto other = std::ranges::find_if(running, [&](std::size_t j) { return tasks_[j].core == tasks_[i].core; });
      if (other == running.end())
        running.push_back(i);
      else if (tasks_[*other].priority < tasks_[i].priority)
        *other = i;
    }
    for (const std::size_t i : running)
      if (--waiting_[i].front().left == 0) end(i, now + 1);
  }

  void end(std::size_t task, Ticks now) {
    const Job job = waiting_[task].front();
    waiting_[task].pop_front();
    largest_[task].response = std::max(largest_[task].response, now - job.released);
    largest_[task].end = std::max(largest_[task].end, now - job.nominal);
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (tasks_[i].released_by == task) release(i, now, job.nominal);
  }

  const Tasks& tasks_;
  std::mt19937_64& random_;
  std::vector<Release> coming_;
  std::size_t next_ = 0;
  std::vector<std::deque<Job>> waiting_;
  std::vector<Largest> largest_;
};

// Returns two or three chains of two or three tasks on two cores, and a task without a chain.
Tasks random_tasks(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t bound) { return static_cast<Ticks>(random() % bound); };
  Tasks tasks;
  const Ticks chains = 2 + below(2);
  for (Ticks chain = 0; chain < chains; ++chain) {
    const Ticks period = 10 + below(30), length = 1 + below(3);
    for (Ticks i = 0; i < length; ++i) {
      const Ticks longest = 1 + below(static_cast<std::uint64_t>(period) / 4);
      ChainedTask task{.core = static_cast<int>(below(2)),
                       .longest = longest,
                       .shortest = 1 + below(static_cast<std::uint64_t>(longest)),
                       .period = period,
                       .jitter = below(6)};
      if (i > 0) task.released_by = tasks.size() - 1;
      tasks.push_back(task);
    }
  }
  std::vector<int> priorities;
  for (std::size_t i = 0; i < tasks.size(); ++i) priorities.push_back(static_cast<int>(i) + 1);
  std::shuffle(priorities.begin(), priorities.end(), random);
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].priority = priorities[i];
  return tasks;
}

}  // namespace

TEST_CASE("holistic responses are the published ones") {
  const auto found = holistic_responses(published());
  CHECK(found[0].response == 10);
  CHECK(found[1].response == 13);
  CHECK(found[2].response == 2);
  CHECK(found[3].response == 19);
}

TEST_CASE("a task inherits the variation of the ends before it as jitter") {
  const auto found = holistic_responses(published());
  CHECK(found[2].earliest == 5);
  CHECK(found[2].jitter == 10);
  CHECK(found[3].earliest == 1);
  CHECK(found[3].jitter == 18);
  CHECK(found[1].end == 19);
  CHECK(found[3].end == 30);
}

TEST_CASE("without chains, the ends are response times with jitter and blocking") {
  const Tasks tasks{{.priority = 4, .longest = 1, .period = 4},
                    {.priority = 3, .longest = 1, .period = 5},
                    {.priority = 2, .longest = 3, .period = 9},
                    {.priority = 1, .longest = 3, .period = 18}};
  const auto found = holistic_responses(tasks);
  CHECK(found[0].end == 1);
  CHECK(found[1].end == 2);
  CHECK(found[2].end == 7);
  CHECK(found[3].end == 18);
  const Tasks blocked{{.longest = 4, .period = 20, .jitter = 3, .blocking = 5}};
  CHECK(holistic_responses(blocked)[0].end == 12);
  CHECK(holistic_responses(blocked)[0].response == 9);
}

TEST_CASE("tasks of one priority delay each other") {
  const Tasks tasks{{.priority = 1, .longest = 2, .period = 10}, {.priority = 1, .longest = 3, .period = 10}};
  const auto found = holistic_responses(tasks);
  CHECK(found[0].end == 5);
  CHECK(found[1].end == 5);
}

TEST_CASE("a suspension delays the task itself, and not others") {
  const Tasks tasks{{.priority = 2, .longest = 2, .period = 10, .suspension = 3}, {.longest = 4, .period = 20}};
  const auto found = holistic_responses(tasks);
  CHECK(found[0].end == 5);
  CHECK(found[1].end == 6);
}

TEST_CASE("a least jitter delays others, and not the task itself") {
  const Tasks tasks{{.priority = 2, .longest = 2, .period = 10, .least_jitter = 8}, {.longest = 3, .period = 20}};
  const auto found = holistic_responses(tasks);
  CHECK(found[0].end == 2);
  CHECK(found[1].end == 7);  // ceil((7 + 8) / 10) = 2 jobs above
}

TEST_CASE("a core without room has endless responses, and so have the tasks behind it") {
  const Tasks tasks{{.core = 0, .priority = 2, .longest = 6, .shortest = 1, .period = 10},
                    {.core = 0, .priority = 1, .longest = 5, .shortest = 1, .period = 10},
                    {.core = 1, .priority = 1, .longest = 1, .shortest = 1, .period = 10, .released_by = 1}};
  const auto found = holistic_responses(tasks);
  CHECK(found[0].end == 6);
  CHECK(found[1].end == endless);
  CHECK(found[2].end == endless);
  CHECK(found[2].jitter == endless);
}

TEST_CASE("an end above the limit is endless") {
  const Tasks tasks{{.longest = 5, .period = 10}};
  CHECK(holistic_responses(tasks, {.stop_above = 5})[0].end == 5);
  CHECK(holistic_responses(tasks, {.stop_above = 4})[0].end == endless);
}

TEST_CASE("no simulated job of a chain is later than the bound") {
  std::mt19937_64 random(1);
  int compared = 0;
  for (int set = 0; set < 120; ++set) {
    const Tasks tasks = random_tasks(random);
    const auto bounds = holistic_responses(tasks);
    if (std::ranges::any_of(bounds, [](const ChainedResponse& bound) { return bound.end == endless; })) continue;
    ChainSimulation simulation(tasks, random);
    const auto& largest = simulation.run(200);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      CAPTURE(set, i);
      CHECK(largest[i].response <= bounds[i].response);
      CHECK(largest[i].end <= bounds[i].end);
      ++compared;
    }
  }
  CHECK(compared > 200);
}

}  // namespace holistic_test
