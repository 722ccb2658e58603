// Tests that tasks of other processes end if they are held but not used.
#include "orb/dispatch/records/task_leases.h"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"

namespace task_leases_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using corelane::testing::Quiet;
using namespace std::chrono_literals;
using sched::RefusalCode;

namespace {

constexpr PeerId stranger = peer_of(1, 5);
constexpr PeerId own_user = peer_of(2, 6, true);

// Leases whose uses the test counts.
struct Table {
  explicit Table(std::optional<Duration> length = {}) : leases(length, 8) {}
  void add(std::uint64_t task, PeerId owner, Duration period = 10ms) { leases.add(TaskId{task}, owner, period, now); }
  // Calls look() whenever it is due, for that long. Returns which tasks ended.
  std::vector<std::uint64_t> after(Duration time) {
    std::vector<std::uint64_t> ended;
    for (const Time end = now + time; now < end;) {
      now = std::min(end, leases.look_at());
      leases.look(
          now,
          [&](TaskId task) {
            return busy == task.value ? std::nullopt : std::optional<std::uint64_t>(uses[task.value]);
          },
          [&](TaskId task) { ended.push_back(task.value); });
    }
    return ended;
  }

  TaskLeases leases;
  Time now{5s};
  std::map<std::uint64_t, std::uint64_t> uses;
  std::uint64_t busy = 0;
};

using Tasks = std::vector<std::uint64_t>;

ExecutiveOptions leasing(std::optional<Duration> lease = {}) {
  ExecutiveOptions options = bare_options();
  options.task_lease = lease;
  return options;
}

}  // namespace

TEST_CASE("a stranger's task that is not used ends after its lease, and not before") {
  Table table;
  table.add(1, stranger);
  CHECK(table.after(TaskLeases::of_strangers - 1ns).empty());
  CHECK(table.after(TaskLeases::between) == Tasks{1});
  CHECK(table.leases.look_at() == never);
}

TEST_CASE("each call renews a lease, and so does a job that is under way") {
  Table table;
  table.add(1, stranger);
  table.add(2, stranger);
  table.busy = 2;
  for (int i = 0; i < 5; ++i) {
    ++table.uses[1];
    CHECK(table.after(TaskLeases::of_strangers - TaskLeases::between).empty());
  }
  table.busy = 0;
  CHECK(table.after(2 * TaskLeases::of_strangers) == Tasks{1, 2});
}

TEST_CASE("a task with a long period is held for ten of them without a call") {
  Table table;
  table.add(1, stranger, 1h);
  table.add(2, stranger, 10s);
  CHECK(table.after(101s) == Tasks{2});
  CHECK(table.after(9h).empty());
  CHECK(table.after(1h) == Tasks{1});
}

TEST_CASE("this user's and this process's own tasks are held as long as they like") {
  Table table;
  table.add(1, own_user);
  table.add(2, PeerId{});
  CHECK(table.leases.look_at() == never);
  SECTION("but for a lease that is set, which is for all peers") {
    Table set(2s);
    set.add(1, own_user);
    set.add(2, PeerId{});
    set.add(3, stranger);
    CHECK(set.after(4s) == Tasks{1, 3});
  }
  SECTION("and with one of no length so are a stranger's") {
    Table never_ends(Duration::zero());
    never_ends.add(1, stranger);
    CHECK(never_ends.leases.look_at() == never);
  }
}

TEST_CASE("a task that left has no lease any more, and those beside it keep theirs") {
  Table table;
  for (const std::uint64_t task : {1U, 2U, 3U}) table.add(task, stranger);
  table.leases.remove(TaskId{2});
  CHECK(table.after(2 * TaskLeases::of_strangers) == Tasks{1, 3});
}

// In the manager.

TEST_CASE("capacity that a stranger holds without using it is free after its lease, and its client is told") {
  Quiet quiet;
  Machine machine(1, leasing());
  const TaskId hog = machine.admit(plain(100ms, 40ms), stranger);
  CHECK(machine.refused(plain(100ms, 60ms)).code == RefusalCode::not_schedulable);
  for (int i = 0; i < 62; ++i) machine.advance(1s);
  CHECK(machine.report(hog).gone);
  const auto late = machine.send(hog, {}, stranger);
  machine.settle();
  CHECK(late->refusal.code == RefusalCode::unused);
  machine.admit(plain(100ms, 60ms));
}

TEST_CASE("a task that is called keeps its lease, and one of this user needs no calls") {
  Quiet quiet;
  Machine machine(1, leasing());
  const TaskId called = machine.admit(plain(100ms, 10ms), stranger);
  const TaskId unused = machine.admit(plain(100ms, 10ms), own_user);
  const TaskId own = machine.admit(plain(100ms, 10ms));
  for (int i = 0; i < 200; ++i) {
    if (i % 30 == 0) (void)machine.send(called, {}, stranger);
    machine.advance(1s);
  }
  for (const TaskId task : {called, unused, own}) CHECK_FALSE(machine.report(task).gone);
}

TEST_CASE("the manager's thread below wakes for leases, and for none where there are none") {
  Quiet quiet;
  Machine machine(1, leasing());
  machine.admit(plain(100ms, 10ms));
  CHECK(machine.manager.below().wake_at() == never);
  machine.admit(plain(100ms, 10ms), stranger);
  CHECK(machine.manager.below().wake_at() <= virtual_now + TaskLeases::between);
}

TEST_CASE("a task that the operator ends is gone, with a job that waits, and its client is told") {
  Quiet quiet;
  Machine machine(1);
  const TaskId task = machine.admit(plain(100ms, 10ms), stranger);
  (void)machine.send(task, {}, stranger);
  machine.decide();
  const auto waits = machine.send(task, {}, stranger);  // an early job
  machine.decide();
  CHECK(machine.manager.end(task));
  CHECK_FALSE(machine.manager.end(task));  // it is leaving already
  CHECK_FALSE(machine.manager.end(TaskId{12345}));
  machine.settle();
  CHECK(waits->refusal.code == RefusalCode::ended);
  CHECK(machine.report(task).gone);
  const auto late = machine.send(task, {}, stranger);
  machine.settle();
  CHECK(late->refusal.code == RefusalCode::ended);
}

TEST_CASE("a task that left because its client asked for it is not said to have been ended") {
  Quiet quiet;
  Machine machine(1);
  const TaskId task = machine.admit(plain(100ms, 10ms), stranger);
  machine.manager.depart(task, stranger);
  machine.settle();
  const auto late = machine.send(task, {}, stranger);
  machine.settle();
  CHECK(late->refusal.code == RefusalCode::unknown_task);
}

}  // namespace task_leases_test
