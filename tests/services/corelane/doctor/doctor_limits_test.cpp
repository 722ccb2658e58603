// What doctor reports about limits and privileges.
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <string>

#include "services/corelane/doctor/finding.h"
#include "tests/services/corelane/doctor/fake_host.h"

using namespace corelane::tool;
using namespace corelane::testing;
using namespace std::chrono_literals;
using Catch::Contains;

TEST_CASE("each limit that files show is named with the command that mends it") {
  static const Lack lacks[] = {
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
      {"real-time group",
       {{"/proc/self/mountinfo", "31 1 0:27 / /c/cpu rw - cgroup cgroup rw,cpu,cpuacct"},
        {"/proc/self/cgroup", "3:cpu,cpuacct:/a/b"},
        {"/c/cpu/cpu.rt_runtime_us", "950000"},
        {"/c/cpu/a/cpu.rt_runtime_us", "0"},
        {"/c/cpu/a/b/cpu.rt_runtime_us", "0"}},
       "/a/b has no real-time time",
       "echo 900000 | tee /c/cpu/a/cpu.rt_runtime_us\necho 900000 | tee /c/cpu/a/b/cpu.rt_runtime_us\n"},
  };
  check_lacks(lacks);
}

TEST_CASE("the threads of a process with an ORB of ours are not others above its tasks") {
  const Finding finding = FakeHost({{"/proc/7/task/7/stat", stat_of(7, "stall-watch", 0x400000, 51, 1)},
                                    {"/proc/7/task/8/stat", stat_of(8, "corelane-io", 0x400000, 50, 1)}})
                              .look("others above");
  CHECK(finding.state == FindingState::present);
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
       "no process listens at /a/x.sock, nor at /b",
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
      {"reservation daemon", {.reserved_places = {"/a"}}, "no process listens at /a", "corelane-reserved &"},
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

TEST_CASE("a runtime directory that stands in for one that another user has taken is named with the reason") {
  const FakeHost host;
  const Finding finding = host.look("runtime directory", {.runtime_directory = "/home/me/.corelane-host",
                                                          .runtime_is_there = true,
                                                          .runtime_remark = "another user has taken /tmp/corelane-7"});
  CHECK(finding.state == FindingState::present);
  CHECK(finding.found == "/home/me/.corelane-host");
  CHECK(finding.note == "another user has taken /tmp/corelane-7");
}

TEST_CASE("a user that has the right to SCHED_DEADLINE but not every core is told so") {
  const auto note_of = [](const std::string& status) {
    return FakeHost({{"/proc/self/status", status}}).look("SCHED_DEADLINE", {.deadline_fault = EPERM}).note;
  };
  const std::string right = "\nCapEff:\t000001ffffffffff", none = "\nCapEff:\t0000000000000000";
  CHECK_THAT(note_of("Cpus_allowed_list:\t2-3" + right), Contains("taskset -cp"));
  CHECK_THAT(note_of("Cpus_allowed_list:\t0-3" + right), Contains("setcap"));
  CHECK_THAT(note_of("Cpus_allowed_list:\t2-3" + none), Contains("setcap"));
}

TEST_CASE("a user that is not root is given commands with sudo") {
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
