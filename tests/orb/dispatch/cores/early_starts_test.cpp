#include "orb/dispatch/cores/early_starts.h"

#include <array>
#include <catch2/catch.hpp>

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

constexpr Time idle_from = Time{} + 1s;

class NoWatch final : public IdleWatch {
 public:
  void look() noexcept override {}
};

// Returns a task with C = 2 ms and T = 10 ms, and with one job that is eligible at that time.
sched::ScheduledTask task_with_job(Time eligible) {
  sched::ScheduledTask task;
  task.contract = make_contract(10ms, 2ms, 10ms, 0ms);
  task.waiting[0] = {.job = JobId{1}, .released = eligible, .nominal = eligible, .eligible = eligible};
  task.waiting_count = 1;
  return task;
}

}  // namespace

TEST_CASE("only jobs that are early and could start are work for an idle core") {
  NoWatch watch;
  EarlyStarts early;
  std::array tasks{task_with_job(idle_from + 1ms)};
  CHECK_FALSE(early.has_work(tasks, idle_from));  // nobody watches
  early.use(&watch, sched::whole_core);
  CHECK(early.has_work(tasks, idle_from));
  CHECK_FALSE(early.has_work(tasks, idle_from + 1ms));
  tasks[0].busy = true;
  CHECK_FALSE(early.has_work(tasks, idle_from));
}

TEST_CASE("early jobs get the part of the share that the tasks do not use") {
  NoWatch watch;
  EarlyStarts early;
  std::array tasks{task_with_job(idle_from + 1ms)};
  early.use(&watch, 300'000);  // 10 % are left: 2 ms of budget are paid for in 20 ms
  CHECK_FALSE(early.pay(tasks, idle_from));
  CHECK(early.count() == 1);
  CHECK(early.pay(tasks, idle_from + 1us) == idle_from + 20ms);
  CHECK(early.count() == 1);
  tasks[0] = task_with_job(idle_from + 30ms);
  CHECK_FALSE(early.pay(tasks, idle_from + 20ms));
  CHECK(early.count() == 2);
}

TEST_CASE("early jobs do not start on a core that the tasks fill") {
  NoWatch watch;
  EarlyStarts early;
  const std::array tasks{task_with_job(idle_from + 1ms)};
  early.use(&watch, 200'000);
  CHECK(early.pay(tasks, idle_from) == never);
  CHECK(early.count() == 0);
}
