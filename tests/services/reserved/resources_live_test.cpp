// Memory reserved with cores on this kernel: corelane-reserved as a program, on cpusets of the test.
#include <catch2/catch.hpp>
#include <string>

#include "orb/os/process/child_process.h"
#include "services/reserved/backends/group_files.h"
#include "tests/services/reserved/daemon_inside.h"

using namespace corelane;
using namespace corelane::testing;

TEST_CASE("a program has its memory at best on cgroup v1 while it runs, and is told so") {
  const std::string tool = os::program_beside("corelane");
  check_inside([&](const LiveCpusets& at) {
    const reserved::Mounts mounts = reserved::find_mounts();
    if (mounts.v1_memory.empty()) return cannot + "the memory controller of cgroup v1 is not mounted";
    const reserved::MountedGroups memory(mounts.v1_memory);
    Faults faults;
    RunningDaemon daemon = daemon_of(at);
    ReservationClient client(daemon);
    const std::vector<std::string> words{
        tool, "-ORBRuntimeDirectory", daemon.directory(), "reserve", "--cores", "1", "--memory", "16MiB"};
    const auto started = [&](std::vector<std::string> more) {
      more.insert(more.begin(), words.begin(), words.end());
      return os::ChildProcess(more, {.joins_errors = true});
    };
    os::ChildProcess strict = started({"--", "cat"});
    const std::string refusal = strict.read_all().value_or("");
    faults.unless(refusal.find("guarantees none") != refusal.npos, "the refusal is " + refusal);
    const std::string before = reserved::HostProcesses().group_of(getpid(), "memory").value_or("?");
    os::ChildProcess program = started({"--best-effort", "--", "cat"});
    program.write_line("I run");
    std::string said;
    while (said.find("I run") == said.npos) said += program.read_line().value_or("I run no more");
    faults.unless(said.find("memory 16 MiB: cgroup v1 guarantees none") != said.npos, "the grant is " + said);
    const std::string group = reserved::HostProcesses().group_of(program.pid(), "memory").value_or("?");
    faults.unless(group.starts_with(reserved::joined_path(before, "corelane-m")), "it is in " + group);
    faults.differ(memory.read(group + "/memory.soft_limit_in_bytes").value_or("?"), std::string("16777216"), "it has");
    faults.unless(client.server->held_resources().size() == 1, "the account");
    kill(program.pid(), SIGKILL);
    faults.unless(client.accounts_become(0), "still held by a dead program");
    faults.unless(!memory.has(group), "the group is left");
    return faults.text();
  });
}

TEST_CASE("memory settings that a killed daemon left are undone by the next one") {
  check_inside([](const LiveCpusets& at) {
    const reserved::Mounts mounts = reserved::find_mounts();
    if (mounts.v1_memory.empty()) return cannot + "the memory controller of cgroup v1 is not mounted";
    Faults faults;
    Sleeper one;
    const std::string before = reserved::HostProcesses().group_of(one.pid(), "memory").value_or("?");
    RunningDaemon daemon = daemon_of(at);
    {
      ReservationClient client(daemon);
      Corelane::Reservation::CoresWanted wanted;
      wanted.count(1);
      client.server->reserve_with(client.holder_of(one.pid()), wanted, {},
                                  {Corelane::Reservation::ResourceWanted("memory", 1 << 24, true)}, {});
    }
    const std::string group = reserved::HostProcesses().group_of(one.pid(), "memory").value_or("?");
    faults.unless(group != before, "it had no group");
    daemon.kill_now();
    daemon.start();
    faults.differ(reserved::HostProcesses().group_of(one.pid(), "memory").value_or("?"), before, "its group is");
    faults.unless(!reserved::MountedGroups(mounts.v1_memory).has(group), "the group is left");
    return faults.text();
  });
}
