// Tests jobs that wait for other tasks, and which wait would close a circle.
#include "orb/core/chains/task_wait.h"

#include <catch2/catch.hpp>
#include <deque>

#include "orb/dispatch/current.h"

namespace task_wait_test {

using namespace corelane;
using namespace corelane::core;

namespace {

// A job of the task that waits for another task, until destruction.
class JobWaits {
 public:
  JobWaits(std::uint64_t task, std::uint64_t awaited)
      : job_{.context =
                 {.task = TaskId{task}, .job = {}, .core = no_core, .release = {}, .deadline = never, .budget = {}},
             .stop = nullptr},
        scope_(job_),
        wait(TaskId{awaited}) {}

 private:
  const dispatch::CurrentJob job_;
  const dispatch::CurrentScope scope_;

 public:
  const TaskWait wait;
};

}  // namespace

TEST_CASE("a call that closes a circle of waiting tasks is refused, however long the circle is") {
  const JobWaits first(1, 2), second(2, 3), third(3, 4);
  CHECK_FALSE(first.wait.closes_circle());
  CHECK_FALSE(third.wait.closes_circle());
  CHECK(JobWaits(4, 1).wait.closes_circle());
  CHECK(JobWaits(4, 3).wait.closes_circle());
  CHECK_FALSE(JobWaits(5, 1).wait.closes_circle());
}

TEST_CASE("a task waits for all that its job and what that was called back for wait for") {
  const JobWaits job(1, 2), call_back(1, 3);
  CHECK(JobWaits(2, 1).wait.closes_circle());
  CHECK(JobWaits(3, 1).wait.closes_circle());
  CHECK_FALSE(JobWaits(2, 3).wait.closes_circle());
}

TEST_CASE("a circle that others wait in is not one's own, and a wait that is over is none") {
  const JobWaits first(1, 2);
  {
    const JobWaits second(2, 1);
    CHECK(second.wait.closes_circle());
    CHECK_FALSE(JobWaits(3, 1).wait.closes_circle());
  }
  CHECK_FALSE(JobWaits(3, 1).wait.closes_circle());
  const TaskWait nobody(TaskId{1});
  CHECK_FALSE(nobody.closes_circle());
}

TEST_CASE("a circle of very many tasks is seen, and so is what leads to a circle and never back") {
  constexpr std::uint64_t many = 30'000;
  std::deque<JobWaits> waits;
  for (std::uint64_t task = 1; task < many; ++task) waits.emplace_front(task, task + 1);
  CHECK(JobWaits(many, 1).wait.closes_circle());
  CHECK_FALSE(JobWaits(many + 1, 1).wait.closes_circle());
  while (!waits.empty()) waits.pop_front();  // the last one first; a deque would destroy them in another order
}

}  // namespace task_wait_test
