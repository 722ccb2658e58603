// Memory, cache and disk reserved with cores, on a fake host: what is promised, and which files enforce it.
#include <catch2/catch.hpp>
#include <filesystem>

#include "services/reserved/backends/cores/restore.h"
#include "services/reserved/backends/resources/resource_means.h"
#include "tests/services/reserved/reserving_host.h"

using namespace corelane;
using namespace corelane::reserved;
using Catch::Contains;
using corelane::testing::FakeHost;
using Kind = corelane::testing::HostKind;

namespace {

constexpr std::uint64_t mebi = 1 << 20;

ResourceWanted memory_of(std::uint64_t amount, bool best_effort = false) {
  return {Resource::memory, amount * mebi, best_effort};
}
ResourceWanted ways(std::uint64_t amount) { return {Resource::cache, amount, false}; }
ResourceWanted weight(std::uint64_t amount) { return {Resource::disk, amount, false}; }

std::string memory_group(const FakeHost& fake, int pid) { return fake.processes.group_of(pid, "memory").value(); }
std::string cache_group(const FakeHost& fake, int pid) { return fake.processes.group_of(pid, "resctrl").value(); }

// Returns the cache ways of the group; "" is the group of all other processes.
std::string ways_of(const FakeHost& fake, const std::string& group) {
  return schemata_text(parse_schemata(fake.resctrl.read(joined_path(group, "schemata")).value()));
}

}  // namespace

// Memory.

TEST_CASE("memory is guaranteed by cgroup v2 to the reservation and to the set around it") {
  FakeHost fake(Kind::v2);
  const auto grant = fake.reserve_with(fake.shell, {memory_of(256)});
  REQUIRE(grant);
  const std::string group = fake.group_of(fake.shell), set = group.substr(0, group.find('/'));
  CHECK(fake.unified.read(group + "/memory.min") == "268435456");
  CHECK(fake.unified.read(set + "/memory.min") == "268435456");
  REQUIRE(grant->remarks.size() == 1);
  CHECK_THAT(grant->remarks.front(), Contains("memory 256 MiB: ") && Contains("stays theirs"));
}

TEST_CASE("processes that share a core have the sum of their memory around them") {
  FakeHost fake(Kind::v2);
  const int one = fake.processes.fork_from(fake.shell), two = fake.processes.fork_from(fake.shell);
  const ShareWanted share{std::chrono::milliseconds{1}, std::chrono::milliseconds{10}};
  const auto first = fake.reserve(one, share, {}, Extent::tree, {memory_of(100)});
  REQUIRE(first);
  REQUIRE(fake.reserve(two, share, {}, Extent::tree, {memory_of(28)}));
  const std::string set = fake.group_of(one).substr(0, fake.group_of(one).find('/'));
  CHECK(fake.unified.read(set + "/memory.min") == std::to_string(128 * mebi));
  fake.controller().release(first->id);
  CHECK(fake.unified.read(set + "/memory.min") == std::to_string(28 * mebi));
}

TEST_CASE("memory that could not be taken back from the set's group is taken back later") {
  FakeHost fake(Kind::v2);
  const int one = fake.processes.fork_from(fake.shell), two = fake.processes.fork_from(fake.shell);
  const ShareWanted share{std::chrono::milliseconds{1}, std::chrono::milliseconds{10}};
  const auto first = fake.reserve(one, share, {}, Extent::tree, {memory_of(100)});
  REQUIRE(first);
  REQUIRE(fake.reserve(two, share, {}, Extent::tree, {memory_of(28)}));
  const std::string set = fake.group_of(two).substr(0, fake.group_of(two).find('/'));
  fake.unified.refused.insert("memory.min");
  fake.controller().release(first->id);
  REQUIRE(fake.unified.read(set + "/memory.min") == std::to_string(128 * mebi));
  fake.unified.refused.clear();
  fake.controller().tick();
  CHECK(fake.unified.read(set + "/memory.min") == std::to_string(28 * mebi));
}

