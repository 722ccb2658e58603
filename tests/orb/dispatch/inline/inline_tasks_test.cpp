// Tests the executive in mode `leader-followers`: jobs run where they arrive.
#include <pthread.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/base/peer.h"
#include "orb/dispatch/current.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/job_source.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/machine/topology.h"
#include "orb/os/privileges.h"
#include "orb/os/thread.h"
#include "orb/os/threads/deferral.h"
#include "orb/os/wait/wait.h"
#include "tests/support/system/captured_errors.h"

namespace inline_tasks_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

// Provides no cores: this mode leases none.
class NoCores final : public CoreProvider {
 public:
  Expected<std::vector<CoreLease>> lease(const LeaseRequest&) override { return nothing; }
  Expected<std::span<const Promise>> begin() noexcept override { return nothing; }
  Expected<void> end(std::span<const Promise>) noexcept override { return nothing; }
  Expected<void> claim(std::span<const Promise>) noexcept override { return nothing; }
  void abandon() noexcept override {}
  bool alone() const noexcept override { return true; }
  void withdraw() noexcept override {}
  void maintain() noexcept override {}

 private:
  static constexpr Error nothing{.kind = ErrorKind::no_resources, .minor = minor::no_core_leased};
};

// What became of a job.
struct Outcome {
  std::optional<JobContext> ran;
  std::thread::id thread;
  std::optional<sched::RefusalCode> refused;
  std::optional<Error> failed;
  bool recycled = false;
};

class TellingJob final : public Job {
 public:
  TellingJob(Outcome& outcome, std::function<void()> work) : outcome_(outcome), work_(std::move(work)) {}
  void run(const JobContext& context) noexcept override {
    outcome_.ran = context;
    outcome_.thread = std::this_thread::get_id();
    if (work_) work_();
  }
  void refuse(const sched::Refusal& refusal) noexcept override { outcome_.refused = refusal.code; }
  void fail(Error error) noexcept override { outcome_.failed = error; }
  void recycle() noexcept override {
    outcome_.recycled = true;
    delete this;
  }

 private:
  Outcome& outcome_;
  const std::function<void()> work_;
};

ExecutiveOptions leader_followers() {
  ExecutiveOptions options;
  options.mode = DispatchMode::leader_followers;
  options.real_time = false;
  return options;
}

struct Followers {
  explicit Followers(const ExecutiveOptions& options = leader_followers()) {
    os::log::set_level(os::log::Level::off);
    executive = std::move(*Executive::start(options, cores));
    os::log::set_level(os::log::Level::info);
  }
  Expected<Admission, NotAdmitted> admit(const Contract& contract, PeerId owner = {}) {
    return executive->admit_and_wait({.contract = contract, .owner = owner, .label = "task"});
  }
  sched::RefusalCode refused(const Contract& contract) {
    return std::get<sched::Refusal>(admit(contract).error()).code;
  }
  Outcome submit(TaskId task, PeerId owner = {}, std::optional<Contract> contract = {},
                 std::function<void()> work = {}) {
    Outcome outcome;
    JobPtr job(new TellingJob(outcome, std::move(work)));
    job->task = task, job->owner = owner, job->contract = contract, job->label = "new", job->arrived = os::now();
    accepted = executive->submit(job).has_value();
    return outcome;
  }
  TaskReport task(TaskId id) {
    for (const TaskReport& report : executive->snapshot().tasks)
      if (report.task == id) return report;
    return {};
  }

  NoCores cores;
  std::unique_ptr<Executive> executive;
  bool accepted = false;
};

// Returns the SCHED_FIFO level of the calling thread; 0: SCHED_OTHER.
int fifo_level() {
  sched_param parameters{};
  int policy = -1;
  pthread_getschedparam(pthread_self(), &policy, &parameters);
  return (policy & ~SCHED_RESET_ON_FORK) == SCHED_FIFO ? parameters.sched_priority : 0;
}

// Returns a first and a second core; says why the test is skipped if there is only one.
std::vector<CoreId> two_cores() {
  std::vector<CoreId> cores;
  const auto topology = os::Topology::detect();
  for (const os::CoreInfo& core : topology->cores()) cores.push_back(core.core);
  if (cores.size() < 2) std::cout << "SKIPPED: a thread can move only if there are two cores\n";
  cores.resize(cores.size() < 2 ? 0 : 2);
  return cores;
}

ExecutiveOptions allocated(const std::vector<CoreId>& cores, std::string_view strategy = "worst-fit") {
  ExecutiveOptions options = leader_followers();
  options.follower_cores = cores;
  options.allocation = find_named(sched::allocation_strategies(), strategy);
  return options;
}

