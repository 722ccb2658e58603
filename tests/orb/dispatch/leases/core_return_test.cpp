// Tests the return of a lost core: how it is noticed, when it is used again, and that threads are bound to it.
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

#include "orb/dispatch/leases/core_watch.h"
#include "orb/os/clock.h"
#include "orb/os/machine/cpu_mask.h"
#include "orb/os/machine/topology.h"
#include "orb/os/privileges.h"
#include "orb/os/wait/wait.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"
#include "tests/support/system/captured_errors.h"

namespace core_return_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using corelane::testing::CapturedErrors;
using corelane::testing::Quiet;
using namespace std::chrono_literals;

namespace {

constexpr CoreId first{0}, second{1};

// The affinity at the start. Later a test binds its own thread, as the manager does when it moves to another core.
const os::CpuMask at_start = os::process_affinity();

bool is_there[2];
bool there(CoreId core) noexcept { return is_there[core.value]; }

// A watch of two cores, which are both usable at first.
struct Watch {
  Quiet quiet;
  os::Parker parker;
  NoteInbox inbox{4, parker};
  FakeProvider provider;
  CoreWatch watch{{{.core = first}, {.core = second}}, provider, inbox, there};
  Time now{1s};
  int rebound = 0;

  Watch() {
    is_there[0] = is_there[1] = true;
    watch.on_return([this] { ++rebound; });
    watch.step(now);
  }
  // Returns the notes as text, in their order: "-0 +1" means that core 0 was lost and core 1 returned.
  std::string after(Duration time) {
    for (const Time end = now + time; now < end;) watch.step(now += CoreWatch::period);
    std::vector<Note> notes;
    inbox.drain(notes);
    std::string text;
    for (const Note& note : notes) {
      if (const auto* gone = std::get_if<sched::CoreLost>(&note)) text += " -" + std::to_string(gone->core.value);
      if (const auto* back = std::get_if<sched::CoreReturned>(&note)) text += " +" + std::to_string(back->core.value);
    }
    return text.empty() ? text : text.substr(1);
  }
};

// The test's thread acts as manager and housekeeper. If it were bound to one core, it would not see another one return.
ExecutiveOptions unbound() {
  ExecutiveOptions options = bare_options();
  options.real_time = false;
  return options;
}

void move(Machine& machine, CoreId core, bool away) {
  auto& revoked = machine.provider().revoked;
  away ? revoked.push_back(core) : static_cast<void>(std::erase(revoked, core));
  for (Duration passed{}; passed <= CoreWatch::patience; passed += CoreWatch::period) {
    virtual_now += CoreWatch::period;
    machine.decide();  // the housekeeper notices
    machine.decide();
  }
}
void lose(Machine& machine, CoreId core) { move(machine, core, true); }
void give_back(Machine& machine, CoreId core) { move(machine, core, false); }

CoreId core_of(Machine& machine, TaskId task) { return machine.report(task).core; }

}  // namespace

// Noticing the return.

TEST_CASE("a core that can be used again for a while has returned, and may be lost again") {
  Watch w;
  for (int round = 0; round < 3; ++round) {
    is_there[0] = false;
    CHECK(w.after(1s) == "-0");
    is_there[0] = true;
    CHECK(w.after(CoreWatch::patience) == "");
    CHECK(w.after(CoreWatch::period) == "+0");
    CHECK(w.rebound == round + 1);
  }
}

TEST_CASE("a core that can be used for a moment only has not returned") {
  Watch w;
  is_there[1] = false;
  CHECK(w.after(1s) == "-1");
  for (int i = 0; i < 5; ++i) {
    is_there[1] = true;
    CHECK(w.after(CoreWatch::patience) == "");
    is_there[1] = false;
    CHECK(w.after(CoreWatch::period) == "");
  }
  CHECK(w.rebound == 0);
}

TEST_CASE("a process that goes from core to core uses each as it comes") {
  Watch w;
  is_there[0] = false;  // the mask goes from 0-1 to 1
  CHECK(w.after(1s) == "-0");
  is_there[0] = true, is_there[1] = false;  // to 0
  const std::string both = w.after(1s);
  CHECK((both == "+0 -1" || both == "-1 +0"));
  is_there[1] = true;  // to 0-1
  CHECK(w.after(1s) == "+1");
}

TEST_CASE("a core that its lender took back and lends again has returned") {
  Watch w;
  w.provider.revoked = {first};
  CHECK(w.after(1s) == "-0");
  w.provider.revoked.clear();
  is_there[0] = false;  // leased again, but not usable yet
  CHECK(w.after(1s) == "");
  is_there[0] = true;
  CHECK(w.after(1s) == "+0");
}

TEST_CASE("a core by the kernel's own policy stays lost, and the log says so once") {
  Watch w;
  const CapturedErrors log;
  os::log::set_level(os::log::Level::info);
  w.watch.keep_lost({first});
  is_there[0] = is_there[1] = false;
  CHECK(w.after(1s) == "-0 -1");
  is_there[0] = is_there[1] = true;
  CHECK(w.after(5s) == "+1");
  CHECK(log.times("core 0 may be used again, but its share of SCHED_DEADLINE is gone") == 1);
  CHECK(log.times("core 1 is back") == 1);
}