TEST_CASE("memory that a busy group could not be relieved of is taken from it later") {
  FakeHost fake(Kind::v2);
  const int app = fake.processes.fork_from(fake.shell);
  REQUIRE(fake.reserve_with(app, {memory_of(100)}));
  const std::string group = fake.group_of(app);
  fake.unified.refused.insert("memory.min");
  fake.begin_to_end(app);
  fake.controller().ended(*fake.processes.identity(app));
  REQUIRE(fake.unified.read(group + "/memory.min") == std::to_string(100 * mebi));
  fake.unified.refused.clear();
  fake.controller().tick();
  CHECK(fake.unified.read(group + "/memory.min") == "0");
}

TEST_CASE("memory that the kernel has not taken back yet is not promised again") {
  FakeHost fake(Kind::v2);
  const int app = fake.processes.fork_from(fake.shell), other = fake.processes.fork_from(fake.shell);
  REQUIRE(fake.reserve_with(app, {memory_of(700)}));
  fake.unified.refused.insert("memory.min");
  fake.begin_to_end(app);
  fake.controller().ended(*fake.processes.identity(app));
  const auto refused = fake.reserve_with(other, {memory_of(500)});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == RefusalKind::no_room);
  CHECK_THAT(refused.error().reason, Contains("0 bytes are promised to others, and 700 MiB not taken back yet"));
  CHECK(refused.error().fits == "324 MiB of memory");
  CHECK(fake.controller().resources().at(0).promised == 700 * mebi);
  CHECK_THAT(fake.controller().status().backend.cannot.back(), Contains("700 MiB of memory, which the kernel has not"));
  const auto waiting = fake.reserve_with(other, {memory_of(500)}, true);
  REQUIRE(waiting);
  CHECK(waiting->waiting);
  fake.unified.refused.clear();
  fake.controller().tick();
  CHECK_FALSE(fake.controller().look(waiting->id)->waiting);
  CHECK(fake.controller().resources().at(0).promised == 500 * mebi);
}

TEST_CASE("memory that the kernel gives back on the next try is there for the next request") {
  FakeHost fake(Kind::v2);
  const int app = fake.processes.fork_from(fake.shell), other = fake.processes.fork_from(fake.shell);
  REQUIRE(fake.reserve_with(app, {memory_of(700)}));
  fake.unified.refused.insert("memory.min");
  fake.begin_to_end(app);
  fake.controller().ended(*fake.processes.identity(app));
  fake.unified.refused.clear();
  CHECK(fake.reserve_with(other, {memory_of(500)}));
}

TEST_CASE("memory that a group keeps is not taken out of what those around it are promised") {
  FakeHost fake(Kind::v2);
  const int one = fake.processes.fork_from(fake.shell), two = fake.processes.fork_from(fake.shell);
  const ShareWanted share{std::chrono::milliseconds{1}, std::chrono::milliseconds{10}};
  REQUIRE(fake.reserve(one, share, {}, Extent::tree, {memory_of(100)}));
  REQUIRE(fake.reserve(two, share, {}, Extent::tree, {memory_of(28)}));
  const std::string set = fake.group_of(two).substr(0, fake.group_of(two).find('/'));
  fake.unified.refused.insert(fake.group_of(one) + "/memory.min");
  fake.begin_to_end(one);
  fake.controller().ended(*fake.processes.identity(one));
  CHECK(fake.unified.read(set + "/memory.min") == std::to_string(128 * mebi));
  CHECK(fake.controller().resources().at(0).promised == 128 * mebi);
  fake.kill(one);
  fake.controller().tick();
  CHECK(fake.unified.read(set + "/memory.min") == std::to_string(28 * mebi));
  CHECK(fake.controller().resources().at(0).promised == 28 * mebi);
}

TEST_CASE("memory of a process that takes long to end is held until its group of cgroup v1 is gone") {
  FakeHost fake(Kind::v1);
  const int app = fake.processes.fork_from(fake.shell), other = fake.processes.fork_from(fake.shell);
  REQUIRE(fake.reserve_with(app, {memory_of(700, true)}));
  const auto process = *fake.processes.identity(app);
  fake.begin_to_end(app);
  fake.controller().ended(process);
  CHECK_FALSE(fake.reserve_with(other, {memory_of(500, true)}));
  fake.kill(app);
  CHECK(fake.reserve_with(other, {memory_of(500, true)}));
}