// Calls the function on a thread that is bound to the core.
void on_core(CoreId core, std::function<void()> function) {
  auto thread = os::start_thread({.name = "test", .core = core}, std::move(function));
  REQUIRE(thread);
  thread->join();
}

Contract every(Duration period) { return make_contract(period, period / 10); }

}  // namespace

TEST_CASE("the log tells of late jobs though nothing is promised, and at the end of what it has not told") {
  const testing::CapturedErrors log;
  {
    Followers followers;
    const auto admission = followers.admit(every(10ms));
    REQUIRE(admission);
    const auto be_late = [&] {
      followers.submit(admission->task, {}, {}, [] {
        for (const Time begin = os::now(); os::now() - begin <= 10ms;) continue;
      });
    };
    be_late();
    while (log.times("1 deadline was missed") == 0) std::this_thread::yield();  // bound: the housekeeper
    CHECK(log.times("; corelane top counts them while their tasks are here, and nothing records what led there") == 1);
    be_late();
    be_late();
  }
  CHECK(log.times("2 deadlines were missed") == 1);
}

TEST_CASE("a job runs on the thread that brings it and before submit returns") {
  Followers followers;
  const auto admission = followers.admit(every(10ms));
  REQUIRE(admission);
  const Outcome outcome = followers.submit(admission->task);
  REQUIRE(outcome.ran);
  CHECK(outcome.thread == std::this_thread::get_id());
  CHECK(outcome.recycled);
  CHECK(outcome.ran->task == admission->task);
  CHECK(outcome.ran->deadline == outcome.ran->release + 10ms);
  CHECK(outcome.ran->budget == 1ms);
}

TEST_CASE("a job without a task runs where it arrives and has no deadline") {
  Followers followers;
  const Outcome outcome = followers.submit(no_task);
  REQUIRE(outcome.ran);
  CHECK(outcome.thread == std::this_thread::get_id());
  CHECK(outcome.ran->deadline == never);
  CHECK(followers.executive->snapshot().best_effort_jobs == 1);
}

TEST_CASE("on a real-time thread a job of a task has its level and one without a task is ordinary") {
  if (!os::privileges().fifo) return void(std::cout << "SKIPPED: no privilege for SCHED_FIFO\n");
  ExecutiveOptions options = leader_followers();
  options.real_time = true;
  Followers followers(options);
  const TaskId task = followers.admit(every(10ms))->task;
  int of_task = -1, ordinary = -1, after = -1;
  auto thread = os::start_thread({.name = "test", .fifo_priority = 49}, [&] {
    followers.submit(task, {}, {}, [&] { of_task = fifo_level(); });
    followers.submit(no_task, {}, {}, [&] { ordinary = fifo_level(); });
    after = fifo_level();
  });
  REQUIRE(thread);
  thread->join();
  CHECK(of_task >= options.lowest_native);
  CHECK(of_task < options.highest_native);
  CHECK(ordinary == 0);
  CHECK(after == 49);
}

TEST_CASE("a job of a task learns which job it is and one without a task is none") {
  Followers followers;
  const TaskId task = followers.admit(every(10ms))->task;
  TaskId seen{}, ordinary{1};
  followers.submit(task, {}, {}, [&] { seen = current_job()->context.task; });
  followers.submit(no_task, {}, {}, [&] { ordinary = current_job() == nullptr ? no_task : task; });
  CHECK(seen == task);
  CHECK(ordinary == no_task);
}

TEST_CASE("a thread of the pool moves to the core of the task whose job it runs, and stays there") {
  const std::vector<CoreId> cores = two_cores();
  if (cores.empty()) return;
  Followers followers(allocated(cores));
  REQUIRE(followers.admit(every(10ms)));
  const auto second = followers.admit(every(10ms));
  REQUIRE(second);
  CHECK(second->core == cores[1]);
  CoreId during = no_core, after = no_core;
  on_core(cores[0], [&] {
    Outcome outcome;
    {
      const os::Deferral as_in_the_pool;
      JobPtr job(new TellingJob(outcome, [&] { during = os::current_core(); }));
      job->task = second->task, job->arrived = os::now();
      (void)followers.executive->submit(job);
    }
    after = os::current_core();
    CHECK(outcome.ran->core == cores[1]);
  });
  CHECK(during == cores[1]);
  CHECK(after == cores[1]);
}

