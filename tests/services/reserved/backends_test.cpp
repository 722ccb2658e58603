// The backends and the keeper on a host of the test's own.
#include <sys/resource.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>

#include "services/reserved/backends/restore.h"
#include "services/reserved/daemon/process_watch.h"
#include "tests/services/reserved/reserving_host.h"

using namespace corelane;
using namespace corelane::reserved;
using corelane::testing::FakeHost;
using corelane::testing::FakeProcesses;
using Kind = corelane::testing::HostKind;
using namespace std::chrono_literals;

TEST_CASE("whatever the backend a process has its core alone and the host is as found after the end") {
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
  fake.keeper().stop();
  CHECK(fake.processes.affinity(child));
  CHECK(restore(fake.host(), "") == Remarks{});
  fake.check_as_found();
}

TEST_CASE("whatever the backend what a crash left is put back from the journal on disk") {
  const Kind kind = GENERATE(Kind::v1, Kind::v2, Kind::affinity);
  FakeHost fake(kind);
  const int app = fake.processes.fork_from(fake.shell), other = fake.processes.fork_from(fake.shell);
  fake.processes.set_affinity(other, os::parse_core_list("1-2").value());
  fake.before = fake.processes.entries;
  REQUIRE(fake.reserve(app, CoresWanted{.count = 2}));
  const std::string path = fake.journal.path();
  {
    std::ifstream file(path, std::ios::binary);
    std::ofstream(path + ".crash", std::ios::binary) << file.rdbuf() << "\n+home\tuni";  // torn
  }
  Journal left = Journal::open(path + ".crash").value();
  REQUIRE_FALSE(left.entries().empty());
  Host host = fake.host();
  host.journal = &left;
  CHECK(restore(host, "") == Remarks{});
  CHECK(left.entries().empty());
  for (const JournalEntry& entry : std::vector(fake.journal.entries())) fake.journal.drop(entry);
  if (kind != Kind::v1) return fake.check_as_found();
  CHECK(fake.cores_of(app) == "0-3");  // the mask of `other` is the kernel's to keep in a cpuset
}

TEST_CASE("a tree goes as a whole, and ends with its last process") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell), child = fake.processes.fork_from(app);
  REQUIRE(fake.reserve(app));
  const auto place = fake.cores_of(app) + fake.group_of(app);
  CHECK(fake.cores_of(child) + fake.group_of(child) == place);
  fake.kill(app);
  fake.keeper().tick();
  CHECK(fake.cores_of(child) + fake.group_of(child) == place);
  CHECK(fake.keeper().accounts().size() == 1);
  CHECK(fake.watched.back() == fake.processes.identity(child));
  fake.kill(child);
  CHECK(fake.keeper().accounts().empty());
}

TEST_CASE("what a process runs on is its own reservation or that of the nearest tree that it is in") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell), guest = fake.processes.fork_from(fake.shell);
  const int child = fake.processes.fork_from(app), grandchild = fake.processes.fork_from(child);
  const auto holds = [&](int pid) {
    const auto held = fake.keeper().holding(fake.processes.identity(pid).value());
    return held ? held->id : no_reservation;
  };
  const ReservationId outer = fake.reserve(app).value().id;
  CHECK((holds(app) == outer && holds(grandchild) == outer));
  const ReservationId inner = fake.reserve(child).value().id;
  CHECK((holds(app) == outer && holds(child) == inner));
  CHECK(holds(fake.processes.fork_from(child)) == inner);
  const Process service = fake.processes.identity(guest).value();
  REQUIRE(fake.keeper().lend(outer, service));
  REQUIRE(fake.keeper().work_on(outer, service));
  CHECK(holds(guest) == no_reservation);
  CHECK(holds(fake.shell) == no_reservation);
}

TEST_CASE("a tree of one process has ended with it though its parent has not waited for it") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell);
  REQUIRE(fake.reserve(app));
  fake.end(app);
  CHECK(fake.keeper().accounts().empty());
}

TEST_CASE("of a tree that goes on without its first process one that runs is watched, and no other") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2));
  const int app = fake.processes.fork_from(fake.shell);
  const int first = fake.processes.fork_from(app), second = fake.processes.fork_from(app);
  REQUIRE(fake.reserve(app));
  fake.end(app);
  CHECK(fake.watched.back() == fake.processes.identity(first));
  fake.end(first);
  CHECK(fake.watched.back() == fake.processes.identity(second));
  fake.end(second);
  CHECK(fake.keeper().accounts().empty());
  CHECK(fake.watched.size() == 3);
}

