// The backends and the controller on a fake host.
#include <catch2/catch.hpp>
#include <fstream>

#include "services/reserved/backends/cores/restore.h"
#include "tests/services/reserved/reserving_host.h"

using namespace corelane;
using namespace corelane::reserved;
using corelane::testing::FakeHost;
using Kind = corelane::testing::HostKind;

TEST_CASE("with every backend a process has its core alone, and the host is as it was found after the end") {
  const Kind kind = GENERATE(Kind::v1, Kind::v2, Kind::affinity);
  FakeHost fake(kind);
  const int app = fake.processes.fork_from(fake.shell);
  fake.before = fake.processes.entries;
  const auto grant = fake.reserve(app);
  REQUIRE(grant);
  CHECK(grant->guarantee == (kind == Kind::affinity ? Guarantee::affinity_only : Guarantee::exclusive_cores));
  if (kind == Kind::v2) {
    CHECK(fake.unified.left_to_others() == "0-2");
    CHECK(fake.unified.read(fake.group_of(app) + "/cpuset.cpus") == "3");
  } else {
    CHECK(fake.cores_of(app) == "3");
    CHECK(fake.cores_of(fake.shell) == "0-2");
    CHECK(fake.cores_of(fake.kernel_thread) == "0-3");
  }
  const int child = fake.processes.fork_from(app);
  fake.controller().stop();
  CHECK(fake.processes.affinity(child));
  CHECK(restore(fake.host(), "") == Remarks{});
  fake.check_as_found();
}

TEST_CASE("with every backend the changes that a crash left are undone from the journal on disk") {
  const Kind kind = GENERATE(Kind::v1, Kind::v2, Kind::affinity);
  FakeHost fake(kind);
  const int app = fake.processes.fork_from(fake.shell), other = fake.processes.fork_from(fake.shell);
  fake.processes.set_affinity(other, os::parse_core_list("1-2").value());
  fake.before = fake.processes.entries;
  REQUIRE(fake.reserve(app, CoresWanted{.count = 2}));
  const std::string path = fake.journal.path();
  {
    std::ifstream file(path, std::ios::binary);
    std::ofstream(path + ".crash", std::ios::binary) << file.rdbuf() << "\n+home\tuni";  // an incomplete line
  }
  Journal left = Journal::open(path + ".crash").value();
  REQUIRE_FALSE(left.entries().empty());
  Host host = fake.host();
  host.journal = &left;
  CHECK(restore(host, "") == Remarks{});
  CHECK(left.entries().empty());
  for (const JournalEntry& entry : std::vector(fake.journal.entries())) fake.journal.drop(entry);
  if (kind != Kind::v1) return fake.check_as_found();
  CHECK(fake.cores_of(app) == "0-3");  // a cpuset's kernel keeps the mask of `other` itself
}

TEST_CASE("controllers that another program switched off in the root are switched on again for a reservation") {
  FakeHost fake(Kind::v2);
  fake.controller();
  for (const char* const off : {"-cpuset", "-cpu"}) fake.unified.write("cgroup.subtree_control", off);
  REQUIRE(fake.reserve(fake.shell));
  CHECK_THAT(fake.unified.read("cgroup.subtree_control").value(), Catch::Contains("cpuset") && Catch::Contains("cpu "));
  fake.controller().stop();
  CHECK(restore(fake.host(), "") == Remarks{});
  fake.check_as_found();
}

TEST_CASE("a process from another program's group goes back there") {
  FakeHost fake(Kind::v1);
  fake.cpuset.make("docker");
  fake.cpuset.write("docker/cpuset.cpus", "0-3");
  REQUIRE(fake.cpuset.write("docker/tasks", std::to_string(fake.shell)) == 0);
  const auto grant = fake.reserve(fake.shell);
  REQUIRE(grant);
  CHECK_THAT(fake.backend->report().cannot.front(), Catch::Contains("cannot be parted exclusively"));
  CHECK(fake.cores_of(fake.shell) == "3");
  fake.controller().release(grant->id);
  CHECK(fake.processes.group_of(fake.shell, "cpuset") == "docker");
}

TEST_CASE("a process that is gone has nothing to be undone, and is forgotten") {
  FakeHost fake;
  const JournalEntry gone[] = {
      {.kind = JournalEntry::Kind::interrupt, .subject = "99/smp_affinity_list", .before = "0-3"},
      {.kind = JournalEntry::Kind::value, .where = "cpuset", .subject = "ended/cpuset.cpus", .before = "0"},
  };
  for (const JournalEntry& entry : gone) REQUIRE(fake.journal.add(entry));
  CHECK(restore(fake.host(), fake.directory / "interrupts") == Remarks{});
  CHECK(fake.journal.entries().empty());
}

// Errors.

TEST_CASE("a process whose affinity cannot be set is refused and may come once it can") {
  FakeHost fake(Kind::affinity);
  const int app = fake.processes.fork_from(fake.shell);
  fake.processes.entries[app].refuses_affinity = GENERATE(EINVAL, EBUSY);
  const auto refused = fake.reserve(app);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == RefusalKind::system_refused);
  CHECK_THAT(refused.error().reason, Catch::Contains("cannot be moved to cores 3 and stays on 0-3"));
  CHECK(fake.controller().accounts().empty());
  CHECK(fake.cores_of(fake.shell) == "0-3");
  fake.processes.entries[app].refuses_affinity = 0;
  CHECK(fake.reserve(app));
  CHECK(fake.cores_of(app) == "3");
}

