// Tests cores under SCHED_DEADLINE with a real kernel. The tests partition the cpusets of the whole machine, so they
// need a machine of their own. tests/vm provides one; elsewhere they are skipped.
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>

#include "orb/base/minor.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/job_source.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/machine/topology.h"
#include "orb/os/thread.h"
#include "orb/os/threads/deadline_class.h"
#include "orb/os/wait/wait.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using corelane::testing::Quiet;
using namespace std::chrono_literals;

namespace sched_deadline_cores_live {
namespace {

constexpr CoreId by_priorities{1}, by_kernel{2};
constexpr const char* cpusets = "/sys/fs/cgroup/cpuset";

bool has_own_machine() {
  const bool has = std::filesystem::exists("/corelane/command") && std::filesystem::exists(cpusets);  // machine.py
  if (!has) std::puts("SKIPPED: parts the cpusets (cgroup v1) of a whole machine, which has to be the test's own");
  return has;
}

void put(const std::string& file, const std::string& text) {
  std::ofstream out(cpusets + file);
  out << text << std::flush;
  if (!out) FAIL(file << " cannot be written: " << std::strerror(errno));
}

// Makes an exclusive cpuset for this process below a root that does not balance load, as corelane-reserved does.
void enter_own_cpuset() {
  std::filesystem::create_directory(std::string(cpusets) + "/ours");
  put("/ours/cpuset.cpus", "1-2");
  put("/ours/cpuset.mems", "0");
  put("/cpuset.cpu_exclusive", "1");
  put("/cpuset.sched_load_balance", "0");
  put("/ours/cpuset.cpu_exclusive", "1");
  put("/ours/cgroup.procs", std::to_string(getpid()));
}

bool has_deadline_class() { return (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == os::deadline_class; }

// Takes a core back when the test says so.
class RevocableCores final : public CoreProvider {
 public:
  explicit RevocableCores(const os::Topology& topology) : cores_(topology) {}
  Expected<std::vector<CoreLease>> lease(const LeaseRequest& request) override { return cores_.lease(request); }
  Expected<std::span<const Promise>> begin() noexcept override { return cores_.begin(); }
  Expected<void> end(std::span<const Promise> mine) noexcept override { return cores_.end(mine); }
  Expected<void> claim(std::span<const Promise> mine) noexcept override { return cores_.claim(mine); }
  void abandon() noexcept override { cores_.abandon(); }
  bool alone() const noexcept override { return cores_.alone(); }
  bool is_revoked(CoreId core) const noexcept override { return revoked == core.value; }
  void withdraw() noexcept override { cores_.withdraw(); }
  void maintain() noexcept override { cores_.maintain(); }

  std::atomic<std::int16_t> revoked{no_core.value};

 private:
  UnguardedCores cores_;
};

// A task's own connection. The test adds jobs, and a descriptor announces them.
class LiveSource final : public BoundSource {
 public:
  void opened() noexcept override {}
  Found poll(JobPtr& job, Time) noexcept override {
    std::uint64_t none = 0;
    if (::read(descriptor_.get(), &none, sizeof none) < 0) return Found::nothing;
    const std::lock_guard lock(mutex_);
    job = std::move(job_);
    return Found::job;
  }
  int descriptor() const noexcept override { return descriptor_.get(); }
  Time wake_at() const noexcept override { return never; }
  void lend() noexcept override { lent = true; }
  void take_back() noexcept override {}
  void close() noexcept override {}

  void put(JobPtr job) {
    const std::lock_guard lock(mutex_);
    job_ = std::move(job);
    const std::uint64_t one = 1;
    REQUIRE(::write(descriptor_.get(), &one, sizeof one) == sizeof one);
  }
  std::atomic<bool> lent{false};

 private:
  const os::Fd descriptor_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex_;
  JobPtr job_;  // guarded by mutex_
};

// A server with a core that runs under SCHED_DEADLINE. Its core scheduled by priorities is full or empty.
class Live {
 public:
  enum class ByPriorities : std::uint8_t { full, empty };
  explicit Live(ByPriorities load = ByPriorities::full) {
    enter_own_cpuset();
    ExecutiveOptions options;
    options.mode = DispatchMode::direct;
    options.platform = {};
    options.lease = {.cores = {by_priorities, by_kernel}, .siblings = true};
    options.deadline_cores = {by_kernel};
    options.deadline_policy = DeadlinePolicy::kernel;
    executive = *Executive::start(options, cores_);
    if (load == ByPriorities::full) filler = admit(10s, 9s).task;
  }
  ~Live() { executive->stop(); }

  NotAdmitted refused(Duration period, Duration budget) {
    auto answer = executive->admit_and_wait({.contract = plain(period, budget), .label = "task"});
    REQUIRE_FALSE(answer);
    return answer.error();
  }
  Admission admit(Duration period, Duration budget, OverrunPolicy policy = OverrunPolicy::report) {
    Contract contract = plain(period, budget);
    contract.on_overrun = policy;
    auto answer = executive->admit_and_wait({.contract = contract, .label = "task"});
    REQUIRE(answer);
    return *answer;
  }
  // Takes the core `from` back, and waits until the task runs on the other one.
  void drive_off(TaskId task, CoreId from) {
    cores_.revoked = from.value;
    while (core_of(task) == from) os::spin_pause();  // bound: the housekeeper
  }
  CoreId core_of(TaskId task) {
    for (const TaskReport& report : executive->snapshot().tasks)
      if (report.task == task) return report.core;
    FAIL("no such task");
    return no_core;
  }
  // Runs a job and waits for its end. `source`: the task's own connection, over which the job arrives.
  void run(TaskId task, std::function<void()> body, LiveSource* source = nullptr) {
    std::atomic<bool> over{false};
    JobPtr job(new ScriptedJob([&](ScriptedJob&) {
      body();
      over = true;
      over.notify_all();
    }));
    job->task = task;
    job->arrived = os::now();
    if (source) source->put(std::move(job));
    if (job) REQUIRE(executive->submit(job));
    over.wait(false);
  }

  std::unique_ptr<Executive> executive;
  TaskId filler = no_task;

 private:
  RevocableCores cores_{*os::Topology::detect()};
};

}  // namespace

TEST_CASE("kernel: a task of a core of its own domain runs there under SCHED_DEADLINE, from its first job on") {
  if (!has_own_machine()) return;
  const Quiet quiet;
  Live live;
  REQUIRE(live.executive->snapshot().cores[1].order == sched::CoreOrder::served);
  const Admission task = live.admit(100ms, 20ms);
  CHECK(task.core == by_kernel);
  for (int i = 0; i < 3; ++i)
    live.run(task.task, [] {
      CHECK(has_deadline_class());
      CHECK(os::current_core() == by_kernel);
    });
}

TEST_CASE(
    "kernel: a task that leaves its core goes on under the other core's class, and reads its own connection there") {
  if (!has_own_machine()) return;
  const Quiet quiet;
  const bool to_kernel = GENERATE(false, true);
  Live live(to_kernel ? Live::ByPriorities::empty : Live::ByPriorities::full);
  const Admission task = live.admit(100ms, 20ms);
  const CoreId from = to_kernel ? by_priorities : by_kernel, to = to_kernel ? by_kernel : by_priorities;
  REQUIRE(task.core == from);
  const auto own = std::make_shared<LiveSource>();
  live.executive->attach(task.task, {}, own);
  const auto check_on = [&](CoreId core) {
    CHECK(has_deadline_class() == (core == by_kernel));
    CHECK(os::current_core() == core);
  };
  for (int i = 0; i < 3; ++i)
    live.run(
        task.task, [&] { check_on(from); }, own.get());
  if (!to_kernel) live.executive->depart(live.filler);
  while (!to_kernel && live.executive->snapshot().cores[0].tasks > 0)
    os::spin_pause();  // bound: the core's idle instant
  live.drive_off(task.task, from);
  live.run(
      task.task, [] {}, own.get());  // it may have begun on the old core
  for (int i = 0; i < 3; ++i)
    live.run(
        task.task, [&] { check_on(to); }, own.get());
  live.run(task.task, [&] { check_on(to); });
  CHECK_FALSE(own->lent);
}

TEST_CASE("kernel: a job that overruns leaves SCHED_DEADLINE, and the next one has it again") {
  if (!has_own_machine()) return;
  const auto policy = GENERATE(OverrunPolicy::report, OverrunPolicy::demote);
  const Quiet quiet;
  Live live;
  const TaskId task = live.admit(100ms, 20ms, policy).task;
  for (int i = 0; i < 3; ++i)
    live.run(task, [] {
      CHECK(has_deadline_class());
      while (has_deadline_class()) os::spin_pause();  // bound: the budget
    });
  live.run(task, [] { CHECK(has_deadline_class()); });
}

TEST_CASE("kernel: tasks that come and go leave nothing behind in the kernel's books") {
  if (!has_own_machine()) return;
  const Quiet quiet;
  Live live;
  for (int i = 0; i < 20; ++i) {
    const TaskId task = live.admit(100ms, 70ms).task;
    live.run(task, [] { CHECK(has_deadline_class()); });
    live.executive->depart(task);
    while (live.executive->snapshot().cores[1].tasks > 0) os::spin_pause();  // bound: the core's idle instant
  }
}

TEST_CASE("kernel: bandwidth that another program has is a refusal, not an end") {
  if (!has_own_machine()) return;
  const Quiet quiet;
  Live live;
  std::atomic<bool> has{false}, may_end{false};
  auto other = os::start_thread({.name = "other", .core = by_kernel}, [&]() noexcept {
    has = os::enter_deadline_class(gettid(), {60ms, 100ms}) == os::DeadlineRefusal::none;
    has.notify_all();
    may_end.wait(false);
    os::leave_deadline_class();
  });
  has.wait(false);
  const NotAdmitted why = live.refused(100ms, 50ms);
  const Error* error = std::get_if<Error>(&why);
  REQUIRE(error != nullptr);
  CHECK(error->minor == minor::no_real_time);
  may_end = true;
  may_end.notify_all();
  other->join();
  const TaskId task = live.admit(100ms, 50ms).task;
  live.run(task, [] { CHECK(has_deadline_class()); });
}

TEST_CASE("kernel: a cpuset that was parted for a server balances again when that ends") {
  if (!has_own_machine()) return;
  const Quiet quiet;
  { const Live live; }
  std::ifstream in(std::string(cpusets) + "/ours/cpuset.sched_load_balance");
  int balances = 0;
  in >> balances;
  CHECK(balances == 1);
  CHECK_FALSE(std::filesystem::exists(std::string(cpusets) + "/ours/corelane-core-2"));
}

}  // namespace sched_deadline_cores_live