TEST_CASE("a process of a tree that has a reservation of its own keeps that one") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell), child = fake.processes.fork_from(app);
  REQUIRE(fake.reserve(child));
  const auto alone = fake.group_of(child) + fake.cores_of(child);
  REQUIRE(fake.reserve(app));
  CHECK(fake.group_of(child) + fake.cores_of(child) == alone);
  CHECK(fake.group_of(app) + fake.cores_of(app) != alone);
}

TEST_CASE("controllers that somebody switched off in the root are switched on again for a reservation") {
  FakeHost fake(Kind::v2);
  fake.keeper();
  for (const char* const off : {"-cpuset", "-cpu"}) fake.unified.write("cgroup.subtree_control", off);
  REQUIRE(fake.reserve(fake.shell));
  CHECK_THAT(fake.unified.read("cgroup.subtree_control").value(), Catch::Contains("cpuset") && Catch::Contains("cpu "));
  fake.keeper().stop();
  CHECK(restore(fake.host(), "") == Remarks{});
  fake.check_as_found();
}

TEST_CASE("a share is written where the kernel reads it") {
  FakeHost v1(Kind::v1), v2(Kind::v2);
  const Wanted share = ShareWanted{2ms, 10ms};
  const auto first = v1.reserve(v1.shell, share);
  REQUIRE(first);
  CHECK(v1.cpu.read("corelane-b" + std::to_string(first->id.value) + "/cpu.cfs_quota_us") == "2000");
  const auto second = v2.reserve(v2.shell, share);
  REQUIRE(second);
  CHECK(v2.unified.read(v2.group_of(v2.shell) + "/cpu.max") == "2000 10000");
}

TEST_CASE("a thread with a share is under SCHED_DEADLINE until it gives it back") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2));
  const auto grant = fake.reserve(fake.shell, ShareWanted{100us, 1ms}, {}, Extent::thread);
  REQUIRE(grant);
  CHECK(grant->guarantee == Guarantee::thread_deadline);
  CHECK(fake.processes.entries[fake.shell].scheduling.is_deadline());
  fake.keeper().release(grant->id);
  CHECK_FALSE(fake.processes.entries[fake.shell].scheduling.is_deadline());
}

TEST_CASE("a thread is scheduled after its share as it was before, unless somebody set it otherwise meanwhile") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2));
  const os::SchedulingClass fifo{.policy = 1, .flags = 1, .priority = 50}, nice{.nice = -5};
  os::SchedulingClass& now = fake.processes.entries[fake.shell].scheduling;
  now = fifo;
  const auto share = [&] { return fake.reserve(fake.shell, ShareWanted{100us, 1ms}, {}, Extent::thread).value().id; };
  const ReservationId first = share();
  CHECK(now.is_deadline());
  SECTION("given back") {
    fake.keeper().release(first);
    CHECK(now == fifo);
  }
  SECTION("set meanwhile") {
    now = nice;
    fake.keeper().release(first);
    CHECK(now == nice);
  }
  SECTION("after a crash") {
    CHECK(restore(fake.host(), "").empty());
    CHECK(now == fifo);
  }
  CHECK(std::ranges::count(fake.journal.entries(), JournalEntry::Kind::policy, &JournalEntry::kind) == 0);
}

TEST_CASE("a process from somebody else's group goes back there") {
  FakeHost fake(Kind::v1);
  fake.cpuset.make("docker");
  fake.cpuset.write("docker/cpuset.cpus", "0-3");
  REQUIRE(fake.cpuset.write("docker/tasks", std::to_string(fake.shell)) == 0);
  const auto grant = fake.reserve(fake.shell);
  REQUIRE(grant);
  CHECK_THAT(fake.backend->report().cannot.front(), Catch::Contains("cannot be parted exclusively"));
  CHECK(fake.cores_of(fake.shell) == "3");
  fake.keeper().release(grant->id);
  CHECK(fake.processes.group_of(fake.shell, "cpuset") == "docker");
}

TEST_CASE("a service goes to its client's cores and home again") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int client = fake.processes.fork_from(fake.shell), service = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(client);
  REQUIRE(grant);
  const Process process = fake.processes.identity(service).value();
  CHECK_FALSE(fake.keeper().work_on(grant->id, process));
  REQUIRE(fake.keeper().lend(grant->id, process));
  REQUIRE(fake.keeper().work_on(grant->id, process));
  CHECK(fake.cores_of(service) == fake.cores_of(client));
  CHECK(fake.group_of(service) == fake.group_of(client));
  fake.keeper().leave(grant->id, process);
  CHECK(fake.cores_of(service) == fake.cores_of(fake.shell));
  CHECK(fake.group_of(service) == fake.group_of(fake.shell));
}