TEST_CASE("below another root than the hierarchy's no more memory is promised than is kept for that root") {
  FakeHost fake(Kind::v2);
  fake.unified.make("slice");
  fake.unified.write("cgroup.subtree_control", "+memory");
  const auto most = [&](const std::string& kept) {
    fake.unified.write("slice/memory.min", kept);
    return controllers_of_v2(fake.host(), "slice")[0]->offer().most;
  };
  CHECK(most("67108864") == 64 * mebi);
  CHECK(most("max") == fake.memory_to_promise);
  CHECK(most("0") == 0);
}

TEST_CASE("cgroup v1 gives memory as best effort, if that is accepted, below the group of the process") {
  FakeHost fake(Kind::v1);
  fake.memory.make("box");
  fake.memory.write("box/tasks", std::to_string(fake.shell));
  fake.before = fake.processes.entries;
  const auto refused = fake.reserve_with(fake.shell, {memory_of(256)});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().reason, Contains("guarantees none") && Contains("--best-effort"));
  const auto grant = fake.reserve_with(fake.shell, {memory_of(256, true)});
  REQUIRE(grant);
  const std::string group = memory_group(fake, fake.shell);
  CHECK_THAT(group, Catch::StartsWith("box/corelane-m"));
  CHECK(fake.memory.read(group + "/memory.soft_limit_in_bytes") == "268435456");
  fake.controller().release(grant->id);
  CHECK(memory_group(fake, fake.shell) == "box");
  CHECK_FALSE(fake.memory.has(group));
}

TEST_CASE("a process of the tree in a group of its own stays there, and the grant says so") {
  FakeHost fake(Kind::v1);
  const int app = fake.processes.fork_from(fake.shell), boxed = fake.processes.fork_from(app);
  fake.memory.make("box");
  fake.memory.write("box/tasks", std::to_string(boxed));
  const auto grant = fake.reserve_with(app, {memory_of(1, true)});
  REQUIRE(grant);
  CHECK(memory_group(fake, boxed) == "box");
  CHECK_THAT(grant->remarks.back(), Contains("1 process of the tree stays in its own group"));
}

TEST_CASE("memory is promised up to the host's but for the rest, and comes back") {
  FakeHost fake(Kind::v2);
  const int one = fake.processes.fork_from(fake.shell), two = fake.processes.fork_from(fake.shell);
  const auto first = fake.reserve_with(one, {memory_of(700)});
  REQUIRE(first);
  const auto refused = fake.reserve_with(two, {memory_of(325)});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == RefusalKind::no_room);
  CHECK_THAT(refused.error().reason, Contains("of 1 GiB 700 MiB are promised"));
  CHECK(refused.error().fits == "324 MiB of memory");
  CHECK(fake.reserve_with(two, {memory_of(1025)}).error().kind == RefusalKind::never_fits);
  const auto waiting = fake.reserve_with(two, {memory_of(325)}, true);
  REQUIRE(waiting);
  CHECK(waiting->waiting);
  fake.kill(one);
  CHECK_FALSE(fake.controller().look(waiting->id)->waiting);
  CHECK(fake.controller().resources().at(0).promised == 325 * mebi);
}

TEST_CASE("no request takes memory that an earlier request waits for") {
  FakeHost fake(Kind::v2);
  int pids[4];
  for (int& pid : pids) pid = fake.processes.fork_from(fake.shell);
  const ShareWanted share{std::chrono::milliseconds{1}, std::chrono::milliseconds{10}};
  REQUIRE(fake.reserve(pids[0], share, {}, Extent::tree, {memory_of(600)}));
  REQUIRE(fake.reserve(pids[1], share, {.queues = true}, Extent::tree, {memory_of(500)})->waiting);
  CHECK_FALSE(fake.reserve(pids[2], share, {}, Extent::tree, {memory_of(100)}));
  CHECK(fake.reserve(pids[3], share));
}

