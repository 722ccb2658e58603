// Tests tasks whose threads read a connection of their own (mode `direct`). The test steps the threads.
#include "orb/dispatch/job_source.h"
#include "orb/dispatch/tasks/dedicated_receiver.h"
#include "tests/orb/dispatch/fixture.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

namespace {

// A connection that contains what the test puts there.
class TestSource final : public BoundSource {
 public:
  void opened() noexcept override { ++openings; }
  Found poll(JobPtr& job, Time) noexcept override {
    ++polls;
    if (noise == 0 && pieces == 0 && jobs.empty()) return ended ? Found::end : Found::nothing;
    virtual_cpu += cost_of_a_read;
    if (noise > 0) return --noise, Found::bytes;
    if (pieces > 0) return --pieces, Found::piece;
    virtual_now += kept_off;
    if (kept_off > Duration{}) jobs.front()->arrived = virtual_now;
    job = std::move(jobs.front());
    jobs.pop_front();
    return Found::job;
  }
  int descriptor() const noexcept override { return 7; }
  Time wake_at() const noexcept override { return never; }
  void lend() noexcept override { ++lendings; }
  void take_back() noexcept override { ++returns; }
  void close() noexcept override { ++closings; }

  std::deque<JobPtr> jobs;
  int noise = 0;   // reads that bring no job
  int pieces = 0;  // after those, reads that bring a part of a job
  Duration cost_of_a_read{};
  Duration kept_off{};  // how long the reading thread is kept from its core; a job that it finds then has just arrived
  bool ended = false;
  int openings = 0, polls = 0, lendings = 0, returns = 0, closings = 0;
};

// A machine with one task of one peer. The task has a connection of its own.
class DirectMachine : public Machine {
 public:
  explicit DirectMachine(const Contract& contract = make_contract(10ms, 1ms, {}, 0ms), int cores = 1)
      : Machine(cores), task(admit(contract, owner)) {
    attach(task, owner, source);
  }
  void attach(TaskId to, PeerId peer, const std::shared_ptr<TestSource>& its) {
    manager.attach(to, peer, its);
    settle();
  }
  // Adds a job to the task's own connection.
  std::shared_ptr<Fate> arrive(Duration cost = {}) {
    auto fate = std::make_shared<Fate>();
    JobPtr job(new TestJob(fate, cost));
    job->task = task;
    job->owner = owner;
    job->arrived = virtual_now;
    source->jobs.push_back(std::move(job));
    return fate;
  }
  // Steps the task's thread alone.
  bool step_thread() { return threads.threads.front()->worker->step(virtual_now); }
  Time thread_wakes_at() { return threads.threads.front()->worker->wake_at(virtual_now); }

  const PeerId owner{9};
  const std::shared_ptr<TestSource> source = std::make_shared<TestSource>();
  TaskId task;
};

}  // namespace

TEST_CASE("a job of the task's own connection runs without a step of the manager") {
  DirectMachine machine;
  const auto job = machine.arrive(1ms);
  CHECK(machine.step_thread());
  CHECK(job->over());
  CHECK(job->runs == 1);
  CHECK(job->context.task == machine.task);
  CHECK(job->context.deadline == job->context.release + 10ms);
  CHECK(machine.report(machine.task).jobs == 1);
  CHECK(machine.report(machine.task).dedicated_connection);
}

TEST_CASE("a job that comes before its time waits for it, on whichever way it came") {
  DirectMachine machine;
  const Time start = virtual_now;
  machine.arrive(1ms);
  machine.settle();
  const auto early = machine.arrive();
  const bool other_way = GENERATE(false, true);
  if (other_way) machine.source->jobs.pop_back();
  const auto job = other_way ? machine.send(machine.task, {}, machine.owner) : early;
  machine.settle();
  CHECK(job->runs == 0);
  CHECK(machine.thread_wakes_at() == start + 10ms);
  virtual_now = start + 10ms;
  machine.settle();
  CHECK(job->runs == 1);
  CHECK(job->context.release == start + 10ms);
}

TEST_CASE("a job that comes while its thread is kept from reading counts from then, and the next from a period later") {
  DirectMachine machine;
  const Time start = virtual_now;
  machine.source->kept_off = 3ms;
  const auto job = machine.arrive();
  CHECK(machine.step_thread());
  machine.source->kept_off = {};
  CHECK(job->context.release == start + 3ms);
  machine.arrive();
  machine.settle();
  CHECK(machine.thread_wakes_at() == start + 3ms + 10ms);
}

TEST_CASE("while one early job waits another is turned away") {
  DirectMachine machine;
  machine.arrive(1ms);
  machine.settle();
  const auto waits = machine.arrive(), refused = machine.arrive();
  machine.settle();
  CHECK(refused->over());
  CHECK(refused->refusal.code == sched::RefusalCode::job_waiting);
  CHECK(machine.report(machine.task).refused == 1);
  CHECK(machine.manager.report().jobs_refused == 1);
  machine.advance(10ms);
  CHECK(waits->runs == 1);
}

TEST_CASE("a connection that has come is looked at before the thread sleeps") {
  DedicatedReceiver receiver(make_contract(10ms, 1ms));
  CHECK(receiver.drained());
  REQUIRE(receiver.give(std::make_shared<TestSource>()));
  CHECK_FALSE(receiver.drained());
  receiver.lend();
  CHECK(receiver.drained());
  receiver.take_back();
  REQUIRE(receiver.give(std::make_shared<TestSource>()));
  CHECK_FALSE(receiver.drained());
}

