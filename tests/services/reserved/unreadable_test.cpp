// A process that the daemon cannot read, because no descriptor is left, has not ended. A holder that moved to another
// group has not ended, either.
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <vector>

#include "orb/os/fd.h"
#include "orb/os/socket_path.h"
#include "services/reserved/backends/cores/restore.h"
#include "tests/services/reserved/daemon_inside.h"
#include "tests/services/reserved/reserving_host.h"

using namespace corelane;
using namespace corelane::reserved;
using namespace corelane::testing;
using Kind = corelane::testing::HostKind;
using namespace std::chrono_literals;

TEST_CASE("a reservation outlives a time in which nothing can be looked at, and the host is as found after the end") {
  const Kind kind = GENERATE(Kind::v1, Kind::v2, Kind::affinity);
  FakeHost fake(kind);
  const int app = fake.processes.fork_from(fake.shell), thread = fake.processes.fork_from(fake.shell);
  fake.before = fake.processes.entries;
  REQUIRE(fake.reserve(app));
  if (kind != Kind::affinity) REQUIRE(fake.reserve(thread, ShareWanted{1ms, 10ms}, {}, Extent::thread));
  const auto before = fake.processes.entries;
  const auto accounts = fake.controller().accounts().size();
  fake.processes.unreadable = true;
  fake.controller().tick();
  fake.controller().ended({.pid = 4000});  // another process
  CHECK(fake.controller().accounts().size() == accounts);
  fake.processes.unreadable = false;
  fake.controller().tick();
  CHECK(fake.controller().accounts().size() == accounts);
  for (const auto& [pid, entry] : before) CHECK(fake.cores_of(pid) == os::core_list_text(entry.affinity));
  fake.controller().stop();
  CHECK(restore(fake.host(), "") == Remarks{});
  fake.check_as_found();
}

TEST_CASE("a process that cannot be looked at is not granted what it would not have") {
  FakeHost fake(Kind::v1);
  fake.controller();
  const Process app = fake.processes.identity(fake.shell).value();
  fake.processes.unreadable = true;
  const auto refused = fake.controller().reserve({.process = app, .extent = Extent::tree}, CoresWanted{.count = 1}, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == RefusalKind::system_refused);
  CHECK_THAT(refused.error().reason, Catch::Contains("LimitNOFILE"));
}

TEST_CASE("a holder that goes into a group of its own below its set keeps its reservation") {
  const Kind kind = GENERATE(Kind::v1, Kind::v2);
  FakeHost fake(kind);
  const int app = fake.processes.fork_from(fake.shell), child = fake.processes.fork_from(app);
  fake.before = fake.processes.entries;
  REQUIRE(fake.reserve(app));
  const std::string set = kind == Kind::v1 ? fake.processes.group_of(app, "cpuset").value() : fake.group_of(app);
  FakeGroups& groups = kind == Kind::v1 ? fake.cpuset : fake.unified;
  groups.make(set + "/inner");
  groups.write(set + "/inner/cpuset.cpus", "3");
  for (const int pid : {app, child}) REQUIRE(groups.write(set + "/inner/cgroup.procs", std::to_string(pid)) == 0);
  fake.controller().tick();
  CHECK(fake.controller().accounts().size() == 1);
  fake.kill(app);
  fake.controller().tick();
  CHECK(fake.controller().accounts().size() == 1);
  CHECK(fake.watched.back() == fake.processes.identity(child));
  fake.controller().stop();
  CHECK(restore(fake.host(), "") == Remarks{});
  fake.check_as_found();
}

TEST_CASE("a holder that another program moves away keeps its reservation until it ends") {
  FakeHost fake(Kind::v1);
  const int app = fake.processes.fork_from(fake.shell);
  REQUIRE(fake.reserve(app));
  fake.cpuset.write("corelane-default/cgroup.procs", std::to_string(app));
  fake.controller().tick();
  CHECK(fake.controller().accounts().size() == 1);
  fake.kill(app);
  CHECK(fake.controller().accounts().empty());
}

// On this kernel.

namespace {

// Makes connections that send nothing.
std::vector<os::Fd> idle_connections(const std::string& path, int count) {
  std::vector<os::Fd> connections;
  const auto address = os::unix_address(path);
  for (int i = 0; i < count; ++i) {
    os::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), address->generic(), address->length) == 0) connections.push_back(std::move(socket));
  }
  return connections;
}

}  // namespace

TEST_CASE("idle connections beyond the daemon's descriptors take no reservation from other processes") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    Sleeper one;
    RunningDaemon daemon(options_of(at), "ulimit -n 128");
    ReservationClient client(daemon);
    client.reserve(one.pid(), 1);
    const auto connections = idle_connections(daemon.socket(), 300);
    faults.unless(connections.size() > 128, "not so many can connect");
    const auto up = [&] { return client.server->state().up(); };
    for (const auto begin = up(); up() < begin + 2'500'000'000;) {  // until it has checked everything twice
    }
    faults.unless(client.server->accounts().size() == 1, "the reservation is gone");
    faults.differ(at.cores_of(one), at.second(), "where the holder runs");
    return faults.text();
  });
}