// Deciding.

TEST_CASE("new tasks go to a core that returned, and the threads of tasks are bound anew") {
  Quiet quiet;
  Machine machine(2, unbound());
  const TaskId stays = machine.admit(plain(100ms, 50ms));
  lose(machine, second);
  (void)machine.refused(plain(100ms, 60ms));
  give_back(machine, second);
  CHECK_FALSE(machine.manager.report().cores[1].lost);
  const TaskId goes = machine.admit(plain(100ms, 60ms));
  CHECK(core_of(machine, goes) == second);
  CHECK(core_of(machine, stays) == first);
  CHECK(machine.threads.threads[0]->rebound == 1);
  const auto fate = machine.send(goes);
  machine.settle();
  CHECK(fate->runs == 1);
  CHECK(fate->context.core == second);
}

TEST_CASE("a server whose cores go one after the other and return loses no contract that has room") {
  Quiet quiet;
  Machine machine(2, unbound());
  const TaskId task = machine.admit(plain(100ms, 40ms));
  lose(machine, first);  // the mask goes from 0-1 to 1
  CHECK(core_of(machine, task) == second);
  give_back(machine, first);  // to 0, by way of 0-1
  CHECK_FALSE(machine.manager.report().cores[0].lost);
  lose(machine, second);
  CHECK(machine.manager.report().cores[1].lost);
  CHECK_FALSE(machine.manager.report().cores[0].lost);
  CHECK(core_of(machine, task) == first);
  give_back(machine, second);  // to 0-1
  CHECK_FALSE(machine.report(task).gone);
  CHECK(core_of(machine, machine.admit(plain(100ms, 90ms))) == second);
  const auto fate = machine.send(task);
  machine.settle();
  CHECK(fate->runs == 1);
}

TEST_CASE("a server that had lost all cores serves again with the first that returns") {
  Quiet quiet;
  Machine machine(2, unbound());
  machine.admit(plain(100ms, 40ms));
  lose(machine, first);
  lose(machine, second);
  CHECK(machine.refused(plain(100ms, 1ms)).code == sched::RefusalCode::no_core);
  give_back(machine, second);
  const TaskId task = machine.admit(plain(100ms, 40ms));
  machine.advance(1s);
  CHECK(core_of(machine, task) == second);
  for (const Promise& promise : machine.provider().mine) CHECK(promise.core == second);
}

TEST_CASE("a core that returned is used once the last job of a task that had to end is over") {
  Quiet quiet;
  Machine machine(1, unbound());
  const TaskId task = machine.admit(plain(100ms, 40ms));
  const auto runs = machine.send(task);
  machine.decide();  // the job is ready, but has not begun
  lose(machine, first);
  give_back(machine, first);
  CHECK(machine.manager.report().cores[0].lost);
  CHECK(machine.refused(plain(100ms, 1ms)).code == sched::RefusalCode::no_core);
  machine.settle();
  CHECK(runs->runs == 1);
  machine.advance(2s);
  CHECK_FALSE(machine.manager.report().cores[0].lost);
  machine.admit(plain(100ms, 40ms));
}

TEST_CASE("a core that returned is used again, even if the only job that ran there had moved away") {
  Quiet quiet;
  Machine machine(2, unbound());
  Contract important = plain(100ms, 40ms);
  important.importance = 1;
  const TaskId ends = machine.admit(important);
  machine.admit(plain(100ms, 65ms));
  const TaskId moves = machine.admit(plain(100ms, 30ms));
  machine.send(moves);
  machine.decide();  // the job is ready, but has not begun
  lose(machine, first);
  CHECK(machine.report(ends).gone);
  CHECK(core_of(machine, moves) == second);
  give_back(machine, first);
  CHECK_FALSE(machine.manager.report().cores[0].lost);
  CHECK(core_of(machine, machine.admit(plain(100ms, 40ms))) == first);
}

TEST_CASE("a core that is back before its tasks went elsewhere keeps them") {
  Quiet quiet;
  Machine machine(2, unbound());
  const TaskId task = machine.admit(plain(100ms, 40ms));
  machine.provider().busy = true;  // another server is in a transaction
  lose(machine, first);
  give_back(machine, first);
  machine.provider().busy = false;
  machine.advance(1s);
  CHECK(core_of(machine, task) == first);
  CHECK_FALSE(machine.manager.report().cores[0].lost);
}

TEST_CASE("a core that goes again before it was used is lost all the time") {
  Quiet quiet;
  Machine machine(1, unbound());
  const TaskId task = machine.admit(plain(100ms, 40ms));
  (void)machine.send(task);
  machine.decide();
  lose(machine, first);
  give_back(machine, first);
  lose(machine, first);
  machine.settle();
  machine.advance(2s);
  CHECK(machine.manager.report().cores[0].lost);
}

