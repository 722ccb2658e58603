// A fake host (fake_host.h) with one of the backends and a controller that reserves on it. Threads: one.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "orb/os/machine/core_list.h"
#include "services/reserved/backends/cores/affinity_only.h"
#include "services/reserved/backends/cores/cgroup_v1.h"
#include "services/reserved/backends/cores/cgroup_v2.h"
#include "services/reserved/daemon/reservation_controller.h"
#include "tests/services/reserved/fake_folders.h"
#include "tests/services/reserved/fake_host.h"
#include "tests/support/system/temp_directory.h"

namespace corelane::testing {

enum class HostKind { v1, v2, affinity };

// A host of four cores with a shell and the processes that it started.
class FakeHost {
 public:
  explicit FakeHost(HostKind kind = HostKind::v1) : journal(reserved::Journal::open(directory / "journal").value()) {
    shell = processes.fork_from(0);
    kernel_thread = processes.fork_from(0);
    processes.entries[kernel_thread].bound = true;
    if (kind == HostKind::v1) backend = std::make_unique<reserved::CgroupV1>(host(), "");
    if (kind == HostKind::v2) backend = std::make_unique<reserved::CgroupV2>(host(), "");
    if (kind == HostKind::affinity) backend = std::make_unique<reserved::AffinityOnly>(host());
    before = processes.entries;
  }
  reserved::Host host() {
    return {.cpuset = &cpuset,
            .cpu = &cpu,
            .unified = &unified,
            .processes = &processes,
            .journal = &journal,
            .memory = &memory,
            .blkio = &blkio,
            .resctrl = &resctrl,
            .disks = &disks,
            .memory_to_promise = memory_to_promise};
  }
  reserved::ReservationController& controller() {
    if (controller_) return *controller_;
    controller_ = std::make_unique<reserved::ReservationController>(reserved::ReservationController::Parts{
        .accounts = reserved::Accounts(os::Topology::synthetic("core:4 pu:1").value().cores(),
                                       {.enforces = backend->enforces()}),
        .backend = *backend,
        .processes = processes,
        .interrupts = interrupts,
        .now = [this] { return now; },
        .watch = [this](const reserved::Process& one) { return watched.push_back(one), reserved::Done<void>{}; },
        .online = [this] { return std::optional(reserved::without(all, processes.switched_off)); }});
    const auto started = controller_->start();  // outside of the assertion, which would report Killed as a failure
    REQUIRE(started);
    return *controller_;
  }
  Expected<reserved::GrantView, reserved::Refusal> reserve(
      int pid, const reserved::Wanted& wanted = reserved::CoresWanted{.count = 1}, reserved::Terms terms = {},
      reserved::Extent extent = reserved::Extent::tree, const std::vector<reserved::ResourceWanted>& also = {}) {
    const reserved::Process process = processes.identity(pid).value_or(reserved::Process{.pid = pid});
    return controller().reserve({.process = process, .extent = extent, .thread = pid}, wanted, terms, also);
  }
  // Reserves a core, and other resources in addition.
  Expected<reserved::GrantView, reserved::Refusal> reserve_with(int pid,
                                                                const std::vector<reserved::ResourceWanted>& also,
                                                                bool queues = false) {
    return reserve(pid, reserved::CoresWanted{.count = 1}, {.queues = queues}, reserved::Extent::tree, also);
  }
  void kill(int pid) {
    const auto process = processes.identity(pid);
    processes.kill(pid);
    if (process) controller().ended(*process);
  }
  void switch_off(CoreId core) {
    processes.switched_off = reserved::joined(processes.switched_off, {core});
    if (backend->report().kind == "cgroup-v1") cpuset.switch_off(core);
    controller().tick();
  }
  void switch_on(CoreId core) {
    processes.switched_off = reserved::without(processes.switched_off, {core});
    if (backend->report().kind == "cgroup-v1") cpuset.switch_on(core);
    controller().tick();
  }
  // The process begins to end, which may take long if it has much memory. Call kill() to end it.
  void begin_to_end(int pid) { processes.entries.at(pid).ending = true; }
  // The process has ended, but its parent has not waited for it.
  void end(int pid) {
    processes.entries.at(pid).zombie = true;
    controller().ended(processes.identity(pid).value());
  }
  std::string cores_of(int pid) const { return os::core_list_text(processes.affinity(pid).value()); }
  std::string group_of(int pid) const { return processes.group_of(pid, "").value(); }
  // Checks that processes run where they did before, and that no group is left.
  void check_as_found() {
    for (const auto& [pid, entry] : processes.entries) {
      INFO("process " << pid);
      const auto found = before.find(pid);
      CHECK(os::core_list_text(entry.affinity) ==
            (found == before.end() ? "0-3" : os::core_list_text(found->second.affinity)));
      for (const auto& [hierarchy, group] : entry.groups)
        CHECK(group == (found == before.end() || !found->second.groups.contains(hierarchy)
                            ? ""
                            : found->second.groups.at(hierarchy)));
      CHECK(entry.scheduling == (found == before.end() ? os::SchedulingClass{} : found->second.scheduling));
    }
    for (reserved::GroupFiles* groups :
         std::initializer_list<reserved::GroupFiles*>{&cpuset, &cpu, &unified, &memory, &blkio, &resctrl})
      for (const std::string& child : groups->children("")) CHECK(!child.starts_with("corelane-"));
    CHECK(cpuset.read("cpuset.sched_load_balance") == "1");
    CHECK(unified.read("cgroup.subtree_control").value_or("none") == "");
    CHECK_THAT(resctrl.read("schemata").value(), Catch::Contains("L3:0=ff;1=ff"));
    CHECK(journal.entries().empty());
  }

  const TempDirectory directory;
  FakeProcesses processes{os::parse_core_list("0-3").value()};
  FakeGroups cpuset{"cpuset", processes, "0-3"}, cpu{"cpu", processes, ""}, unified{"", processes, "0-3"};
  FakeGroups memory{"memory", processes, ""}, blkio{"blkio", processes, ""};
  FakeResctrl resctrl{processes};
  FakeDisks disks;
  std::uint64_t memory_to_promise = 1 << 30;
  reserved::Journal journal;
  reserved::Interrupts interrupts{directory / "irq", journal};  // none, unless a test adds some
  std::unique_ptr<reserved::Backend> backend;
  int shell = 0, kernel_thread = 0;
  std::map<int, FakeProcesses::Entry> before;
  Time now{};
  const std::vector<CoreId> all = os::parse_core_list("0-3").value();
  std::vector<reserved::Process> watched;

 private:
  std::unique_ptr<reserved::ReservationController> controller_;
};

}  // namespace corelane::testing
