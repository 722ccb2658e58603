// Services that work on their clients' cores, on a fake host.
#include <catch2/catch.hpp>
#include <chrono>

#include "services/reserved/backends/cores/restore.h"
#include "tests/services/reserved/reserving_host.h"

using namespace corelane;
using namespace corelane::reserved;
using corelane::testing::FakeHost;
using Kind = corelane::testing::HostKind;
using namespace std::chrono_literals;

TEST_CASE("a service goes to its client's cores and home again") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int client = fake.processes.fork_from(fake.shell), service = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(client);
  REQUIRE(grant);
  const Process process = fake.processes.identity(service).value();
  CHECK_FALSE(fake.controller().work_on(grant->id, process));
  REQUIRE(fake.controller().lend(grant->id, process));
  REQUIRE(fake.controller().work_on(grant->id, process));
  CHECK(fake.cores_of(service) == fake.cores_of(client));
  CHECK(fake.group_of(service) == fake.group_of(client));
  fake.controller().leave(grant->id, process);
  CHECK(fake.cores_of(service) == fake.cores_of(fake.shell));
  CHECK(fake.group_of(service) == fake.group_of(fake.shell));
}

TEST_CASE("one of a tree that works for a client goes back to the tree's cores, which stay reserved meanwhile") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int client = fake.processes.fork_from(fake.shell), first = fake.processes.fork_from(fake.shell);
  const int child = GENERATE(false, true) ? fake.processes.fork_from(first) : first;  // or the only process
  const auto grant = fake.reserve(client), tree = fake.reserve(first);
  REQUIRE((grant && tree));
  const auto home = fake.cores_of(child) + fake.group_of(child);
  const Process service = fake.processes.identity(child).value();
  REQUIRE(fake.controller().lend(grant->id, service));
  REQUIRE(fake.controller().work_on(grant->id, service));
  CHECK(fake.cores_of(child) + fake.group_of(child) != home);
  fake.controller().tick();
  CHECK(fake.controller().find(tree->id));
  const bool ends = GENERATE(false, true);
  if (ends)
    fake.controller().release(grant->id);
  else
    fake.controller().leave(grant->id, service);
  CHECK(fake.cores_of(child) + fake.group_of(child) == home);
  fake.kill(child);
  CHECK(fake.controller().find(tree->id).has_value() == (child != first));
}

namespace {

// A service that works on a client's core.
struct Visit {
  explicit Visit(Kind kind)
      : fake(kind), client(fake.processes.fork_from(fake.shell)), service(fake.processes.fork_from(fake.shell)) {
    lent = fake.reserve(client).value().id;
    const Process process = fake.processes.identity(service).value();
    const bool works = fake.controller().lend(lent, process) && fake.controller().work_on(lent, process);
    REQUIRE(works);
  }
  Loan loan() { return fake.controller().accounts().front().loans.at(0); }

  FakeHost fake;
  int client, service;
  ReservationId lent;
};

}  // namespace

TEST_CASE("a process that gets the pid of a service that ended on its client's cores is no guest of the client") {
  Visit visit(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  FakeHost& fake = visit.fake;
  fake.kill(visit.service);
  fake.processes.fork_again(visit.service, fake.shell);
  fake.controller().tick();
  CHECK(fake.cores_of(visit.service) + fake.group_of(visit.service) ==
        fake.cores_of(fake.shell) + fake.group_of(fake.shell));
  const auto own = fake.reserve(visit.service);
  REQUIRE(own);
  fake.controller().tick();
  CHECK(fake.controller().find(own->id));
}

TEST_CASE("time that a service used on its client's cores until it ended stays in the client's account") {
  Visit visit(Kind::v1);
  visit.fake.processes.entries[visit.service].used = 5ms;
  SECTION("as looked at when it ended") { visit.fake.end(visit.service); }
  SECTION("or at the latest look before, where nothing is left of it") {
    visit.fake.controller().tick();
    visit.fake.kill(visit.service);
  }
  CHECK((visit.loan().used == 5ms && visit.loan().over && !visit.loan().in_use));
}

TEST_CASE("a service whose loan is over comes in no more until it is lent to it again") {
  Visit visit(Kind::v1);
  const Process service = visit.fake.processes.identity(visit.service).value();
  visit.fake.controller().take_back(visit.lent, service);
  CHECK_FALSE(visit.fake.controller().work_on(visit.lent, service));
  REQUIRE(visit.fake.controller().lend(visit.lent, service));
  CHECK(visit.fake.controller().work_on(visit.lent, service));
  CHECK(visit.loan().times == 2);
}

TEST_CASE("a tree has ended though a service still works on its cores") {
  const Kind kind = GENERATE(Kind::v1, Kind::v2);
  FakeHost fake(kind);
  const int client = fake.processes.fork_from(fake.shell);
  const Process service = fake.processes.identity(fake.processes.fork_from(fake.shell)).value();
  const auto grant = fake.reserve(client);
  REQUIRE(grant);
  REQUIRE(fake.controller().lend(grant->id, service));
  REQUIRE(fake.controller().work_on(grant->id, service));
  fake.kill(client);
  CHECK_FALSE(fake.controller().find(grant->id));
  fake.controller().stop();
  CHECK(restore(fake.host(), "").empty());
  CHECK(fake.cores_of(service.pid) == "0-3");
}

TEST_CASE("a service that the kernel does not let in is told so and may come later") {
  FakeHost fake(Kind::v1);
  const int client = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(client);
  REQUIRE(grant);
  const Process service = fake.processes.identity(fake.shell).value();
  REQUIRE(fake.controller().lend(grant->id, service));
  fake.cpuset.refused = {"cgroup.procs", "tasks"};
  const auto told = fake.controller().work_on(grant->id, service);
  REQUIRE_FALSE(told);
  CHECK_THAT(told.error().reason, Catch::Contains("could not be brought") && Catch::Contains("Permission denied"));
  CHECK_FALSE(fake.controller().accounts().at(0).loans.at(0).in_use);
  fake.cpuset.refused.clear();
  CHECK(fake.controller().work_on(grant->id, service));
}