TEST_CASE("the rest of the memory is of what the host has") {
  CHECK(memory_to_promise("MemFree: 5 kB\nMemTotal:  1000 kB\n", 10) == 921'600);
  CHECK(memory_to_promise("MemTotal: 1000 kB", 100) == 0);
  CHECK(memory_to_promise("MemTotal: 1000 kB", 0) == 1'024'000);
  CHECK(memory_to_promise("", 10) == 0);
}

// Cache.

TEST_CASE("ways of the cache are the reservation's alone until it ends, by whichever backend") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell), child = fake.processes.fork_from(app);
  const auto grant = fake.reserve_with(app, {ways(2)});
  REQUIRE(grant);
  const std::string group = cache_group(fake, app);
  CHECK(cache_group(fake, child) == group);
  CHECK(cache_group(fake, fake.processes.fork_from(child)) == group);
  CHECK(ways_of(fake, group) == "L3:0=3;1=3");
  CHECK(fake.resctrl.read(group + "/mode") == "exclusive");
  CHECK(ways_of(fake, "") == "L3:0=fc;1=fc");
  fake.controller().release(grant->id);
  CHECK(cache_group(fake, child).empty());
  CHECK(ways_of(fake, "") == "L3:0=ff;1=ff");
}

TEST_CASE("ways that come free between others are given again, and one way is left to all processes") {
  FakeHost fake(Kind::v1);
  int pids[3];
  for (int& pid : pids) pid = fake.processes.fork_from(fake.shell);
  const auto first = fake.reserve_with(pids[0], {ways(3)});
  REQUIRE(first);
  REQUIRE(fake.reserve_with(pids[1], {ways(2)}));
  fake.controller().release(first->id);
  CHECK(ways_of(fake, "") == "L3:0=e0;1=e0");  // in one piece
  REQUIRE(fake.reserve_with(pids[2], {ways(1)}));
  CHECK(ways_of(fake, cache_group(fake, pids[2])) == "L3:0=1;1=1");
  CHECK(fake.reserve_with(pids[0], {ways(8)}).error().kind == RefusalKind::never_fits);
}

TEST_CASE("ways that another program's group has are not given") {
  FakeHost fake(Kind::v1);
  fake.resctrl.make("theirs");
  fake.resctrl.write("theirs/schemata", "L3:0=7;1=7");
  REQUIRE(fake.reserve_with(fake.shell, {ways(2)}));
  CHECK(ways_of(fake, cache_group(fake, fake.shell)) == "L3:0=18;1=18");
  const int other = fake.processes.fork_from(0);
  fake.resctrl.write("theirs/tasks", std::to_string(other));
  const auto refused = fake.reserve_with(other, {ways(1)});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().reason, Contains("/fake/resctrl/theirs, a group of another program"));
}

TEST_CASE("where the processor has no more groups for the cache nothing is left of the request") {
  FakeHost fake(Kind::v2);
  fake.resctrl.most_groups = 1;
  const auto refused = fake.reserve_with(fake.shell, {memory_of(1), ways(1)});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().reason, Contains("the processor has no more groups"));
  CHECK(fake.controller().resources().at(0).promised == 0);
  fake.controller().stop();
  CHECK(restore(fake.host(), "") == Remarks{});
  fake.check_as_found();
}

TEST_CASE("ways of a group that cannot be removed are given again once it is gone") {
  FakeHost fake(Kind::v1);
  const int one = fake.processes.fork_from(fake.shell), two = fake.processes.fork_from(fake.shell);
  const auto first = fake.reserve_with(one, {ways(2)});
  REQUIRE(first);
  const std::string group = cache_group(fake, one);
  fake.resctrl.refused = {group};
  fake.controller().release(first->id);
  CHECK(fake.reserve_with(two, {ways(6)}).error().kind == RefusalKind::no_room);
  REQUIRE(fake.reserve_with(two, {ways(1)}));
  CHECK(ways_of(fake, cache_group(fake, two)) == "L3:0=4;1=4");
  CHECK(fake.controller().resources().at(1).promised == 3);
  fake.resctrl.refused.clear();
  fake.controller().tick();
  CHECK_FALSE(fake.resctrl.has(group));
  REQUIRE(fake.reserve_with(one, {ways(2)}));
  CHECK(ways_of(fake, cache_group(fake, one)) == "L3:0=3;1=3");
}

