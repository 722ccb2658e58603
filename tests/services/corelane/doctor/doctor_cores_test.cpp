// What doctor reports about cores: who uses them, how fast they run, sleep and wake.
#include <catch2/catch.hpp>
#include <string>

#include "services/corelane/doctor/finding.h"
#include "tests/services/corelane/doctor/fake_host.h"

using namespace corelane::tool;
using namespace corelane::testing;
using Catch::Contains;

TEST_CASE("each lack of a core that files show is named with the command that mends it") {
  static const Lack lacks[] = {
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
  };
  check_lacks(lacks);
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

TEST_CASE("cores that corelane-reserved gave or left are no lack, and no command takes them back") {
  struct Row {
    const char *group, *found;
  };
  const Row row = GENERATE(Row{"/corelane-r17", "3, of reservation 17, from corelane-reserved"},
                           Row{"/a/corelane-r17/m17", "3, of reservation 17, from corelane-reserved"},
                           Row{"/corelane-s3/m18", "3, the shared core 3, from corelane-reserved"},
                           Row{"/corelane-s0", "3, the shared core 0, from corelane-reserved"},
                           Row{"/corelane-default", "3, the cores that corelane-reserved left for all processes"});
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

TEST_CASE("a core that a program keeps from deep sleep by cpu_dma_latency wakes early") {
  const FakeFiles deep = {{"/sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "0"}};
  CHECK(FakeHost(deep).look("idle states").state == FindingState::missing);
  FakeFiles held = deep;
  held["/dev/cpu_dma_latency"] = std::string("\x05\0\0", 3) + '\0';
  // The fake file ends with a newline. The reader removes it, as it does for every file.
  CHECK(FakeHost(held).look("idle states").state == FindingState::present);
}

TEST_CASE("a list of cores is read and written as the kernel writes it") {
  CHECK(core_text(parse_core_set("0-2,5,7-8")) == "0-2,5,7-8");
  CHECK(core_text({}).empty());
  for (const char* bad : {"", "x", "1-", "-1", "1,,2", "3;4"}) CHECK(parse_core_set(bad).empty());
}