TEST_CASE("a tree that could not be moved while others reserved is asked for anew when it reserves itself") {
  FakeHost fake(Kind::affinity);
  const int other = fake.processes.fork_from(fake.shell), app = fake.processes.fork_from(fake.shell);
  const int child = fake.processes.fork_from(app);
  for (const int pid : {app, child}) fake.processes.entries[pid].refuses_affinity = EINVAL;
  REQUIRE(fake.reserve(other));
  CHECK((fake.cores_of(app) == "0-3" && fake.cores_of(child) == "0-3"));
  for (const int pid : {app, child}) fake.processes.entries[pid].refuses_affinity = 0;
  REQUIRE(fake.reserve(app));
  CHECK((fake.cores_of(app) == "2" && fake.cores_of(child) == "2"));
}

TEST_CASE("a core whose process takes long to end goes to everybody once it has, and others meanwhile") {
  FakeHost fake(Kind::v1);
  const int app = fake.processes.fork_from(fake.shell), other = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(app), second = fake.reserve(other);
  REQUIRE((grant && second));
  fake.begin_to_end(app);
  fake.controller().release(grant->id);
  CHECK(fake.cores_of(fake.shell) == "0-1");
  CHECK(fake.controller().cores()[3].use == CoreUse::held);
  fake.controller().release(second->id);
  CHECK(fake.cores_of(fake.shell) == "0-2");
  CHECK(fake.controller().tick());  // it wants to be called again soon
  fake.kill(app);
  CHECK_FALSE(fake.controller().tick());
  CHECK(fake.cores_of(fake.shell) == "0-3");
  CHECK(fake.controller().cores()[3].use == CoreUse::common);
}

TEST_CASE("a request that waits for a core gets it once the core's process has ended, and is not refused before") {
  FakeHost fake(Kind::v1);
  const int app = fake.processes.fork_from(fake.shell);
  const int waiting[] = {fake.processes.fork_from(fake.shell), fake.processes.fork_from(fake.shell)};
  const auto grant = fake.reserve(app, CoresWanted{.count = 3});
  const auto first = fake.reserve(waiting[0], CoresWanted{.count = 1}, {.queues = true});
  const auto second = fake.reserve(waiting[1], CoresWanted{.count = 1}, {.queues = true});
  REQUIRE((grant && first && second));
  const auto waits = [&](const auto& who) {
    const auto now = fake.controller().look(who->id);
    REQUIRE(now);
    return now->waiting;
  };
  fake.begin_to_end(app);
  fake.controller().release(grant->id);
  CHECK((waits(first) && waits(second)));
  CHECK(fake.controller().tick());
  CHECK((waits(first) && waits(second)));
  fake.kill(app);
  fake.controller().tick();
  CHECK_FALSE((waits(first) || waits(second)));
  CHECK((fake.cores_of(waiting[0]) == "3" && fake.cores_of(waiting[1]) == "2"));
}

TEST_CASE("groups that stay busy are waited for together and not each by itself") {
  FakeHost fake(Kind::v1);
  int patience = 3;
  for (const char* const name : {"one", "two"}) {
    fake.cpuset.make(name);
    fake.cpuset.write(std::string(name) + "/cpuset.cpus", "3");
    const int app = fake.processes.fork_from(fake.shell);
    REQUIRE(fake.cpuset.write(std::string(name) + "/tasks", std::to_string(app)) == 0);
    fake.begin_to_end(app);
    CHECK(remove_emptied(fake.cpuset, name, "", "tasks", patience) == EBUSY);
    CHECK(patience == 0);
  }
}

TEST_CASE("a reservation that the kernel refuses is given back and reported") {
  FakeHost fake(Kind::v2);
  fake.controller();
  fake.unified.refused = {"cpuset.cpus.partition"};
  const auto grant = fake.reserve(fake.shell);
  REQUIRE_FALSE(grant);
  CHECK(grant.error().kind == RefusalKind::system_refused);
  CHECK_THAT(grant.error().reason, Catch::Contains("cpuset.cpus.partition: Permission denied"));
  CHECK(fake.controller().accounts().empty());
  fake.unified.refused.clear();
  CHECK(fake.reserve(fake.shell));
}

TEST_CASE("a partition that the kernel calls invalid is none") {
  FakeHost fake(Kind::v2);
  fake.unified.make("other");
  fake.unified.write("other/cpuset.cpus", "3");
  fake.unified.write("other/cpuset.cpus.partition", "root");
  const auto grant = fake.reserve(fake.shell);
  REQUIRE_FALSE(grant);
  CHECK_THAT(grant.error().reason, Catch::Contains("root invalid (Cpu list in cpuset.cpus not exclusive)"));
  CHECK(fake.unified.children("") == std::vector<std::string>{"other"});
}