TEST_CASE("a thread that is not the pool's runs a job where it is, whatever core the task has") {
  const std::vector<CoreId> cores = two_cores();
  if (cores.empty()) return;
  Followers followers(allocated({cores[1]}));
  const auto admission = followers.admit(every(10ms));
  REQUIRE(admission);
  Outcome outcome;
  on_core(cores[0], [&] { outcome = followers.submit(admission->task); });
  REQUIRE(outcome.ran);
  CHECK(outcome.ran->core == cores[0]);
}

// Cores that no machine has: nothing is bound to them.
TEST_CASE("a task is allocated once, and its core has room again when it leaves") {
  const CoreId first{4000}, second{4001};
  Followers followers(allocated({first, second}));
  const auto long_one = followers.admit(make_contract(10ms, 5ms));
  CHECK(long_one->core == first);
  CHECK(followers.admit(every(10ms))->core == second);
  CHECK(followers.admit(every(10ms))->core == second);
  followers.executive->depart(long_one->task);
  CHECK(followers.admit(every(10ms))->core == first);
  CHECK(followers.task(long_one->task).core == first);
}

TEST_CASE("the strategy of dispatch.allocation chooses the core") {
  const CoreId first{4000}, second{4001};
  Followers followers(allocated({first, second}, "first-fit"));
  CHECK(followers.admit(make_contract(10ms, 5ms))->core == first);
  CHECK(followers.admit(make_contract(10ms, 5ms))->core == first);
  CHECK(followers.admit(make_contract(10ms, 5ms))->core == second);
}

TEST_CASE("without cores for its tasks a server reports no core") {
  Followers followers;
  CHECK(followers.admit(every(10ms))->core == no_core);
}

TEST_CASE("an internal job runs on a thread that serves no request") {
  Followers followers;
  Outcome outcome;
  os::Parker parker;
  JobPtr job(new TellingJob(outcome, [&] {
    CHECK(fifo_level() == 0);
    parker.unpark();
  }));
  job->is_internal = true;
  CHECK(followers.executive->submit(job));
  CHECK(parker.park(never));
  followers.executive->stop();  // waits for the thread that runs the job
  CHECK(outcome.thread != std::this_thread::get_id());
  CHECK(outcome.recycled);
}

TEST_CASE("the report says that nothing is promised") { CHECK_FALSE(Followers().executive->snapshot().promises); }

TEST_CASE("without admission every task is admitted, however little room there is") {
  Followers followers;
  for (int i = 0; i < 50; ++i) CHECK(followers.admit(make_contract(10ms, 10ms)));
  CHECK(followers.executive->snapshot().admitted == 50);
}

TEST_CASE("the first job of a new task runs as a job of it") {
  Followers followers;
  const Outcome outcome = followers.submit(no_task, {}, every(10ms));
  REQUIRE(outcome.ran);
  CHECK(outcome.ran->task != no_task);
  CHECK(followers.task(outcome.ran->task).label == "new");
  CHECK(followers.task(outcome.ran->task).jobs == 1);
}

TEST_CASE("shorter deadlines have higher priorities whatever the order of admission") {
  Followers followers;
  std::vector<TaskId> tasks;
  for (const auto period : {20ms, 5ms, 40ms, 10ms}) tasks.push_back(followers.admit(every(period))->task);
  const auto priority = [&](int i) { return followers.task(tasks[static_cast<std::size_t>(i)]).priority; };
  CHECK(priority(1) > priority(3));
  CHECK(priority(3) > priority(0));
  CHECK(priority(0) > priority(2));
}

TEST_CASE("misses and overruns are counted and not prevented") {
  Followers followers;
  const auto admission = followers.admit({.period = 1ns, .deadline = 1ns, .budget = 1ns, .jitter = 0ns});
  REQUIRE(admission);
  followers.submit(admission->task);
  const TaskReport report = followers.task(admission->task);
  CHECK(report.misses == 1);
  CHECK(report.overruns == 1);
  CHECK(report.latest_misses.size() == 1);
}

TEST_CASE("jobs of one task may run at once and all are counted") {
  Followers followers;
  const TaskId task = followers.admit(every(10ms))->task;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) {
          Outcome outcome;
          JobPtr job(new TellingJob(outcome, {}));
          job->task = task, job->arrived = os::now();
          (void)followers.executive->submit(job);
        }
      });
  }
  CHECK(followers.task(task).jobs == 2000);
}

TEST_CASE("tasks leave alone or with their peer and are remembered") {
  Followers followers;
  const TaskId first = followers.admit(every(10ms), PeerId{1})->task,
               second = followers.admit(every(10ms), PeerId{1})->task;
  followers.executive->depart(first, PeerId{2});
  CHECK_FALSE(followers.task(first).gone);
  followers.executive->depart(first, PeerId{1});
  CHECK(followers.task(first).gone);
  followers.executive->peer_gone(PeerId{1});
  CHECK(followers.task(second).gone);
}