TEST_CASE("one of a tree that works for a client goes back to the tree's cores, which stay reserved meanwhile") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int client = fake.processes.fork_from(fake.shell), first = fake.processes.fork_from(fake.shell);
  const int child = GENERATE(false, true) ? fake.processes.fork_from(first) : first;  // or the only one
  const auto grant = fake.reserve(client), tree = fake.reserve(first);
  REQUIRE((grant && tree));
  const auto home = fake.cores_of(child) + fake.group_of(child);
  const Process service = fake.processes.identity(child).value();
  REQUIRE(fake.keeper().lend(grant->id, service));
  REQUIRE(fake.keeper().work_on(grant->id, service));
  CHECK(fake.cores_of(child) + fake.group_of(child) != home);
  fake.keeper().tick();
  CHECK(fake.keeper().find(tree->id));
  const bool ends = GENERATE(false, true);
  if (ends)
    fake.keeper().release(grant->id);
  else
    fake.keeper().leave(grant->id, service);
  CHECK(fake.cores_of(child) + fake.group_of(child) == home);
  fake.kill(child);
  CHECK(fake.keeper().find(tree->id).has_value() == (child != first));
}

TEST_CASE("what is gone has nothing to be put back, and is forgotten") {
  FakeHost fake;
  const JournalEntry gone[] = {
      {.kind = JournalEntry::Kind::interrupt, .subject = "99/smp_affinity_list", .before = "0-3"},
      {.kind = JournalEntry::Kind::value, .where = "cpuset", .subject = "ended/cpuset.cpus", .before = "0"},
  };
  for (const JournalEntry& entry : gone) REQUIRE(fake.journal.add(entry));
  CHECK(restore(fake.host(), fake.directory / "interrupts") == Remarks{});
  CHECK(fake.journal.entries().empty());
}

namespace {

// A service that works on a client's core.
struct Visit {
  explicit Visit(Kind kind)
      : fake(kind), client(fake.processes.fork_from(fake.shell)), service(fake.processes.fork_from(fake.shell)) {
    lent = fake.reserve(client).value().id;
    const Process process = fake.processes.identity(service).value();
    const bool works = fake.keeper().lend(lent, process) && fake.keeper().work_on(lent, process);
    REQUIRE(works);
  }
  Loan loan() { return fake.keeper().accounts().front().loans.at(0); }

  FakeHost fake;
  int client, service;
  ReservationId lent;
};

}  // namespace