TEST_CASE("jobs of the shared connection and of the own one are jobs of one task") {
  DirectMachine machine;
  const auto shared = machine.send(machine.task, 1ms, machine.owner);
  machine.settle();
  machine.advance(10ms);
  const auto own = machine.arrive(1ms);
  machine.settle();
  CHECK(shared->runs == 1);
  CHECK(own->runs == 1);
  CHECK(shared->context.job != own->context.job);
  CHECK(machine.report(machine.task).jobs == 2);
}

TEST_CASE("a task whose own connection ends lives on") {
  DirectMachine machine;
  const auto last = machine.arrive();
  machine.source->ended = true;
  machine.settle();
  CHECK(last->runs == 1);
  CHECK(machine.source->closings == 1);
  CHECK_FALSE(machine.report(machine.task).dedicated_connection);
  machine.advance(10ms);
  const auto shared = machine.send(machine.task, {}, machine.owner);
  machine.settle();
  CHECK(shared->runs == 1);
}

TEST_CASE("a task that moves takes its own connection with it") {
  DirectMachine machine(make_contract(10ms, 4ms, {}, 0ms), 2);
  REQUIRE(machine.report(machine.task).core == CoreId{0});
  (void)machine.admit(make_contract(10ms, 4ms));
  const auto candidate = machine.ask(make_contract(10ms, 9ms));  // fits if the two other tasks share a core
  machine.settle();
  REQUIRE(candidate->admission);
  machine.advance(10ms);
  const auto job = machine.arrive(1ms);
  machine.settle();
  CHECK(job->runs == 1);
  CHECK(job->context.core == machine.report(machine.task).core);
}

// Error paths.

TEST_CASE("a connection for a task that does not exist or belongs to another peer is closed") {
  DirectMachine machine;
  const auto other = std::make_shared<TestSource>();
  SECTION("not there") { machine.attach(TaskId{12345}, machine.owner, other); }
  SECTION("somebody else's") { machine.attach(machine.task, PeerId{10}, other); }
  CHECK(other->openings == 0);
  CHECK(other->closings == 1);
  CHECK(machine.source->openings == 1);
  CHECK(machine.source->closings == 0);
}

TEST_CASE("a task's newest connection replaces the one before, also one that was not read yet") {
  DirectMachine machine;
  const auto overtaken = std::make_shared<TestSource>(), newest = std::make_shared<TestSource>();
  machine.manager.attach(machine.task, machine.owner, overtaken);
  machine.attach(machine.task, machine.owner, newest);
  CHECK(overtaken->openings == 0);
  CHECK(overtaken->closings == 1);
  CHECK(newest->openings == 1);
  CHECK(newest->closings == 0);
  CHECK(machine.source->closings == 1);
}

TEST_CASE("a task whose own connection has ended takes another one") {
  DirectMachine machine;
  machine.source->ended = true;
  machine.settle();
  REQUIRE(machine.source->closings == 1);
  const auto other = std::make_shared<TestSource>();
  machine.attach(machine.task, machine.owner, other);
  CHECK(other->openings == 1);
  CHECK(other->closings == 0);
  CHECK(machine.source->closings == 1);
}

TEST_CASE("a client that sends what is no job uses what its budget leaves and no more") {
  DirectMachine machine(make_contract(10ms, 1ms, {}, 0ms));
  machine.source->noise = 1'000'000;
  machine.source->cost_of_a_read = 10us;
  machine.source->polls = 0;
  machine.settle();
  CHECK(machine.source->polls > 1);
  // Half of the budget is kept for the first job. The first read begins the account, and one read may exceed the limit.
  CHECK(machine.source->polls * 10us <= 500us + 2 * 10us);
  CHECK(machine.thread_wakes_at() > virtual_now);
  CHECK(machine.thread_wakes_at() <= virtual_now + 11ms);
}

TEST_CASE(
    "a client that floods its own connection is not read until its period is over, and jobs of the shared one run") {
  DirectMachine machine(make_contract(10ms, 1ms, {}, 0ms));
  machine.source->cost_of_a_read = 100us;
  for (int i = 0; i < 1000; ++i) (void)machine.arrive();
  machine.settle();
  CHECK(machine.source->jobs.size() > 900);
  while (machine.source->noise < 1 && machine.source->jobs.size() > 900) {
    const auto before = machine.source->jobs.size();
    machine.advance(10ms);
    CHECK(before - machine.source->jobs.size() <= 20);
  }
  CHECK(machine.report(machine.task).jobs > 5);
}

TEST_CASE("a small task reads a large message in pieces without being held back") {
  DirectMachine machine;
  machine.source->pieces = 100;
  machine.source->cost_of_a_read = 4us;
  const auto job = machine.arrive();
  machine.settle();
  CHECK(job->runs == 1);
}

TEST_CASE("the pieces of a request are of its job's budget") {
  DirectMachine machine(make_contract(10ms, 1ms, {}, 0ms));
  machine.arrive(100us);
  machine.settle();
  machine.advance(10ms);
  machine.source->pieces = 2;
  machine.source->cost_of_a_read = 200us;
  const Duration cost = GENERATE(400us, 401us);
  const auto job = machine.arrive(cost);
  machine.settle();
  CHECK(job->runs == 1);
  CHECK(machine.report(machine.task).overruns == (cost > 400us ? 1 : 0));
}

TEST_CASE("reading that brings no job is not charged to the next job") {
  DirectMachine machine(make_contract(10ms, 1ms, {}, 0ms));
  machine.arrive();
  machine.settle();
  machine.source->noise = 2;
  machine.source->cost_of_a_read = 400us;
  machine.settle();
  machine.source->cost_of_a_read = 0us;
  machine.advance(10ms);
  machine.arrive(900us);
  machine.settle();
  CHECK(machine.report(machine.task).jobs == 2);
  CHECK(machine.report(machine.task).overruns == 0);
}
