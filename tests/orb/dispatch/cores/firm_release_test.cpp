// Tests early jobs whose own timer is set late (dispatch.overshoot), on a virtual clock.
#include "tests/orb/dispatch/fixture.h"

namespace firm_release_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

namespace {

constexpr Duration overshoot = 2ms;

Contract task(Duration period, Duration budget) { return make_contract(period, budget, {}, 0ms); }

ExecutiveOptions firm() {
  ExecutiveOptions options = bare_options();
  options.overshoot = overshoot;
  return options;
}

// A task with an early job. The job arrived at `first` + 2 ms, and its release is at `first` + 10 ms.
class Early : public Machine {
 public:
  Early() : Machine(1, firm()), waiting(admit(task(10ms, 1ms))), other(admit(task(20ms, 5ms))), first(virtual_now) {
    send(waiting, 1ms);
    settle();
    virtual_now = first + 2ms;
    fate = send(waiting);
    settle();
  }
  TaskWorker& worker() { return *threads.threads[0]->worker; }
  std::uint64_t timer_releases() { return manager.report().cores[0].timer_releases; }

  const TaskId waiting, other;
  const Time first;
  std::shared_ptr<Fate> fate;
};

}  // namespace

TEST_CASE("an early job's own timer is set late by the overshoot") {
  Early early;
  CHECK(early.worker().wake_at(virtual_now) == early.first + 10ms + overshoot);
  virtual_now = early.first + 12ms;
  CHECK(early.worker().step(virtual_now));
  CHECK(early.fate->context.release == early.first + 10ms);
  CHECK(early.timer_releases() == 1);
}

TEST_CASE("a job that ends on the core releases an early job that is due") {
  Early early;
  virtual_now = early.first + 6ms;
  early.send(early.other, 5ms);
  early.settle();  // the other job ends at 11 ms
  CHECK(early.fate->started == early.first + 11ms);
  CHECK(early.fate->context.release == early.first + 10ms);
  CHECK(early.timer_releases() == 0);
}

TEST_CASE("a job that arrives on the core releases an early job that is due") {
  Early early;
  virtual_now = early.first + 10ms + 1us;
  early.send(early.other);
  early.decide();
  CHECK(early.worker().step(virtual_now));
  CHECK(early.fate->runs == 1);
  CHECK(early.timer_releases() == 0);
}

TEST_CASE("the overshoot counts in the admission") {
  Machine machine(1, firm());
  CHECK(machine.report(machine.admit(task(10ms, 3ms))).bound == 5ms);
  CHECK(machine.refused(make_contract(20ms, 1ms, 2500us, 0ms)).code == sched::RefusalCode::not_schedulable);
}

}  // namespace firm_release_test
