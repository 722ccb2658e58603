// Cores under SCHED_DEADLINE on a real kernel: on a machine that is the test's own, since it parts the cpusets of all
// of it. tests/vm runs it; elsewhere it is skipped.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "orb/base/minor.h"
#include "orb/dispatch/executive.h"
#include "orb/os/clock.h"
#include "orb/os/deadline_class.h"
#include "orb/os/thread.h"
#include "orb/os/topology.h"
#include "orb/os/wait.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using corelane::testing::Quiet;
using namespace std::chrono_literals;

namespace kernel_cores_live {
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

// What corelane-reserved does: an exclusive cpuset for this process below a root that does not balance.
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

// A server whose core by deadlines runs under SCHED_DEADLINE. The core by priorities is full.
class Live {
 public:
  Live() {
    enter_own_cpuset();
    ExecutiveOptions options;
    options.platform = {};
    options.lease = {.cores = {by_priorities, by_kernel}, .siblings = true};
    options.deadline_cores = {by_kernel};
    options.deadline_policy = DeadlinePolicy::kernel;
    executive = *Executive::start(options, cores_);
    (void)admit(10s, 9s);
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
  // Waits for its end.
  void run(TaskId task, std::function<void()> body) {
    std::atomic<bool> over{false};
    JobPtr job(new ScriptedJob([&](ScriptedJob&) {
      body();
      over = true;
      over.notify_all();
    }));
    job->task = task;
    job->arrived = os::now();
    REQUIRE(executive->submit(job));
    over.wait(false);
  }

  std::unique_ptr<Executive> executive;

 private:
  UnguardedCores cores_{*os::Topology::detect()};
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

}  // namespace kernel_cores_live
