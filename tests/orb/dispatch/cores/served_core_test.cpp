// Tests a core whose tasks run under the kernel's SCHED_DEADLINE: which share a task's thread has, when it has none,
// and that the task reads its own connection. A server that cannot have such a core says so and uses priority levels.
#include "orb/dispatch/executive.h"
#include "orb/os/machine/topology.h"
#include "orb/sched/servers/task_server.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using corelane::testing::Quiet;
using namespace std::chrono_literals;

namespace served_core {
namespace {

constexpr CoreId served{1};
constexpr os::DeadlineShare none{};

ExecutiveOptions second_served() {
  ExecutiveOptions options = bare_options();
  options.deadline_cores = options.served_cores = {served};
  return options;
}

class Alarm final : public BudgetAlarm {
 public:
  void set(Time at) noexcept override { due = at; }
  Time due = never;
};

// Two cores. The one scheduled by priorities is full, so all other tasks go to the other one.
class ServedCore : public Machine {
 public:
  explicit ServedCore(OverrunPolicy policy = OverrunPolicy::report)
      : Machine(2, second_served()), full(admit(plain(10ms, 9500us))), contract(plain(20ms, 2ms)) {
    contract.on_overrun = policy;
    task = admit(contract);
    pool().watch_budgets(&alarm);
  }
  ~ServedCore() { pool().watch_budgets(nullptr); }

  CorePool& pool() { return *manager.pools()[1]; }
  NoThreads::Made& thread_of(TaskId which) {
    for (const auto& thread : threads.threads)
      if (thread->worker->task() == which) return *thread;
    FAIL("no thread of task " << which.value);
    return *threads.threads[0];
  }
  ThreadPlacement placement() { return thread_of(task).placement; }
  os::DeadlineShare share() const {
    const sched::Reservation server = sched::task_server_of(contract);
    return {server.budget, server.period};
  }
  // Runs a job of the task that uses that much, and returns its thread's placement at the end of the job.
  ThreadPlacement placement_after(Duration used) {
    ThreadPlacement seen;
    JobPtr job(new ScriptedJob([&](ScriptedJob&) {
      virtual_now += used, virtual_cpu += used;
      if (alarm.due <= virtual_now) pool().check_budget(virtual_now);
      seen = placement();
    }));
    job->task = task;
    job->arrived = virtual_now;
    REQUIRE(manager.submit(job) == Pushed::done);
    settle();
    return seen;
  }

  Alarm alarm;
  TaskId full;
  Contract contract;
  TaskId task;
};

class Source final : public BoundSource {
 public:
  void opened() noexcept override { ++openings; }
  Found poll(JobPtr&, Time) noexcept override { return Found::nothing; }
  int descriptor() const noexcept override { return -1; }
  Time wake_at() const noexcept override { return never; }
  void lend() noexcept override { ++lendings; }
  void take_back() noexcept override {}
  void close() noexcept override {}
  int openings = 0, lendings = 0;
};

}  // namespace

TEST_CASE("a task of a served core has its server's share before its first job, and keeps it from job to job") {
  ServedCore core;
  CHECK(core.placement().core == served);
  CHECK(core.placement().share == core.share());
  CHECK(core.placement_after(1ms).share == core.share());
  core.advance(20ms);
  CHECK(core.placement_after(1ms).share == core.share());
  CHECK(core.report(core.task).bound == 20ms);
  CHECK(core.manager.report().cores[1].order == sched::CoreOrder::served);
}

TEST_CASE("on a served core a task reads its own connection") {
  ServedCore core;
  const auto source = std::make_shared<Source>();
  core.manager.attach(core.task, {}, source);
  core.settle();
  CHECK(source->openings == 1);
  CHECK(source->lendings == 0);
  CHECK(core.report(core.task).dedicated_connection);
}

TEST_CASE("a served job that has used its budget leaves the class until it ends, whatever the policy is") {
  const OverrunPolicy policy = GENERATE(OverrunPolicy::report, OverrunPolicy::demote, OverrunPolicy::cancel);
  ServedCore core(policy);
  const ThreadPlacement after = core.placement_after(3ms);
  CHECK(after.share == none);
  CHECK((after.native > 0) == (policy == OverrunPolicy::report));
  CHECK(core.placement().share == core.share());
  CHECK(core.report(core.task).overruns == 1);
}

TEST_CASE("a share that the kernel refused is asked for again whenever the thread wakes") {
  ServedCore core(OverrunPolicy::demote);
  core.thread_of(core.task).refuses_shares = true;
  core.placement_after(3ms);
  CHECK(core.placement().share == none);
  CHECK(core.placement().native > 0);
  core.thread_of(core.task).refuses_shares = false;
  core.advance(60ms);
  CHECK(core.placement_after(1ms).share == core.share());
}

TEST_CASE("a task that leaves a served core runs by priorities, and one that comes there gets its share") {
  const Quiet quiet;
  const bool leaves = GENERATE(true, false);
  Machine machine(2, second_served());
  const TaskId a = machine.admit(plain(10ms, 2ms)), b = machine.admit(plain(20ms, 2ms));
  const CoreId lost = leaves ? served : CoreId{0};
  machine.provider().revoked.push_back(lost);
  virtual_now += CoreWatch::period;
  machine.settle();
  for (const TaskId task : {a, b}) {
    const auto fate = machine.send(task, 1ms);
    machine.settle();
    CHECK(fate->runs == 1);
    CHECK(fate->context.core != lost);
  }
  for (const auto& thread : machine.threads.threads) CHECK((thread->placement.share == none) == leaves);
}

TEST_CASE("a core that cannot have the kernel's own policy runs by levels, and says why") {
  const Quiet quiet;
  UnguardedCores cores(*os::Topology::detect());
  const auto leases = *cores.lease({.cores = {}, .siblings = true});
  if (leases.size() < 2) {
    std::puts("SKIPPED: a core by deadlines needs a second one by priorities");
    return;
  }
  ExecutiveOptions options;
  options.lease = {.cores = {leases[0].core, leases[1].core}, .siblings = true};
  options.deadline_cores = {leases[1].core};
  options.deadline_policy = DeadlinePolicy::kernel;
  options.real_time = false;  // off, whatever the machine would grant
  auto executive = *Executive::start(options, cores);
  CHECK(executive->snapshot().cores[1].order == sched::CoreOrder::deadline);
  executive->stop();
}

}  // namespace served_core