TEST_CASE("who gets the pid of a service that ended at its client's is nobody's guest") {
  Visit visit(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  FakeHost& fake = visit.fake;
  fake.kill(visit.service);
  fake.processes.fork_again(visit.service, fake.shell);
  fake.keeper().tick();
  CHECK(fake.cores_of(visit.service) + fake.group_of(visit.service) ==
        fake.cores_of(fake.shell) + fake.group_of(fake.shell));
  const auto own = fake.reserve(visit.service);
  REQUIRE(own);
  fake.keeper().tick();
  CHECK(fake.keeper().find(own->id));
}

TEST_CASE("what a service used at its client's until it ended stays in the client's account") {
  Visit visit(Kind::v1);
  visit.fake.processes.entries[visit.service].used = 5ms;
  SECTION("as looked at when it ended") { visit.fake.end(visit.service); }
  SECTION("or at the latest look before, where nothing is left of it") {
    visit.fake.keeper().tick();
    visit.fake.kill(visit.service);
  }
  CHECK((visit.loan().used == 5ms && visit.loan().over && !visit.loan().in_use));
}

TEST_CASE("a service whose loan is over comes in no more until it is lent to it again") {
  Visit visit(Kind::v1);
  const Process service = visit.fake.processes.identity(visit.service).value();
  visit.fake.keeper().take_back(visit.lent, service);
  CHECK_FALSE(visit.fake.keeper().work_on(visit.lent, service));
  REQUIRE(visit.fake.keeper().lend(visit.lent, service));
  CHECK(visit.fake.keeper().work_on(visit.lent, service));
  CHECK(visit.loan().times == 2);
}

TEST_CASE("a tick looks at the parents of all processes as often for many trees as for one") {
  const auto passes_with = [](int trees) {
    FakeHost fake(Kind::affinity);
    for (int i = 0; i < trees; ++i) REQUIRE(fake.reserve(fake.processes.fork_from(fake.shell)));
    const int before = fake.processes.passes;
    fake.keeper().tick();
    return fake.processes.passes - before;
  };
  CHECK(passes_with(3) == passes_with(1));
}

TEST_CASE("a tick looks at the processes of a deep tree as often as at those of a wide one") {
  const auto identities_of = [](bool deep) {
    FakeHost fake(Kind::affinity);
    const int app = fake.processes.fork_from(fake.shell);
    for (int i = 0, last = app; i < 20; ++i) last = fake.processes.fork_from(deep ? last : app);
    REQUIRE(fake.reserve(app));
    const int before = fake.processes.identities;
    fake.keeper().tick();
    return fake.processes.identities - before;
  };
  CHECK(identities_of(true) == identities_of(false));
}

TEST_CASE("a question by someone without the right costs no look at all processes") {
  FakeHost fake(Kind::affinity);
  const int app = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(app);
  REQUIRE(grant);
  const int before = fake.processes.passes;
  CHECK(fake.keeper().holding(fake.processes.identity(app).value(), false)->id == grant->id);
  CHECK(fake.processes.passes == before);
}

TEST_CASE("someone without the right has the cores of the tree that it was just started in, and no others") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell), alone = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(app);
  REQUIRE((grant && fake.reserve(alone, CoresWanted{.count = 1}, {}, Extent::process)));
  const auto asked_by = [&](int parent) {
    const int pid = fake.processes.fork_from(fake.processes.fork_from(parent));
    return fake.keeper().holding(fake.processes.identity(pid).value(), false);
  };
  const auto held = asked_by(app);
  REQUIRE(held);
  CHECK(held->id == grant->id);
  CHECK_FALSE(asked_by(fake.shell));
}

// Error paths.

TEST_CASE("a process whose affinity cannot be set is refused and may come once it can") {
  FakeHost fake(Kind::affinity);
  const int app = fake.processes.fork_from(fake.shell);
  fake.processes.entries[app].refuses_affinity = GENERATE(EINVAL, EBUSY);
  const auto refused = fake.reserve(app);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == RefusalKind::system_refused);
  CHECK_THAT(refused.error().reason, Catch::Contains("cannot be moved to cores 3 and stays on 0-3"));
  CHECK(fake.keeper().accounts().empty());
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
  fake.keeper().release(grant->id);
  CHECK(fake.cores_of(fake.shell) == "0-1");
  CHECK(fake.keeper().cores()[3].use == CoreUse::held);
  fake.keeper().release(second->id);
  CHECK(fake.cores_of(fake.shell) == "0-2");
  CHECK(fake.keeper().tick());  // wants to be called again soon
  fake.kill(app);
  CHECK_FALSE(fake.keeper().tick());
  CHECK(fake.cores_of(fake.shell) == "0-3");
  CHECK(fake.keeper().cores()[3].use == CoreUse::common);
}

