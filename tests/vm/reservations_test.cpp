// corelane-reserved as root of a whole machine, on its real control groups. Only in a virtual machine: machine.py.
#include <sched.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "orb/os/machine/core_list.h"
#include "orb/os/threads/scheduling_class.h"
#include "services/reserved/backends/group_files.h"
#include "tests/services/reserved/live_cpusets.h"
#include "tests/services/reserved/random_lives.h"
#include "tests/services/reserved/running_daemon.h"
#include "tests/vm/machine_picture.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;
namespace idl = Corelane::Reservation;

namespace {

bool in_a_machine() { return std::filesystem::exists("/corelane/command"); }

// Returns "cgroup-v1", "cgroup-v2" or "affinity": what this machine has.
std::string backend_here() {
  const reserved::Mounts mounts = reserved::find_mounts();
  if (mounts.v2_cpuset) return "cgroup-v2";
  return mounts.v1_cpuset.empty() ? "affinity" : "cgroup-v1";
}
bool has_groups() { return backend_here() != "affinity"; }

// Returns which part of one core the worker uses. The measured time may be too long, but not too short.
double part_of_core(const Worker& worker, Duration during) {
  const Time began = os::now();
  const Duration before = worker.used();
  os::sleep_until(began + during);  // sleep: measures what another process uses meanwhile
  const Duration used = worker.used() - before;
  return std::chrono::duration<double>(used) / (os::now() - began);
}

// Returns whether the worker gets that policy. A sleeping thread is under SCHED_DEADLINE only after it has run on its
// new core.
bool comes_under(int policy, const Worker& worker) {
  const Time latest = os::now() + std::chrono::minutes{1};
  while ((sched_getscheduler(worker.pid()) & ~SCHED_RESET_ON_FORK) != policy) {
    if (os::now() > latest) return false;
    os::sleep_until(os::now() + 1ms);  // sleep: between checks
  }
  return true;
}

}  // namespace

#define CORELANE_IN_A_MACHINE()                                                                   \
  if (!in_a_machine()) {                                                                          \
    std::cout << "SKIPPED: it takes a whole machine; tests/vm/machine.py makes one" << std::endl; \
    return;                                                                                       \
  }

TEST_CASE("a process has a core of the machine alone, and the machine is as it was found") {
  CORELANE_IN_A_MACHINE()
  Sleeper other;
  Worker holder(Worker::Does::sleeps, 1);
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  {
    ReservationClient client(daemon);
    CHECK(client.server->state().backend() == backend_here());
    const auto grant = client.reserve(holder.pid(), 2);
    CHECK(grant.cores() == idl::CoreList{2, 3});
    CHECK(grant.promise() == (has_groups() ? idl::Guarantee::exclusive_cores : idl::Guarantee::affinity_only));
    for (const int pid : holder.tree()) CHECK(cores_of(pid) == "2-3");
    CHECK(cores_of(other.pid()) == "0-1");
    client.server->release(grant.reservation());
    CHECK(cores_of(holder.pid()) == "0-3");
  }
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
  std::cout << "compared: " << before.threads() << " threads, " << before.settings() << " settings" << std::endl;
}

TEST_CASE("a thread is bound to its core when that comes back, and at the end") {
  CORELANE_IN_A_MACHINE()
  Sleeper holder, bound, own;
  reserved::HostProcesses processes;
  REQUIRE(processes.set_affinity(bound.pid(), {{3}}) == 0);
  REQUIRE(processes.set_affinity(own.pid(), {{1}}) == 0);
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  {
    ReservationClient client(daemon);
    const auto grant = client.reserve(holder.pid(), 1);
    CHECK(cores_of(holder.pid()) == "3");
    CHECK(cores_of(bound.pid()) == "0-2");
    CHECK(cores_of(own.pid()) == "1");
    client.server->release(grant.reservation());
    CHECK(cores_of(bound.pid()) == "3");
  }
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
}

TEST_CASE("changes that a killed daemon left are undone by the next one, as the host was found") {
  CORELANE_IN_A_MACHINE()
  Sleeper holder, bound;
  REQUIRE(reserved::HostProcesses().set_affinity(bound.pid(), {{3}}) == 0);
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  {
    ReservationClient client(daemon);
    client.reserve(holder.pid(), 1);
  }
  daemon.kill_now();
  CHECK(cores_of(holder.pid()) == "3");
  daemon.start();
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
}

