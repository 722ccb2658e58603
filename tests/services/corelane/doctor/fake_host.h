// A fake host for doctor: the files of /proc, /sys and /dev that doctor reads.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "services/corelane/doctor/doctor.h"
#include "tests/support/system/temp_directory.h"

namespace corelane::testing {

using FakeFiles = std::map<std::string, std::string>;

// Returns a thread's line in /proc with its flags, priority and policy, as the kernel numbers them.
inline std::string stat_of(int thread, const std::string& name, unsigned flags, int priority, int policy) {
  std::string text = std::to_string(thread) + " (" + name + ") S 1 1 1 0 -1 " + std::to_string(flags);
  for (int field = 10; field < 40; ++field) text += " 7";
  return text + " " + std::to_string(priority) + " " + std::to_string(policy) + " 0 0";
}

// The files of a machine with nothing to report, with cgroup v2.
inline const FakeFiles sound_host = {
    {"/sys/devices/system/cpu/online", "0-3"},
    {"/sys/devices/system/cpu/isolated", "2-3"},
    {"/sys/devices/system/cpu/nohz_full", "2-3"},
    {"/sys/devices/system/cpu/smt/active", "0"},
    {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"},
    {"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "2"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state2/latency", "133"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state2/name", "C6"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1"},
    {"/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"},
    {"/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"},
    {"/sys/kernel/debug/sched/preempt", "none voluntary (full)"},
    {"/sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000"},
    {"/sys/kernel/debug/sched/fair_server/cpu0/period", "1000000000"},
    {"/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids"},
    {"/sys/fs/cgroup/user/cpuset.cpus.effective", "0-3"},
    {"/sys/fs/cgroup/user/cgroup.controllers", "memory pids"},
    {"/proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"},
    {"/proc/self/cgroup", "0::/user"},
    {"/proc/self/status", "Name:\tcorelane\nCpus_allowed_list:\t0-3"},
    {"/proc/self/limits",
     "Max open files            65536                65536                files\n"
     "Max locked memory         8388608              8388608              bytes\n"
     "Max realtime timeout      unlimited            unlimited            us"},
    {"/sys/fs/cgroup/user/cpu.max", "max 100000"},
    {"/proc/7/task/7/stat", stat_of(7, "own) task", 0x400000, 49, 1)},
    {"/proc/7/task/8/stat", stat_of(8, "fair", 0x400000, 0, 0)},
    {"/proc/9/task/9/stat", stat_of(9, "migration/0", 0x200000, 99, 1)},
    {"/proc/sys/kernel/sched_rt_runtime_us", "950000"},
    {"/proc/sys/kernel/sched_rt_period_us", "1000000"},
    {"/proc/sys/kernel/osrelease", "6.12.1-amd64"},
    {"/proc/sys/kernel/numa_balancing", "0"},
    {"/proc/version", "Linux version 6.12.1 #1 SMP PREEMPT_DYNAMIC Debian"},
    {"/proc/cmdline", "quiet"},
    {"/proc/swaps", "Filename Type Size Used Priority"},
    {"/proc/filesystems", "nodev\tcgroup2\nnodev\tresctrl"},
    {"/proc/1/comm", "systemd"},
    {"/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc"},
    {"/proc/stat", "cpu  10 10 10 950 0 0 0 20 0 0"},
    {"/proc/interrupts",
     "  CPU0 CPU1 CPU2 CPU3\n 9: 4 5 0 0 IO-APIC 9-fasteoi acpi\n 30: 500 0 0 0 PCI-MSI eth0\n"
     "LOC: 99999 99999 99999 99999 Local timer interrupts"},
    {"/proc/irq/30/effective_affinity_list", "0"},
    {"/proc/irq/30/smp_affinity_list", "0-1"},
    {"/etc/default/grub", "GRUB_CMDLINE_LINUX=\"quiet\""},
};

class FakeHost {
 public:
  FakeHost() { write(sound_host); }
  explicit FakeHost(const FakeFiles& changes) : FakeHost() { write(changes); }

  tool::Finding look(const std::string& name, const tool::ProbedFacts& facts = {}) const {
    const auto findings = tool::examine({tool::HostFiles(root_.path()), facts}, ~0U);
    const auto found = std::ranges::find(findings, name, &tool::Finding::name);
    REQUIRE(found != findings.end());
    return *found;
  }
  std::vector<tool::Finding> all(unsigned purposes = ~0U) const {
    return tool::examine({tool::HostFiles(root_.path()), tool::ProbedFacts{}}, purposes);
  }

 private:
  // "-" as a file's text means that the file does not exist.
  void write(const FakeFiles& files) const {
    for (const auto& [path, text] : files) {
      const std::filesystem::path place = root_.path() + path;
      std::filesystem::create_directories(place.parent_path());
      if (text == "-")
        std::filesystem::remove(place);
      else
        std::ofstream(place) << text << "\n";
    }
  }

  TempDirectory root_;
};

inline std::string commands_of(const tool::Finding& finding) {
  std::string text;
  for (const std::string& command : finding.commands) text += command + "\n";
  return text;
}

inline tool::ProbedFacts ordinary_user() { return {.root = false, .user = "ada"}; }

// A problem that shows in files.
struct Lack {
  const char* name;
  FakeFiles changes;  // compared with sound_host
  const char *found, *command;
};

// Checks that each problem is reported with the command that fixes it.
inline void check_lacks(std::span<const Lack> lacks) {
  for (const Lack& lack : lacks) {
    const tool::Finding finding = FakeHost(lack.changes).look(lack.name);
    CAPTURE(lack.name, finding.found, finding.note);
    CHECK(finding.state == tool::FindingState::missing);
    CHECK_THAT(finding.found, Catch::Contains(lack.found));
    CHECK_THAT(commands_of(finding), Catch::Contains(lack.command));
    CHECK_FALSE(finding.cost.empty());
    CHECK((!finding.commands.empty() || !finding.note.empty()));
  }
}

}  // namespace corelane::testing