TEST_CASE("ways of a group that a killed daemon left are not given until it can be removed") {
  FakeHost fake(Kind::v1);
  const int one = fake.processes.fork_from(fake.shell), two = fake.processes.fork_from(fake.shell);
  REQUIRE(fake.reserve_with(one, {ways(2)}));
  const std::string group = cache_group(fake, one);
  std::filesystem::copy_file(fake.journal.path(), fake.journal.path() + ".left");
  Journal left = Journal::open(fake.journal.path() + ".left").value();
  Host host = fake.host();
  host.journal = &left;
  fake.resctrl.refused = {group};
  CHECK(restore(host, "").size() == 2);  // the root's group cannot be widened either
  CacheWays next(host);
  CHECK(next.held() == 2);
  const Portion portion{.id = {7}, .holder = {.process = fake.processes.identity(two).value()}, .amount = 1};
  const auto given = next.give(portion);
  REQUIRE(given);
  CHECK(ways_of(fake, cache_group(fake, two)) == "L3:0=4;1=4");
  next.take(portion.id);
  fake.resctrl.refused.clear();
  next.sweep();
  CHECK(next.held() == 0);
  CHECK_FALSE(fake.resctrl.has(group));
  CHECK(ways_of(fake, "") == "L3:0=ff;1=ff");
  CHECK(left.entries().empty());
}

TEST_CASE("ways of a group that no journal tells of are not given though its name is as this program's are") {
  FakeHost fake(Kind::v1);
  fake.resctrl.make("corelane-c5");
  fake.resctrl.write("corelane-c5/schemata", "L3:0=7;1=7");
  REQUIRE(fake.reserve_with(fake.shell, {ways(2)}));
  CHECK(ways_of(fake, cache_group(fake, fake.shell)) == "L3:0=18;1=18");
  const auto refused = fake.reserve_with(fake.processes.fork_from(0), {ways(3)});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().reason, Contains("(corelane-c5)") && Contains("rmdir /fake/resctrl/corelane-c5"));
}

TEST_CASE("all others get ways back later that could not be given back at once") {
  FakeHost fake(Kind::v1);
  const auto grant = fake.reserve_with(fake.shell, {ways(2)});
  REQUIRE(grant);
  fake.resctrl.refused = {"schemata"};
  fake.controller().release(grant->id);
  REQUIRE(ways_of(fake, "") == "L3:0=fc;1=fc");
  fake.resctrl.refused.clear();
  fake.controller().tick();
  CHECK(ways_of(fake, "") == "L3:0=ff;1=ff");
}

TEST_CASE("the others' share of the cache is remembered when a reservation comes before they have it back") {
  FakeHost fake(Kind::v1);
  const auto first = fake.reserve_with(fake.shell, {ways(2)});
  REQUIRE(first);
  fake.resctrl.refused = {"schemata"};
  fake.controller().release(first->id);
  fake.resctrl.refused.clear();
  const auto second = fake.reserve_with(fake.shell, {ways(1)});
  REQUIRE(second);
  fake.controller().release(second->id);
  CHECK(ways_of(fake, "") == "L3:0=ff;1=ff");
  fake.controller().stop();
  CHECK(restore(fake.host(), "") == Remarks{});
  fake.check_as_found();
}

TEST_CASE("a host without resctrl says what is missing and what mends it") {
  CHECK_THAT(resctrl_lack(false, false), Contains("no cat_l3") && Contains("--near cache"));
  CHECK_THAT(resctrl_lack(true, false), Contains("CONFIG_X86_CPU_RESCTRL"));
  CHECK_THAT(resctrl_lack(true, true), Contains("mount -t resctrl"));
  FakeHost fake;
  Host host = fake.host();
  host.resctrl = nullptr;
  host.resctrl_lack = "nowhere";
  CHECK(controllers_of_v1(host)[1]->offer().meaning == "nowhere");
}

