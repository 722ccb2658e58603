// Tests early jobs that start when their core is idle (pool.early_jobs), on a virtual clock. Also tests whether a
// server knows that a core is its alone.
#include <atomic>
#include <filesystem>
#include <thread>

#include "orb/dispatch/cores/idle_threads.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/orb/dispatch/leases/ledger_fixture.h"

namespace early_start_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace corelane::dispatch::ledger_test;
using namespace std::chrono_literals;

namespace {

class CountingWatch final : public IdleWatch {
 public:
  void look() noexcept override { ++looks; }
  int looks = 0;
};

// A task of 1 ms per 10 ms that has run its first job. Jobs may use `share` of its core.
class Early : public Machine {
 public:
  explicit Early(sched::Ppm share = sched::whole_core / 2) : task(admit(plain(10ms, 1ms))) {
    pool().watch_idleness(&watch, share);
    send(task, 1ms);
    settle();
  }
  ~Early() { pool().watch_idleness(nullptr, 0); }
  CorePool& pool() { return *manager.pools()[0]; }
  // Does what a thread below all tasks does when it gets the core.
  Time see_idle() {
    const Time again = pool().start_early(virtual_now);
    settle();
    return again;
  }

  CountingWatch watch;
  const TaskId task;
};

}  // namespace

TEST_CASE("an early job starts when its core was seen idle, and its period begins anew there") {
  Early early;
  CHECK(early.watch.looks == 0);
  const auto fate = early.send(early.task, 1ms);
  early.settle();
  CHECK(fate->runs == 0);
  CHECK(early.watch.looks > 0);
  const Time seen = virtual_now;
  CHECK(early.see_idle() == never);
  CHECK(fate->runs == 1);
  CHECK(fate->context.release == seen);
  CHECK(early.pool().early_starts() == 1);
  const auto next = early.send(early.task);
  early.settle();
  virtual_now = seen + 10ms - 1ns;
  early.settle();
  CHECK(next->runs == 0);
  early.advance(1ns);
  CHECK(next->runs == 1);
}

TEST_CASE("an early job does not start while another job of its core is under way, or became ready meanwhile") {
  Early early;
  const TaskId other = early.admit(plain(100ms, 5ms));
  const auto fate = early.send(early.task);
  early.settle();
  early.send(other, 5ms);
  early.decide();
  CHECK_FALSE(early.pool().has_early_jobs(virtual_now));
  CHECK(early.pool().start_early(virtual_now) == never);
  CHECK(early.pool().early_starts() == 0);
  const int before = early.watch.looks;
  early.settle();
  CHECK(early.watch.looks > before);
  early.see_idle();
  CHECK(fate->runs == 1);
}

TEST_CASE("early jobs use no more of their core than is not promised") {
  Early early;  // half of the core; the task has 0.1 of it, 0.4 are left, so 1 ms costs 2.5 ms
  early.send(early.task, 1ms);
  early.settle();
  const Time first = virtual_now;
  early.see_idle();
  const auto second = early.send(early.task);
  early.settle();
  CHECK(early.see_idle() == first + 2500us);
  CHECK(second->runs == 0);
  virtual_now = first + 2500us;
  CHECK(early.see_idle() == never);
  CHECK(second->runs == 1);
}

TEST_CASE("where all of a core is promised early jobs wait for their time") {
  Early early(sched::whole_core / 10);
  const auto fate = early.send(early.task);
  early.settle();
  CHECK(early.see_idle() == never);
  CHECK(fate->runs == 0);
}

TEST_CASE("a core on which another server has promised something is not this one's alone") {
  const Directory directory;
  const auto mine = open(directory), other = open(directory);
  CHECK(mine->alone_on(0));
  promise_all(*other, {promise(0, 1ms)});
  CHECK_FALSE(mine->alone_on(0));
  CHECK(mine->alone_on(1));
  other->withdraw();
  CHECK(mine->alone_on(0));
  std::filesystem::remove(directory.file());
  CHECK_FALSE(mine->alone_on(0));
}

TEST_CASE("alone_on() can be called during a ledger transaction, and a transaction can begin during alone_on()") {
  const Directory directory;
  const auto mine = open(directory), other = open(directory);
  promise_all(*other, {promise(1, 1ms)});
  REQUIRE(mine->begin());
  CHECK(mine->alone_on(0));
  mine->abandon();
  std::atomic<int> answers{0};
  std::atomic<bool> enough{false};
  std::thread looks([&] {
    // relaxed: a count and a flag, which publish no other data
    while (!enough.load(std::memory_order_relaxed))
      if (mine->alone_on(0)) answers.fetch_add(1, std::memory_order_relaxed);  // relaxed: as above
  });
  int busy = 0;
  // Bound: the other thread continues until this one is done. relaxed: as above
  while (answers.load(std::memory_order_relaxed) < 2000) mine->begin() ? mine->abandon() : void(++busy);
  enough.store(true, std::memory_order_relaxed);  // relaxed: as above
  looks.join();
  CHECK(busy == 0);
}

}  // namespace early_start_test
