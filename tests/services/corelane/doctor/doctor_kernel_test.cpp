// What doctor reports about the kernel, and about other load on the cores.
#include <catch2/catch.hpp>

#include "services/corelane/doctor/finding.h"
#include "tests/services/corelane/doctor/fake_host.h"

using namespace corelane::tool;
using namespace corelane::testing;
using Catch::Contains;

TEST_CASE("each lack of the kernel that files show is named with the command that mends it") {
  static const Lack lacks[] = {
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
       {{"/sys/kernel/debug/sched/preempt", "-"},
        {"/proc/cmdline", "preempt=none"},
        {"/proc/version", "Linux version 6.12.1 #1 SMP Debian"}},
       "none",
       "s/^GRUB_CMDLINE_LINUX=\"/&preempt=full /"},
      {"kernel preemption",
       {{"/sys/kernel/debug/sched/preempt", "-"}, {"/proc/cmdline", "preempt=none"}},
       "none, if it was not changed since the start",
       "mount -t debugfs none /sys/kernel/debug\necho full | tee /sys/kernel/debug/sched/preempt\n"},
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
  };
  check_lacks(lacks);
}

TEST_CASE("each lack of isolation that files show is named with the command that mends it") {
  static const Lack lacks[] = {
      {"reserved memory",
       {{"/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io pids"}},
       "no control group has the memory controller",
       "s/^GRUB_CMDLINE_LINUX=\"/&systemd.unified_cgroup_hierarchy=1 /"},
      {"ways of the cache",
       {{"/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu cat_l3 tsc"}},
       "resctrl is not mounted",
       "mount -t resctrl resctrl /sys/fs/resctrl"},
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
  };
  check_lacks(lacks);
}

TEST_CASE("a user that may not read debugfs is told what may have been changed there, and not to mount it once more") {
  const FakeHost host({{"/sys/kernel/debug/sched/preempt", "-"},
                       {"/proc/cmdline", "preempt=voluntary"},
                       {"/proc/self/mountinfo", "31 1 0:7 / /sys/kernel/debug rw - debugfs none rw"}});
  const Finding finding = host.look("kernel preemption", ordinary_user());
  CHECK(finding.found == "voluntary, if it was not changed since the start (debugfs would tell)");
  CHECK(commands_of(finding) == "echo full | sudo tee /sys/kernel/debug/sched/preempt\n");
}

TEST_CASE("advice to start the reservation daemon for isolated cores says what the daemon does to other processes") {
  const Finding finding = FakeHost(FakeFiles{{"/sys/devices/system/cpu/isolated", ""}}).look("isolated cores");
  CHECK_THAT(finding.note, Catch::StartsWith("it moves all other programs of this host off the cores that it gives"));
}

TEST_CASE("where systemd does not start the machine cgroup v1 is switched off by the kernel itself") {
  const FakeHost host({{"/proc/1/comm", "init"}, {"/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io pids"}});
  CHECK_THAT(commands_of(host.look("reserved memory")), Contains("cgroup_no_v1=all") && !Contains("systemd"));
}

TEST_CASE("a kernel that cannot part a cache is told to mount nothing") {
  const FakeHost host({{"/proc/cpuinfo", "flags\t\t: fpu cat_l3 tsc"}, {"/proc/filesystems", "nodev\tcgroup2"}});
  const Finding finding = host.look("ways of the cache");
  CHECK(finding.state == FindingState::missing);
  CHECK(finding.commands.empty());
  CHECK_THAT(finding.note, Contains("CONFIG_X86_CPU_RESCTRL"));
}

TEST_CASE("a cache that resctrl parts lacks nothing") {
  const FakeHost host({{"/proc/cpuinfo", "flags\t\t: fpu cat_l3 tsc"},
                       {"/proc/self/mountinfo",
                        "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
                        "31 1 0:27 / /sys/fs/resctrl rw - resctrl resctrl rw"}});
  CHECK(host.look("ways of the cache").state == FindingState::present);
}

TEST_CASE("a property without a source is unknown and not missing") {
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
  CHECK_THAT(host.look("kernel preemption", {.kernel_config = "CONFIG_X=y\nCONFIG_PREEMPT_NONE=y\n"}).found,
             Catch::StartsWith("none"));
}