TEST_CASE("after a return budgets are watched and demoted jobs come back to their level") {
  Quiet quiet;
  ExecutiveOptions options = unbound();
  options.charge_overruns = true;
  Machine machine(1, options);
  lose(machine, first);
  give_back(machine, first);
  const TaskId task = machine.admit(plain(100ms, 10ms));
  const auto fate = machine.send(task, 30ms);
  machine.settle();
  CHECK(fate->runs == 1);
  machine.advance(1s);
  const auto next = machine.send(task);
  machine.settle();
  CHECK(next->runs == 1);
  CHECK(machine.threads.threads.back()->placement.native > 0);
}

// On real cores.

namespace {

// Puts this process into a cpuset of its own (cgroup v1), until destruction.
class Cpuset {
 public:
  static std::optional<std::string> fault() {
    if (geteuid() != 0) return "needs root";
    if (!std::filesystem::exists(root + "/cpuset.cpus")) return "needs the cpuset controller of cgroup v1";
    if (own_group() != "/") return "this process is in a cpuset of somebody's";
    sched_setaffinity(0, os::CpuMask::native_size, at_start.native());
    if (!os::may_run_on(first) || !os::may_run_on(second)) return "needs the cores 0 and 1";
    if (!os::privileges().fifo) return "no privilege for SCHED_FIFO";
    return std::nullopt;
  }
  Cpuset() {
    REQUIRE(mkdir(path_.c_str(), 0755) == 0);
    std::string memory;
    std::getline(std::ifstream(root + "/cpuset.mems"), memory);
    REQUIRE(std::ofstream(path_ + "/cpuset.mems") << memory << std::flush);
    set("0-1");
    REQUIRE(std::ofstream(path_ + "/cgroup.procs") << getpid() << std::flush);
  }
  ~Cpuset() {
    std::ofstream(root + "/cgroup.procs") << getpid() << std::flush;
    rmdir(path_.c_str());
  }
  void set(const std::string& cores) { REQUIRE(std::ofstream(path_ + "/cpuset.cpus") << cores << std::flush); }

 private:
  static std::string own_group() {
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);)
      if (const auto at = line.find(":cpuset:"); at != line.npos) return line.substr(at + 8);
    return "";
  }
  static inline const std::string root = "/sys/fs/cgroup/cpuset";
  const std::string path_ = root + "/corelane-test-" + std::to_string(getpid());
};

class WhereJob final : public Job {
 public:
  explicit WhereJob(os::CpuMask& mask, os::Parker& done) : mask_(mask), done_(done) {}
  void run(const JobContext&) noexcept override {
    sched_getaffinity(0, os::CpuMask::native_size, mask_.native());
    ran = true;
  }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override {
    os::Parker& done = done_;
    delete this;
    done.unpark();
  }
  bool ran = false;

 private:
  os::CpuMask& mask_;
  os::Parker& done_;
};

struct RealServer {
  Quiet quiet;
  UnguardedCores cores{*os::Topology::detect()};
  std::unique_ptr<Executive> executive = started();

  std::unique_ptr<Executive> started() {
    ExecutiveOptions options;
    options.lease.cores = {first, second};
    auto made = Executive::start(options, cores);
    REQUIRE(made);
    return std::move(*made);
  }
  // Bound: the housekeeper looks ten times a second.
  void wait_for(bool first_lost, bool second_lost) {
    for (;;) {
      const auto report = executive->snapshot();
      if (report.cores.at(0).lost == first_lost && report.cores.at(1).lost == second_lost) return;
      os::Parker nap;
      nap.park(os::now() + 10ms);
    }
  }
  TaskId admit(Duration budget) {
    const auto admission = executive->admit_and_wait({.contract = plain(100ms, budget), .owner = {}, .label = "task"});
    if (!admission) FAIL(text_of(admission.error()));
    return admission->task;
  }
  // Returns where the task's thread may run: on its one core.
  os::CpuMask affinity_of(TaskId task) {
    os::CpuMask mask;
    os::Parker done;
    JobPtr job(new WhereJob(mask, done));
    job->task = task;
    job->arrived = os::now();
    REQUIRE(executive->submit(job));
    done.park(never);
    return mask;
  }
  CoreId core_of(TaskId task) {
    for (const TaskReport& report : executive->snapshot().tasks)
      if (report.task == task) return report.core;
    return no_core;
  }
};

}  // namespace

TEST_CASE("in a cpuset that goes from 0-1 by 1 and 0 back to 0-1 tasks stay, and are bound to their cores in the end") {
  if (const auto fault = Cpuset::fault()) return static_cast<void>(std::cout << "SKIPPED: " << *fault << '\n');
  Cpuset cpuset;
  RealServer server;
  const TaskId task = server.admit(20ms);
  cpuset.set("1");
  server.wait_for(true, false);
  cpuset.set("0");
  server.wait_for(false, true);
  cpuset.set("0-1");
  server.wait_for(false, false);
  CHECK(server.affinity_of(task).only() == server.core_of(task));
  const TaskId one = server.admit(60ms), other = server.admit(60ms);  // one on each core
  CHECK(server.core_of(one) != server.core_of(other));
  for (const TaskId each : {one, other}) CHECK(server.affinity_of(each).only() == server.core_of(each));
}

}  // namespace core_return_test
