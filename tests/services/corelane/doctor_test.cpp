#include "services/corelane/doctor.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "services/corelane/probe.h"
#include "tests/support/temp_directory.h"

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using Catch::Contains;
using corelane::testing::TempDirectory;

namespace {

using FakeFiles = std::map<std::string, std::string>;

// A thread's line in /proc: what it is, its priority and policy under the kernel's numbers.
std::string stat_of(int thread, const std::string& name, unsigned flags, int priority, int policy) {
  std::string text = std::to_string(thread) + " (" + name + ") S 1 1 1 0 -1 " + std::to_string(flags);
  for (int field = 10; field < 40; ++field) text += " 7";
  return text + " " + std::to_string(priority) + " " + std::to_string(policy) + " 0 0";
}

// A machine that lacks nothing, in files, with cgroup v2.
const FakeFiles sound = {
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
  FakeHost() { write(sound); }
  explicit FakeHost(const FakeFiles& changes) : FakeHost() { write(changes); }

  Finding look(const std::string& name, const ProbedFacts& facts = {}) const {
    const auto findings = examine({HostFiles(root_.path()), facts}, ~0U);
    const auto found = std::ranges::find(findings, name, &Finding::name);
    REQUIRE(found != findings.end());
    return *found;
  }
  std::vector<Finding> all(unsigned purposes = ~0U) const {
    return examine({HostFiles(root_.path()), ProbedFacts{}}, purposes);
  }

 private:
  // "-" as a file's text: it is not there.
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

std::string commands_of(const Finding& finding) {
  std::string text;
  for (const std::string& command : finding.commands) text += command + "\n";
  return text;
}

ProbedFacts ordinary_user() { return {.root = false, .user = "ada"}; }

}  // namespace

TEST_CASE("a host that lacks nothing is told so") {
  const FakeHost host;
  for (const Finding& finding : host.all()) {
    CAPTURE(finding.name, finding.found);
    if (finding.name == "reservation daemon") continue;  // no file says that it runs
    CHECK(finding.state == FindingState::present);
    CHECK(finding.commands.empty());
  }
}

TEST_CASE("each lack that files show is named with the command that mends it") {
  struct Case {
    const char* name;
    FakeFiles changes;
    const char *found, *command;
  };
  static const Case cases[] = {
      {"reserved memory",
       {{"/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io pids"}},
       "no control group has the memory controller",
       "s/^GRUB_CMDLINE_LINUX=\"/&systemd.unified_cgroup_hierarchy=1 /"},
      {"ways of the cache",
       {{"/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu cat_l3 tsc"}},
       "resctrl is not mounted",
       "mount -t resctrl resctrl /sys/fs/resctrl"},
      {"real-time throttle",
       {{"/proc/sys/kernel/sched_rt_runtime_us", "500000"}},
       "500000 of each 1000000 us",
       "echo 950000 | tee /proc/sys/kernel/sched_rt_runtime_us"},
      {"fair server",
       {{"/sys/kernel/debug/sched/fair_server/cpu0/runtime", "200000000"}},
       "20 % of a core",
       "echo 50000000 | tee /sys/kernel/debug/sched/fair_server/cpu3/runtime"},
      {"kernel preemption",
       {{"/sys/kernel/debug/sched/preempt", "none (voluntary) full"}},
       "voluntary",
       "echo full | tee /sys/kernel/debug/sched/preempt"},
      {"kernel preemption",
       {{"/sys/kernel/debug/sched/preempt", "-"}, {"/proc/cmdline", "preempt=none"}},
       "none",
       "s/^GRUB_CMDLINE_LINUX=\"/&preempt=full /"},
      {"clock source",
       {{"/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet"}},
       "hpet",
       "echo tsc | tee /sys/devices/system/clocksource/clocksource0/current_clocksource"},
      {"transparent huge pages",
       {{"/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never"}},
       "always",
       "echo madvise | tee /sys/kernel/mm/transparent_hugepage/enabled"},
      {"swap", {{"/proc/swaps", "Filename Type\n/dev/sda2 partition 1 0 -2"}}, "/dev/sda2", "swapoff -a"},
      {"NUMA balancing",
       {{"/proc/sys/kernel/numa_balancing", "1"}},
       "on",
       "echo 0 | tee /proc/sys/kernel/numa_balancing"},
      {"machine of its own", {{"/proc/cpuinfo", "flags\t: fpu hypervisor tsc"}}, "2.00 % of the time", ""},
      {"cores", {{"/proc/self/status", "Cpus_allowed_list:\t0,2"}}, "0,2 of 0-3 alone", "taskset -cp 0-3 $$"},
      {"cpuset",
       {{"/sys/fs/cgroup/user/cpuset.cpus.effective", "1"}},
       "has 1 of 0-3",
       "echo 0-3 | tee /sys/fs/cgroup/user/cpuset.cpus\n"},
      {"frequency",
       {{"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil"}},
       "governor schedutil on 1",
       "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"},
      {"idle states",
       {{"/sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "0"}},
       "C6 takes 133 us",
       "echo 1 | tee /sys/devices/system/cpu/cpu*/cpuidle/state2/disable"},
      {"sibling threads",
       {{"/sys/devices/system/cpu/smt/active", "1"}},
       "SMT",
       "echo off | tee /sys/devices/system/cpu/smt/control"},
      {"interrupts",
       {{"/proc/irq/30/effective_affinity_list", "0-3"}, {"/proc/irq/30/smp_affinity_list", "0-3"}},
       "every core takes some of devices; most come from eth0",
       "for irq in 30; do echo 0 | tee /proc/irq/$irq/smp_affinity_list; done"},
      {"interrupts",
       {{"/proc/irq/30/effective_affinity_list", "0-2"}, {"/proc/irq/30/smp_affinity_list", "0-3"}},
       "core 3 takes none of devices by chance",
       "for irq in 30; do echo 0 | tee /proc/irq/$irq/smp_affinity_list; done"},
      {"isolated cores", {{"/sys/devices/system/cpu/isolated", ""}}, "none", "corelane-reserved &"},
      {"tick", {{"/sys/devices/system/cpu/nohz_full", ""}}, "on every core", "&nohz_full=1-3 rcu_nocbs=1-3 /"},
      {"tick", {{"/sys/devices/system/cpu/nohz_full", "-"}}, "on every core", ""},
      {"control groups", {{"/sys/fs/cgroup/cgroup.controllers", "memory"}}, "lacks cpuset", ""},
      {"control groups", {{"/proc/self/mountinfo", ""}}, "none are mounted", "mount -t cgroup2 none /sys/fs/cgroup"},
      {"descriptors",
       {{"/proc/self/limits", "Max open files            1024                 1048576              files"}},
       "1024 a process",
       "ulimit -n 65536"},
      {"CPU quota",
       {{"/sys/fs/cgroup/user/cpu.max", "20000 100000"}},
       "20000 of each 100000 us (/sys/fs/cgroup/user/cpu.max)",
       "echo max | tee /sys/fs/cgroup/user/cpu.max"},
      {"CPU quota",
       {{"/sys/fs/cgroup/cpu.max", "150000 100000"}},
       "150000 of each 100000 us (/sys/fs/cgroup/cpu.max)",
       "echo max | tee /sys/fs/cgroup/cpu.max"},
      {"CPU quota",
       {{"/proc/self/mountinfo", "31 1 0:27 / /c/cpu rw - cgroup cgroup rw,cpu,cpuacct"},
        {"/proc/self/cgroup", "3:cpu,cpuacct:/a/b\n0::/"},
        {"/c/cpu/cpu.cfs_quota_us", "-1"},
        {"/c/cpu/a/cpu.cfs_quota_us", "50000"},
        {"/c/cpu/a/cpu.cfs_period_us", "100000"},
        {"/c/cpu/a/b/cpu.cfs_quota_us", "-1"}},
       "50000 of each 100000 us (/c/cpu/a/cpu.cfs_quota_us)",
       "echo -1 | tee /c/cpu/a/cpu.cfs_quota_us"},
      {"real-time limit",
       {{"/proc/self/limits", "Max realtime timeout      200000               200000               us"}},
       "200000 us without a wait",
       "prlimit --pid $$ --rttime=unlimited:unlimited"},
      {"others above",
       {{"/proc/7/task/10/stat", stat_of(10, "multi (path)", 0x400000, 50, 2)},
        {"/proc/11/task/11/stat", stat_of(11, "sound", 0x400000, 88, 1)}},
       "2 threads above tasks: sound (thread 11, priority 88), multi (path) (thread 10, priority 50)",
       "chrt --fifo --pid 1 11\nchrt --fifo --pid 1 10\n"},
      {"load balancing",
       {{"/proc/self/mountinfo", "31 1 0:27 / /c rw - cgroup cgroup rw,cpuset"},
        {"/proc/self/cgroup", "3:cpuset:/\n0::/"},
        {"/c/cpuset.sched_load_balance", "0"}},
       "off in this process's cpuset, /",
       "echo 1 | tee /c/cpuset.sched_load_balance\n"},
      {"load balancing",
       {{"/proc/self/mountinfo", "31 1 0:27 / /c rw - cgroup cgroup rw,cpuset"},
        {"/proc/self/cgroup", "3:cpuset:/a\n0::/"},
        {"/c/cpuset.sched_load_balance", "0"},
        {"/c/a/cpuset.sched_load_balance", "0"}},
       "off in this process's cpuset, /a",
       "echo 1 | tee /c/a/cpuset.sched_load_balance\n"},
      {"load balancing",
       {{"/sys/fs/cgroup/user/cpuset.cpus.partition", "isolated"}},
       "off in this process's cpuset, /user",
       "echo root | tee /sys/fs/cgroup/user/cpuset.cpus.partition\n"},
      {"real-time group",
       {{"/proc/self/mountinfo", "31 1 0:27 / /c/cpu rw - cgroup cgroup rw,cpu,cpuacct"},
        {"/proc/self/cgroup", "3:cpu,cpuacct:/a/b"},
        {"/c/cpu/cpu.rt_runtime_us", "950000"},
        {"/c/cpu/a/cpu.rt_runtime_us", "0"},
        {"/c/cpu/a/b/cpu.rt_runtime_us", "0"}},
       "/a/b has no real-time time",
       "echo 900000 | tee /c/cpu/a/cpu.rt_runtime_us\necho 900000 | tee /c/cpu/a/b/cpu.rt_runtime_us\n"},
  };
  for (const Case& c : cases) {
    const Finding finding = FakeHost(c.changes).look(c.name);
    CAPTURE(c.name, finding.found, finding.note);
    CHECK(finding.state == FindingState::missing);
    CHECK_THAT(finding.found, Contains(c.found));
    CHECK_THAT(commands_of(finding), Contains(c.command));
    CHECK_FALSE(finding.cost.empty());
    CHECK((!finding.commands.empty() || !finding.note.empty()));
  }
}

TEST_CASE("load balancing that is off in a cpuset alone, or by a reservation, is nothing to mend") {
  const std::string v1 = "31 1 0:27 / /c rw - cgroup cgroup rw,cpuset";
  const auto changes = GENERATE_COPY(FakeFiles{{"/proc/self/mountinfo", v1},
                                               {"/proc/self/cgroup", "3:cpuset:/a\n0::/"},
                                               {"/c/cpuset.sched_load_balance", "1"},
                                               {"/c/a/cpuset.sched_load_balance", "0"}},
                                     FakeFiles{{"/proc/self/mountinfo", v1},
                                               {"/proc/self/cgroup", "3:cpuset:/corelane-r17\n0::/"},
                                               {"/c/cpuset.sched_load_balance", "0"},
                                               {"/c/corelane-r17/cpuset.sched_load_balance", "0"}},
                                     FakeFiles{{"/sys/fs/cgroup/user/cpuset.cpus.partition",
                                                "isolated invalid (Cpu list in cpuset.cpus not exclusive)"}});
  const ProbedFacts running{.reserved = {.at = "/run/corelane/reserved.sock"}};
  CHECK(FakeHost(changes).look("load balancing", running).state == FindingState::present);
}

TEST_CASE("the threads of a process with an ORB of ours are not others above its tasks") {
  const Finding finding = FakeHost({{"/proc/7/task/7/stat", stat_of(7, "stall-watch", 0x400000, 51, 1)},
                                    {"/proc/7/task/8/stat", stat_of(8, "corelane-io", 0x400000, 50, 1)}})
                              .look("others above");
  CHECK(finding.state == FindingState::present);
}

TEST_CASE("cores that corelane-reserved gave or left are no lack, and no command takes them back") {
  struct Row {
    const char *group, *found;
  };
  const Row row = GENERATE(Row{"/corelane-r17", "3, of reservation 17, from corelane-reserved"},
                           Row{"/a/corelane-r17/m17", "3, of reservation 17, from corelane-reserved"},
                           Row{"/corelane-s3/m18", "3, the shared core 3, from corelane-reserved"},
                           Row{"/corelane-s0", "3, the shared core 0, from corelane-reserved"},
                           Row{"/corelane-default", "3, what corelane-reserved has left for everybody"});
  const FakeHost host({{"/proc/self/status", "Cpus_allowed_list:\t3"},
                       {"/proc/self/cgroup", std::string("3:cpuset:") + row.group + "\n0::/"},
                       {"/proc/self/mountinfo", "31 1 0:27 / /c rw - cgroup cgroup rw,cpuset"},
                       {std::string("/c") + row.group + "/cpuset.cpus", "3"}});
  const ProbedFacts running{.reserved = {.at = "/run/corelane/reserved.sock"}};
  for (const char* const name : {"cores", "cpuset"}) {
    CHECK(host.look(name, running).state == FindingState::present);
    CHECK(host.look(name, running).found == row.found);
  }
}

TEST_CASE("cores that a daemon held that has ended are missing, and its next start gives them back") {
  const char* const group = GENERATE("/corelane-r17", "/corelane-s0", "/corelane-default");
  const FakeHost host({{"/proc/self/status", "Cpus_allowed_list:\t3"},
                       {"/proc/self/cgroup", std::string("3:cpuset:") + group + "\n0::/"},
                       {"/proc/self/mountinfo", "31 1 0:27 / /c rw - cgroup cgroup rw,cpuset"},
                       {"/c/cpuset.sched_load_balance", "0"},
                       {std::string("/c") + group + "/cpuset.sched_load_balance", "0"},
                       {std::string("/c") + group + "/cpuset.cpus", "3"}});
  for (const char* const name : {"cores", "cpuset", "load balancing"}) {
    const Finding finding = host.look(name, ordinary_user());
    CHECK(finding.state == FindingState::missing);
    CHECK_THAT(finding.found, Contains("held for a corelane-reserved that ended"));
    CHECK(commands_of(finding) == "sudo corelane-reserved &\n");
    CHECK_THAT(finding.note, Contains("start it once to put the host back"));
  }
}

TEST_CASE("cores that a daemon without control groups may have given are unknown") {
  const FakeHost host(FakeFiles{{"/proc/self/status", "Cpus_allowed_list:\t3"}});
  const Finding cores = host.look("cores", {.reserved = {.at = "/run/corelane/reserved.sock"}});
  CHECK(cores.state == FindingState::unknown);
  CHECK(cores.commands.empty());
  CHECK_THAT(cores.note, Contains("corelane cores"));
}

TEST_CASE("each lack that an attempt shows is named with the command that mends it") {
  struct Case {
    const char* name;
    ProbedFacts facts;
    const char *found, *help;
  };
  static const Case cases[] = {
      {"SCHED_FIFO", {.fifo = false}, "refused", "prlimit --pid $$ --rtprio=99:99 --memlock=unlimited:unlimited"},
      {"memory locking", {.memlock = false}, "only 8388608 bytes", "prlimit --pid $$"},
      {"SCHED_DEADLINE", {.deadline_fault = EPERM}, "not permitted", "setcap cap_sys_nice"},
      {"SCHED_DEADLINE", {.deadline_fault = EBUSY}, "busy", "sched_rt_runtime_us"},
      {"memfd and futex", {.memfd_fault = ENOSYS}, "memfd_create: ", "seccomp"},
      {"memfd and futex", {.futex_fault = EPERM}, "futex: ", "seccomp"},
      {"timer resolution", {.timer_resolution = 4ms}, "4000000 ns", "dmesg"},
      {"real-time group",
       {.fifo = false, .fifo_group_zero = true},
       "no real-time time",
       "tee /sys/fs/cgroup/cgroup.procs"},
      {"nameserver",
       {.nameserver = {}, .nameserver_places = {"/a/x.sock", "/b"}},
       "nobody listens at /a/x.sock, nor at /b",
       "corelane-nameserver &"},
      {"nameserver", {.nameserver = {}}, "naming.socket is off", ""},
      {"nameserver",
       {.naming = {.absence = "no nameserver runs on this host (at /a, or at port 2809): start it"}},
       "no nameserver runs on this host (at /a, or at port 2809)",
       "corelane-nameserver &"},
      {"nameserver", {.naming = {.absence = "refused", .is_named = true}}, "refused", "naming.service"},
      {"nameserver",
       {.naming = {.answers = "answers at x; names are in etcd, stale", .trouble = "for 3s"}},
       "names are in etcd, stale",
       "corelane ns status"},
      {"reservation daemon", {.reserved_places = {"/a"}}, "nobody listens at /a", "corelane-reserved &"},
      {"nameserver",
       {.nameserver = {.at = "/a", .pid = 7, .stopped = true}},
       "process 7 listens at /a, but it is stopped",
       "kill -CONT 7"},
      {"reservation daemon", {.reserved = {.at = "/a", .pid = 7, .stopped = true}}, "stopped", "kill -CONT 7"},
      {"runtime directory", {.runtime_fault = "/x: no"}, "/x: no", "CORELANE_RUNTIME_DIRECTORY"},
  };
  const FakeHost host;
  for (const Case& c : cases) {
    const Finding finding = host.look(c.name, c.facts);
    CAPTURE(c.name, finding.found, finding.note);
    CHECK(finding.state == FindingState::missing);
    CHECK_THAT(finding.found, Contains(c.found));
    CHECK_THAT(commands_of(finding) + finding.note, Contains(c.help));
  }
}

TEST_CASE("who has the right to SCHED_DEADLINE and not every core is told so") {
  const auto note_of = [](const std::string& status) {
    return FakeHost({{"/proc/self/status", status}}).look("SCHED_DEADLINE", {.deadline_fault = EPERM}).note;
  };
  const std::string right = "\nCapEff:\t000001ffffffffff", none = "\nCapEff:\t0000000000000000";
  CHECK_THAT(note_of("Cpus_allowed_list:\t2-3" + right), Contains("taskset -cp"));
  CHECK_THAT(note_of("Cpus_allowed_list:\t0-3" + right), Contains("setcap"));
  CHECK_THAT(note_of("Cpus_allowed_list:\t2-3" + none), Contains("setcap"));
}

TEST_CASE("who is not root is given commands with sudo") {
  const FakeHost host({{"/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never"},
                       {"/proc/swaps", "Filename\n/swap file"},
                       {"/sys/devices/system/cpu/nohz_full", ""}});
  CHECK(commands_of(host.look("transparent huge pages", ordinary_user())) ==
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled\n");
  CHECK(commands_of(host.look("swap", ordinary_user())) == "sudo swapoff -a\n");
  CHECK_THAT(commands_of(host.look("tick", ordinary_user())), Contains("&& sudo update-grub && sudo reboot"));
  ProbedFacts without = ordinary_user();
  without.fifo = false;
  CHECK_THAT(commands_of(host.look("SCHED_FIFO", without)), Contains("' ada ada | sudo tee /etc/security/limits.d/"));
  CHECK_THAT(commands_of(host.look("delegated cpuset", ordinary_user())), Contains("Delegate=cpu cpuset"));
}

TEST_CASE("a cache that resctrl parts lacks nothing") {
  const FakeHost host({{"/proc/cpuinfo", "flags\t\t: fpu cat_l3 tsc"},
                       {"/proc/self/mountinfo",
                        "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
                        "31 1 0:27 / /sys/fs/resctrl rw - resctrl resctrl rw"}});
  CHECK(host.look("ways of the cache").state == FindingState::present);
}

TEST_CASE("what nothing tells is unknown and not missing") {
  const FakeHost host({{"/sys/kernel/debug/sched/preempt", "-"},
                       {"/sys/kernel/debug/sched/fair_server/cpu0/runtime", "-"},
                       {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "-"},
                       {"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "-"},
                       {"/proc/interrupts", "-"},
                       {"/proc/sys/kernel/sched_rt_runtime_us", "-"}});
  for (const char* name : {"kernel preemption", "fair server", "frequency", "interrupts", "real-time throttle"}) {
    CAPTURE(name);
    CHECK(host.look(name).state == FindingState::unknown);
  }
  CHECK(host.look("kernel preemption", {.kernel_config = "CONFIG_X=y\nCONFIG_PREEMPT_NONE=y\n"}).found == "none");
}

TEST_CASE("a core that somebody keeps from deep sleep by cpu_dma_latency wakes early") {
  const FakeFiles deep = {{"/sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "0"}};
  CHECK(FakeHost(deep).look("idle states").state == FindingState::missing);
  FakeFiles held = deep;
  held["/dev/cpu_dma_latency"] = std::string("\x05\0\0", 3) + '\0';
  // The fake file ends in a newline, which the reader takes off as it does of every file.
  CHECK(FakeHost(held).look("idle states").state == FindingState::present);
}

TEST_CASE("a purpose asks for what matters to it alone") {
  const FakeHost host;
  const auto has = [&](Purpose purpose, const std::string& name) {
    const auto findings = host.all(unsigned(purpose));
    return std::ranges::count(findings, name, &Finding::name) == 1;
  };
  CHECK(has(Purpose::tasks, "SCHED_FIFO"));
  CHECK_FALSE(has(Purpose::tasks, "sibling threads"));
  CHECK(has(Purpose::latency, "sibling threads"));
  CHECK(has(Purpose::reserve, "control groups"));
  CHECK_FALSE(has(Purpose::reserve, "swap"));
}

TEST_CASE("what is missing comes first and is counted") {
  const Finding there{.name = "a", .found = "x"};
  const Finding lacks{.name = "b",
                      .state = FindingState::missing,
                      .found = "y\x1b",
                      .cost = "slow",
                      .commands = {"mend it"},
                      .note = "or not"};
  const Diagnosis diagnosis{.findings = {there, lacks}, .loads = {}};
  const std::string text = text_of(diagnosis, Format::table);
  CHECK_THAT(text, Catch::StartsWith("missing    b                       y?\n           slow\n           $ mend it\n"));
  CHECK_THAT(text, Catch::EndsWith("\n1 missing, 0 unknown, of 2\n"));
  const auto json = nlohmann::json::parse(text_of(diagnosis, Format::json));
  CHECK(json["missing"] == 1);
  CHECK(json["findings"][1]["commands"][0] == "mend it");
  CHECK_FALSE(json.contains("cores"));
}

TEST_CASE("a measured platform suggests its settings") {
  const std::vector<CoreLoad> loads = {
      {.core = CoreId{0}, .real_time = true, .wake_p50 = 5us, .wake_p99 = 20'001ns, .wake_max = 1ms, .taken = 0.01},
      {.core = CoreId{1}, .real_time = false, .wake_p50 = 5us, .wake_p99 = 9us, .wake_max = 10us, .taken = 0}};
  const PlatformSettings settings = suggest(loads);
  CHECK(settings.blocking == 21us);
  CHECK(settings.budget == 30us);
  const std::string text = text_of({.findings = {}, .loads = loads}, Format::table);
  CHECK_THAT(text, Contains("blocking = \"21us\"") && Contains("core 1") && Contains("without SCHED_FIFO"));
  CHECK(nlohmann::json::parse(text_of({.findings = {}, .loads = loads}, Format::json))["cores"][0]["wake_p99_ns"] ==
        20'001);
}

TEST_CASE("a list of cores is read and written as the kernel writes it") {
  CHECK(core_text(parse_core_set("0-2,5,7-8")) == "0-2,5,7-8");
  CHECK(core_text({}).empty());
  for (const char* bad : {"", "x", "1-", "-1", "1,,2", "3;4"}) CHECK(parse_core_set(bad).empty());
}

TEST_CASE("a runtime directory is judged before a server needs it") {
  const TempDirectory place;
  CHECK(fault_of_runtime_directory(place.path()).empty());
  CHECK(fault_of_runtime_directory(place / "new").empty());
  CHECK(std::filesystem::exists(place / "new") == false);
  CHECK_THAT(fault_of_runtime_directory(place / "none/new"), Contains("cannot be made"));
  std::ofstream(place / "file").flush();
  CHECK_THAT(fault_of_runtime_directory(place / "file"), Catch::EndsWith("is a plain file, no directory"));
}