// Error paths.

TEST_CASE("a strategy that regards caches is refused, because no caches are known here") {
  NoCores cores;
  const testing::CapturedErrors log;
  const auto executive = Executive::start(allocated({CoreId{0}}, "cache-aware"), cores);
  REQUIRE_FALSE(executive);
  CHECK(executive.error().minor == minor::bad_option);
  CHECK(log.times("dispatch.allocation = cache-aware needs dispatch.mode manager or direct") == 1);
}

TEST_CASE("a task is its owner's alone") {
  Followers followers;
  const TaskId task = followers.admit(every(10ms), PeerId{1})->task;
  CHECK(followers.submit(task, PeerId{2}).failed->minor == minor::unknown_task);
  CHECK(followers.submit(task, PeerId{1}).ran);
}

TEST_CASE("a job of a task that was not admitted fails") {
  Followers followers;
  CHECK(followers.submit(TaskId{77}).failed->minor == minor::unknown_task);
}

TEST_CASE("contracts that cannot be kept are refused here too") {
  Followers followers;
  Contract cancelling = every(10ms);
  cancelling.on_overrun = OverrunPolicy::cancel;
  CHECK(followers.refused(cancelling) == sched::RefusalCode::overrun_policy);
  CHECK(followers.refused({.period = 1ms, .deadline = 1ms, .budget = 2ms}) == sched::RefusalCode::bad_contract);
  CHECK(*followers.submit(no_task, {}, cancelling).refused == sched::RefusalCode::overrun_policy);
  const ExecutiveReport report = followers.executive->snapshot();
  CHECK(report.refused == 3);
  REQUIRE_FALSE(report.refusals.empty());
  CHECK(report.refusals[0].why.code == sched::RefusalCode::overrun_policy);
}

TEST_CASE("a full table refuses until a task leaves") {
  ExecutiveOptions small = leader_followers();
  small.max_tasks = 2;
  Followers followers(small);
  const TaskId first = followers.admit(every(10ms))->task;
  CHECK(followers.admit(every(10ms)));
  CHECK(followers.refused(every(10ms)) == sched::RefusalCode::too_many_tasks);
  followers.executive->depart(first);
  CHECK(followers.admit(every(10ms)));
}

TEST_CASE("a peer gets as many tasks as one peer may have, half of the table unless it is said") {
  const auto [said, most] =
      GENERATE(std::pair<std::optional<std::size_t>, int>{std::nullopt, 2},
               std::pair<std::optional<std::size_t>, int>{1, 1}, std::pair<std::optional<std::size_t>, int>{0, 4});
  ExecutiveOptions small = leader_followers();
  small.max_tasks = 4;
  small.peer_tasks = said;
  Followers followers(small);
  const auto ask = [&](PeerId peer) {
    return followers.executive->admit_and_wait({.contract = every(10ms), .owner = peer, .label = "step"});
  };
  for (int i = 0; i < most; ++i) CHECK(ask(peer_of(1 + static_cast<std::uint64_t>(i), 5)));
  const auto refused = ask(peer_of(9, 5));
  REQUIRE_FALSE(refused);
  CHECK((std::get<sched::Refusal>(refused.error()).code == sched::RefusalCode::peer_limit) == (most < 4));
  CHECK(ask(peer_of(10, 6)).has_value() == (most < 4));
}

TEST_CASE("a source of jobs is closed at once since no thread is a task's own") {
  struct Source final : JobSource {
    PeerId connection() const noexcept override { return PeerId{1}; }
    bool comes_back() const noexcept override { return false; }
    void opened() noexcept override {}
    Found poll(JobPtr&, Time) noexcept override { return Found::nothing; }
    int descriptor() const noexcept override { return -1; }
    Time wake_at() const noexcept override { return never; }
    void lend() noexcept override {}
    void take_back() noexcept override {}
    void close() noexcept override { closed = true; }
    bool closed = false;
  };
  Followers followers;
  const auto source = std::make_shared<Source>();
  followers.executive->attach(followers.admit(every(10ms))->task, {}, source);
  CHECK(source->closed);
}

TEST_CASE("after the stop nothing is taken and the job stays with its owner") {
  Followers followers;
  const TaskId task = followers.admit(every(10ms))->task;
  followers.executive->stop();
  const Outcome outcome = followers.submit(task);
  CHECK_FALSE(followers.accepted);
  CHECK_FALSE(outcome.ran);
  CHECK_FALSE(followers.admit(every(10ms)));
}

}  // namespace inline_tasks_test