// Disk.

TEST_CASE("a weight of the disk is written where the kernel reads it") {
  const Kind kind = GENERATE(Kind::v1, Kind::v2);
  FakeHost fake(kind);
  const auto grant = fake.reserve_with(fake.shell, {weight(500)});
  REQUIRE(grant);
  CHECK_THAT(grant->remarks.back(), Contains("disk weight 500: ") && Contains("(sda under bfq)"));
  if (kind == Kind::v1) {
    const std::string group = fake.processes.group_of(fake.shell, "blkio").value();
    CHECK(fake.blkio.read(group + "/blkio.bfq.weight") == "500");
  } else {
    const std::string group = fake.group_of(fake.shell);
    CHECK(fake.unified.read(group + "/io.bfq.weight") == "500");
    CHECK(fake.unified.read(group.substr(0, group.find('/')) + "/io.bfq.weight") == "500");
  }
  CHECK(fake.reserve_with(fake.kernel_thread, {weight(1001)}).error().kind == RefusalKind::never_fits);
}

TEST_CASE("a host where no disk is shared by weight is reported with the command that changes it") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2));
  fake.disks.schedulers["sda"] = "none [mq-deadline] bfq";
  const auto refused = fake.reserve_with(fake.shell, {weight(500)});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().reason, Contains("echo bfq > /sys/block/sda/queue/scheduler"));
}

// All of them.

TEST_CASE("a thread's share comes without memory, cache or disk") {
  FakeHost fake(Kind::v2);
  const ShareWanted share{std::chrono::milliseconds{1}, std::chrono::milliseconds{10}};
  for (const ResourceWanted& one : {memory_of(1), ways(1), weight(100)})
    CHECK(fake.reserve(fake.shell, share, {}, Extent::thread, {one}).error().kind == RefusalKind::bad_request);
  CHECK(fake.reserve_with(fake.shell, {memory_of(1), memory_of(2)}).error().kind == RefusalKind::bad_request);
}

TEST_CASE("a request that affinity alone cannot fulfill is refused with the backends that can") {
  FakeHost fake(Kind::affinity);
  for (const ResourceWanted& one : {memory_of(1, true), weight(100)}) {
    const auto refused = fake.reserve_with(fake.shell, {one});
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().reason, Contains("where cgroup v2 is mounted"));
  }
}

TEST_CASE("the advice names reserved.processes if that is why there are no control groups") {
  FakeHost fake(Kind::affinity);
  Host host = fake.host();
  const auto said_of = [&host] {
    std::string text = AffinityOnly(host).report().cannot.front();
    for (const auto& one : controllers_without_groups(host))
      if (one->offer().which != Resource::cache) text += "\n" + one->offer().meaning;
    return text;
  };
  CHECK_THAT(said_of(), !Contains("reserved.processes"));
  host.of_process = fake.shell;
  CHECK_THAT(said_of(), Catch::StartsWith(
                            "the kernel keeps no process off a reserved core, because reserved.processes is set: ") &&
                            Contains("leave that setting out, and cgroup v1 or v2") &&
                            Contains("because reserved.processes is set: leave that out, and start"));
}

TEST_CASE("one of a tree with memory and ways of its own goes back to the tree's") {
  FakeHost fake(Kind::v1);
  const int app = fake.processes.fork_from(fake.shell), child = fake.processes.fork_from(app);
  REQUIRE(fake.reserve_with(app, {memory_of(1, true), ways(1)}));
  const auto inner = fake.reserve_with(child, {memory_of(1, true), ways(1)});
  REQUIRE(inner);
  CHECK(memory_group(fake, child) != memory_group(fake, app));
  fake.controller().release(inner->id);
  CHECK(memory_group(fake, child) == memory_group(fake, app));
  CHECK(cache_group(fake, child) == cache_group(fake, app));
}