TEST_CASE("a thread with a share is under SCHED_DEADLINE and uses no more than that") {
  CORELANE_IN_A_MACHINE()
  Worker hog(Worker::Does::computes);
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  {
    ReservationClient client(daemon);
    const auto ask = [&] {
      return client.server->reserve_share(holder_of(hog.pid(), idl::Scope::one_thread), two_in_ten(),
                                          idl::Terms(0, false, ""));
    };
    if (!has_groups()) {
      CHECK_THAT(client.refusal_of(ask), Catch::Contains("shares need control groups"));
      return;
    }
    const auto grant = ask();
    CHECK(grant.promise() == idl::Guarantee::thread_deadline);
    CHECK((sched_getscheduler(hog.pid()) & ~SCHED_RESET_ON_FORK) == corelane::os::deadline_class);
    double least = 1;  // the time of a stall counts as the running thread's
    for (int round = 0; round < 5 && least > 0.21; ++round) least = std::min(least, part_of_core(hog, 1s));
    std::cout << "a hog under SCHED_DEADLINE 2ms/10ms uses " << least * 100 << " % of a core" << std::endl;
    CHECK(least <= 0.21);
    CHECK(least > 0.01);
    client.server->release(grant.reservation());
    CHECK(sched_getscheduler(hog.pid()) == SCHED_OTHER);
  }
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
}

TEST_CASE("a thread is under SCHED_FIFO again after its share, and after a daemon that was killed") {
  CORELANE_IN_A_MACHINE()
  if (!has_groups()) return;
  Worker worker(Worker::Does::naps);
  const sched_param priority{.sched_priority = 10};
  REQUIRE(sched_setscheduler(worker.pid(), SCHED_FIFO, &priority) == 0);
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  const auto ask = [&] {
    ReservationClient client(daemon);
    return client.server->reserve_share(holder_of(worker.pid(), idl::Scope::one_thread), two_in_ten(),
                                        idl::Terms(0, false, ""));
  };
  const auto grant = ask();
  CHECK(comes_under(corelane::os::deadline_class, worker));
  ReservationClient(daemon).server->release(grant.reservation());
  CHECK(comes_under(SCHED_FIFO, worker));
  ask();
  CHECK(comes_under(corelane::os::deadline_class, worker));
  daemon.kill_now();
  daemon.start();
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
}

TEST_CASE("a tree with a share uses no more than that, all of it together") {
  CORELANE_IN_A_MACHINE()
  if (!has_groups()) return;
  Worker hogs(Worker::Does::computes, 2);
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  {
    ReservationClient client(daemon);
    const auto grant = client.server->reserve_share(holder_of(hogs.pid(), idl::Scope::process_tree), two_in_ten(),
                                                    idl::Terms(0, false, ""));
    CHECK(grant.promise() == idl::Guarantee::tree_bandwidth);
    double least = 1;
    for (int round = 0; round < 5 && least > 0.21; ++round) least = std::min(least, part_of_core(hogs, 1s));
    std::cout << "three hogs in a group held to 2ms/10ms use " << least * 100 << " % of a core" << std::endl;
    CHECK(least <= 0.21);
    CHECK(least > 0.01);
  }
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
}

TEST_CASE("interrupts stay away from a reserved core, also those to come") {
  CORELANE_IN_A_MACHINE()
  const auto lists = [] {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/irq"))
      if (entry.is_directory()) std::getline(std::ifstream(entry.path() / "smp_affinity_list"), found[entry.path()]);
    return found;
  };
  Sleeper holder;
  const auto before = MachinePicture::taken();
  RunningDaemon daemon({});
  {
    ReservationClient client(daemon);
    client.reserve(holder.pid(), 1);
    unsigned away = 0;
    for (const auto& [irq, list] : lists()) away += list == "0-2";
    const auto state = client.server->state();
    std::cout << "interrupts steered away: " << away << ", fixed: " << state.interrupts_fixed() << std::endl;
    CHECK(away > 0);
    CHECK(away <= state.interrupts_steered());
    std::string mask;
    std::getline(std::ifstream("/proc/irq/default_smp_affinity"), mask);
    CHECK(mask == "7");
  }
  CHECK(daemon.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
}

// Random sequences.

TEST_CASE("no core is lost in random lives and deaths, and the machine is as it was found") {
  CORELANE_IN_A_MACHINE()
  const int wanted = sequences_wanted(20);
  const Time began = os::now();
  Sleeper bound, loose;
  REQUIRE(reserved::HostProcesses().set_affinity(bound.pid(), {{2}}) == 0);
  const auto before = MachinePicture::taken();
  RandomLives lives({.cores = 4, .tree_shares = has_groups(), .thread_shares = has_groups()});
  int done = 0;
  for (std::string fault; done < wanted && fault.empty(); ++done) {
    fault = lives.live();
    if (done % 20 == 19 && fault.empty()) {
      if (const auto status = lives.end(); status != "exit status 0") fault = status;
      fault += before.difference(MachinePicture::taken());
      lives.start();
      std::cout << done + 1 << " sequences: " << lives.counts() << std::endl;
    }
    INFO("sequence " << done);
    CHECK(fault == "");
  }
  CHECK(lives.end() == "exit status 0");
  CHECK(before.difference(MachinePicture::taken()) == "");
  std::cout << done << " sequences by " << backend_here() << ": " << lives.counts() << "; "
            << std::chrono::duration_cast<std::chrono::seconds>(os::now() - began).count() << " s" << std::endl;
}
