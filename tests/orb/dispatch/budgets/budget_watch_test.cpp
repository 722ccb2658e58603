#include "orb/dispatch/budgets/budget_watch.h"

#include <array>
#include <catch2/catch.hpp>

#include "orb/dispatch/budgets/blocking_detector.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

constexpr Time checked_at = Time{} + 1s;
constexpr JobId checked_job{7};

class NotedAlarm final : public BudgetAlarm {
 public:
  void set(Time at) noexcept override { at_ = at, ++sets; }
  Time at_ = never;
  int sets = 0;
};

// Returns a task whose demoted job gets its level back at `back`.
sched::ScheduledTask demoted_task(Time back) {
  sched::ScheduledTask task;
  task.contract = make_contract(10ms, 1ms, 10ms, 0ms);
  task.busy = task.demoted = true;
  task.tat = back;
  return task;
}

}  // namespace

TEST_CASE("the budget watch sets its alarm for the time at which the job may have used its budget") {
  NotedAlarm alarm;
  BudgetWatch watch;
  CHECK_FALSE(watch.is_on());
  watch.use(&alarm);
  watch.begin({.job = checked_job, .task = TaskId{1}, .budget = 5ms});
  CHECK_FALSE(watch.is_due(checked_at + 1h));
  watch.look_after(5ms, checked_at);
  watch.set_alarm();
  CHECK(alarm.at_ == checked_at + 5ms);
  CHECK_FALSE(watch.is_due(checked_at + 5ms - 1ns));
  CHECK(watch.is_due(checked_at + 5ms));
  watch.look_after(1ns, checked_at);
  CHECK_FALSE(watch.is_due(checked_at + BudgetWatch::shortest_look - 1ns));
  CHECK(watch.is_due(checked_at + BudgetWatch::shortest_look));
}

TEST_CASE("a job with much budget left waits if one check finds it asleep") {
  BudgetWatch watch;
  CHECK(watch.has_waited({.job = checked_job, .left = BlockingDetector::shortest, .asleep = true}, checked_at));
  CHECK_FALSE(watch.has_waited({.job = checked_job, .left = BlockingDetector::shortest, .asleep = false}, checked_at));
}

TEST_CASE("a job with little budget left waits if it used nothing for a while") {
  BudgetWatch watch;
  const Duration little = BlockingDetector::shortest - 1ns;
  const BudgetWatch::Found found{.job = checked_job, .left = little, .asleep = true};
  CHECK_FALSE(BudgetWatch::may_wait(found, watch.unused()));
  CHECK_FALSE(watch.has_waited(found, checked_at));
  CHECK(BudgetWatch::may_wait(found, watch.unused()));
  CHECK_FALSE(watch.has_waited(found, checked_at + BlockingDetector::shortest - 1ns));
  CHECK(watch.has_waited(found, checked_at + BlockingDetector::shortest));
  SECTION("what it used meanwhile begins the time anew") {
    const BudgetWatch::Found less{.job = checked_job, .left = little - 1ns, .asleep = true};
    CHECK_FALSE(BudgetWatch::may_wait(less, watch.unused()));
    CHECK_FALSE(watch.has_waited(less, checked_at + BlockingDetector::shortest));
  }
  SECTION("a wait is reported once") {
    watch.forget_wait();
    CHECK_FALSE(watch.has_waited(found, checked_at + 2 * BlockingDetector::shortest));
  }
}

TEST_CASE("the alarm is also set for the first demoted job that gets its level back") {
  NotedAlarm alarm;
  BudgetWatch watch;
  watch.use(&alarm);
  std::array tasks{demoted_task(checked_at + 9ms), demoted_task(checked_at + 4ms)};
  watch.note_returns(tasks);
  CHECK(alarm.sets == 0);  // nobody was demoted
  watch.note_demoted();
  watch.note_returns(tasks);
  CHECK(alarm.at_ == checked_at + 4ms);
  CHECK_FALSE(watch.has_return(checked_at + 4ms - 1ns));
  CHECK(watch.has_return(checked_at + 4ms));
  watch.note_returns(tasks);
  CHECK(alarm.sets == 1);  // the same time
  tasks[1].suspended = true;
  watch.note_returns(tasks);
  CHECK(alarm.at_ == checked_at + 9ms);
  for (auto& task : tasks) task.busy = false;
  watch.note_returns(tasks);
  CHECK(alarm.at_ == never);
}