TEST_CASE("who waits for a core whose process takes long to end gets it once it has, and is not refused before") {
  FakeHost fake(Kind::v1);
  const int app = fake.processes.fork_from(fake.shell);
  const int waiting[] = {fake.processes.fork_from(fake.shell), fake.processes.fork_from(fake.shell)};
  const auto grant = fake.reserve(app, CoresWanted{.count = 3});
  const auto first = fake.reserve(waiting[0], CoresWanted{.count = 1}, {.queues = true});
  const auto second = fake.reserve(waiting[1], CoresWanted{.count = 1}, {.queues = true});
  REQUIRE((grant && first && second));
  const auto waits = [&](const auto& who) {
    const auto now = fake.keeper().look(who->id);
    REQUIRE(now);
    return now->waiting;
  };
  fake.begin_to_end(app);
  fake.keeper().release(grant->id);
  CHECK((waits(first) && waits(second)));
  CHECK(fake.keeper().tick());
  CHECK((waits(first) && waits(second)));
  fake.kill(app);
  fake.keeper().tick();
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

TEST_CASE("a tree has ended though a service still works on its cores") {
  const Kind kind = GENERATE(Kind::v1, Kind::v2);
  FakeHost fake(kind);
  const int client = fake.processes.fork_from(fake.shell);
  const Process service = fake.processes.identity(fake.processes.fork_from(fake.shell)).value();
  const auto grant = fake.reserve(client);
  REQUIRE(grant);
  REQUIRE(fake.keeper().lend(grant->id, service));
  REQUIRE(fake.keeper().work_on(grant->id, service));
  fake.kill(client);
  CHECK_FALSE(fake.keeper().find(grant->id));
  fake.keeper().stop();
  CHECK(restore(fake.host(), "").empty());
  CHECK(fake.cores_of(service.pid) == "0-3");
}

TEST_CASE("a thread that sleeps since before it was moved is under SCHED_DEADLINE once it has run") {
  const Kind kind = GENERATE(Kind::v1, Kind::v2);
  FakeHost fake(kind);
  const int app = fake.processes.fork_from(fake.shell);
  fake.processes.entries[app].last_core = CoreId{0};
  fake.processes.refuses_deadline = true;
  const auto grant = fake.reserve(app, ShareWanted{1ms, 10ms}, {}, Extent::thread);
  REQUIRE(grant);
  REQUIRE_FALSE(grant->remarks.empty());
  CHECK_THAT(grant->remarks.front(), Catch::Contains("sleeps"));
  CHECK(fake.keeper().tick());
  CHECK_FALSE(fake.processes.entries[app].scheduling.is_deadline());
  fake.processes.entries[app].last_core = grant->place.cores.front();
  SECTION("and the kernel takes it") {
    fake.processes.refuses_deadline = false;
    CHECK_FALSE(fake.keeper().tick());
    CHECK(fake.processes.entries[app].scheduling.is_deadline());
  }
  SECTION("or the reservation ends, where the kernel refuses it then") {
    CHECK_FALSE(fake.keeper().tick());
    const auto ended = fake.keeper().look(grant->id);
    REQUIRE_FALSE(ended);
    CHECK_THAT(ended.error().reason, Catch::Contains("SCHED_DEADLINE"));
  }
}

TEST_CASE("what the kernel refuses is given back and told") {
  FakeHost fake(Kind::v2);
  fake.keeper();
  fake.unified.refused = {"cpuset.cpus.partition"};
  const auto grant = fake.reserve(fake.shell);
  REQUIRE_FALSE(grant);
  CHECK(grant.error().kind == RefusalKind::system_refused);
  CHECK_THAT(grant.error().reason, Catch::Contains("cpuset.cpus.partition: Permission denied"));
  CHECK(fake.keeper().accounts().empty());
  fake.unified.refused.clear();
  CHECK(fake.reserve(fake.shell));
}

TEST_CASE("a service that the kernel does not let in is told so and may come later") {
  FakeHost fake(Kind::v1);
  const int client = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(client);
  REQUIRE(grant);
  const Process service = fake.processes.identity(fake.shell).value();
  REQUIRE(fake.keeper().lend(grant->id, service));
  fake.cpuset.refused = {"cgroup.procs", "tasks"};
  const auto told = fake.keeper().work_on(grant->id, service);
  REQUIRE_FALSE(told);
  CHECK_THAT(told.error().reason, Catch::Contains("could not be brought") && Catch::Contains("Permission denied"));
  CHECK_FALSE(fake.keeper().accounts().at(0).loans.at(0).in_use);
  fake.cpuset.refused.clear();
  CHECK(fake.keeper().work_on(grant->id, service));
}

TEST_CASE("a process that cannot be watched for want of descriptors is not taken for ended") {
  const Process self = os::this_process();
  std::atomic<int> ended = 0;  // the watch's thread counts, the test looks after its end
  ProcessWatch watch;
  watch.start({.ended = [&](const Process&) { ++ended; }, .tick = [] { return Duration{1h}; }});
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const auto refused = watch.watch(self);
  setrlimit(RLIMIT_NOFILE, &before);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error(), Catch::Contains("cannot be watched") && Catch::Contains("LimitNOFILE"));
  CHECK(watch.watch(self));
  watch.keep_only({});
  watch.stop();
  CHECK(ended == 0);
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

TEST_CASE("a thread that the kernel refuses SCHED_DEADLINE runs as before") {
  FakeHost fake(Kind::v1);
  fake.processes.refuses_deadline = true;
  const auto grant = fake.reserve(fake.shell, ShareWanted{100us, 1ms}, {}, Extent::thread);
  REQUIRE_FALSE(grant);
  CHECK_THAT(grant.error().reason, Catch::Contains("CAP_SYS_NICE"));
  CHECK(fake.cores_of(fake.shell) == "0-3");
  CHECK(fake.keeper().cores()[3].use == CoreUse::common);
}
