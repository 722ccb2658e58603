// What holds on every host, for every order of events, and whenever the daemon is killed.
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <random>

#include "services/reserved/backends/cores/restore.h"
#include "tests/services/reserved/reserving_host.h"

using namespace corelane;
using namespace corelane::reserved;
using corelane::testing::FakeGroups;
using corelane::testing::FakeHost;
using corelane::testing::Fate;
using corelane::testing::Killed;
using Kind = corelane::testing::HostKind;
using namespace std::chrono_literals;

namespace {

// A host that has everything which can change it: trees, shares, guests, bound threads, and another program's group.
class EventfulHost : public FakeHost {
 public:
  explicit EventfulHost(Kind kind) : FakeHost(kind) {
    for (int* const pid : {&app_, &child_, &thread_, &tree_, &service_, &bound_})
      *pid = processes.fork_from(pid == &child_ ? app_ : shell);
    processes.set_affinity(bound_, {{3}});
    processes.entries[thread_].scheduling = {.policy = 1, .priority = 10};
    FakeGroups& groups = kind == Kind::v2 ? unified : cpuset;
    groups.make("docker");
    groups.write("docker/cpuset.cpus", "0");
    groups.write("docker/cgroup.procs", std::to_string(service_));
    groups.write("docker/cgroup.procs", std::to_string(thread_));
    before = processes.entries;
  }
  void begin() {
    const bool has_groups = backend->enforces();
    std::vector<ResourceWanted> also{{Resource::cache, 2}};
    if (has_groups) also.insert(also.end(), {{Resource::memory, 1 << 20, true}, {Resource::disk, 300}});
    const ReservationId lent = reserve_with(app_, also).value().id;
    const bool shares =
        !has_groups || (reserve(thread_, ShareWanted{1ms, 10ms}, {}, Extent::thread) &&
                        reserve(tree_, ShareWanted{2ms, 10ms}, {}, Extent::tree, {{Resource::memory, 1 << 20, true}}));
    REQUIRE(shares);
    const Process service = processes.identity(service_).value();
    const bool works = controller().lend(lent, service) && controller().work_on(lent, service);
    REQUIRE(works);
  }
  void end() {
    controller().tick();
    const auto accounts = controller().accounts();
    controller().leave(accounts.front().id, processes.identity(service_).value());
    controller().release(accounts.front().id);
    kill(child_);
    controller().stop();
    const Remarks faults = restore(host(), "");
    CHECK(faults == Remarks{});
  }
  // The start of the next daemon from what is on the disk.
  void restore_from_disk() {
    std::filesystem::copy_file(journal.path(), journal.path() + ".left", std::filesystem::copy_options::skip_existing);
    Journal left = Journal::open(journal.path() + ".left").value();
    Host from_disk = host();
    from_disk.journal = &left;
    const Remarks faults = restore(from_disk, "");
    CHECK(faults == Remarks{});
    CHECK(left.entries().empty());
  }
  void check_as_found_by_next() {
    for (const JournalEntry& entry : std::vector(journal.entries())) journal.drop(entry);
    check_as_found();
  }

 private:
  int app_ = 0, child_ = 0, thread_ = 0, tree_ = 0, service_ = 0, bound_ = 0;
};

// Returns whether the daemon was killed before `life` ended.
template <typename Life>
bool is_killed(Fate& fate, int change, bool before, const Life& life) {
  fate.kill_at(change, before);
  try {
    life();
  } catch (const Killed&) {
    return true;
  }
  fate.spare();
  return false;
}

}  // namespace

TEST_CASE("whichever change of the host the daemon is killed at the next one puts it back as it was found") {
  const Kind kind = GENERATE(Kind::v1, Kind::v2, Kind::affinity);
  const bool before = GENERATE(true, false);
  int change = 0;
  for (bool killed = true; killed;) {
    EventfulHost fake(kind);
    killed = is_killed(fake.processes.fate, ++change, before, [&] {
      fake.begin();
      fake.end();
    });
    INFO("host " << static_cast<int>(kind) << ", killed " << (before ? "before" : "after") << " change " << change);
    if (killed) fake.restore_from_disk();
    fake.check_as_found_by_next();
  }
  CHECK(change > (kind == Kind::affinity ? 10 : 30));
}

TEST_CASE("whichever change the next daemon is killed at while it puts the host back the one after it does") {
  const Kind kind = GENERATE(Kind::v1, Kind::v2, Kind::affinity);
  const bool before = GENERATE(true, false);
  int change = 0;
  for (bool killed = true; killed;) {
    EventfulHost fake(kind);
    fake.begin();
    killed = is_killed(fake.processes.fate, ++change, before, [&] { fake.restore_from_disk(); });
    INFO("host " << static_cast<int>(kind) << ", killed " << (before ? "before" : "after") << " change " << change);
    if (killed) fake.restore_from_disk();
    fake.check_as_found_by_next();
  }
  CHECK(change > 5);
}

namespace {

// Returns random resources for some of the reservations: a third of the host's memory, ways of the cache, a weight of
// the disk.
template <typename Draw>
std::vector<ResourceWanted> resources(const Draw& draw) {
  std::vector<ResourceWanted> also;
  if (draw(3) == 0) also.push_back({Resource::memory, 400 << 20, true});
  if (draw(4) == 0) also.push_back({Resource::cache, 1 + static_cast<std::uint64_t>(draw(3)), false});
  if (draw(4) == 0) also.push_back({Resource::disk, 300, false});
  return also;
}

}  // namespace

TEST_CASE("after a thousand random sequences of reserve, release and kill the host is as it was found") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    FakeHost fake(static_cast<Kind>(seed % 3));
    std::vector<int> pids;
    for (int i = 0; i < 6; ++i) pids.push_back(fake.processes.fork_from(fake.shell));
    for (int step = 0; step < 25; ++step) {
      int& pid = pids[static_cast<std::size_t>(draw(6))];
      const auto accounts = fake.controller().accounts();
      switch (draw(5)) {
        case 0:
          fake.kill(pid);
          pid = fake.processes.fork_from(draw(2) == 0 ? fake.shell : pids[0]);
          break;
        case 1:
          if (!accounts.empty()) fake.controller().release(accounts[random() % accounts.size()].id);
          break;
        case 2:
          (void)fake.reserve(pid, ShareWanted{1ms * (1 + draw(6)), 10ms}, {.queues = draw(2) == 0},
                             static_cast<Extent>(draw(3)), resources(draw));
          break;
        default:
          (void)fake.reserve(pid, CoresWanted{.count = 1 + draw(3)}, {.queues = draw(2) == 0},
                             static_cast<Extent>(draw(2)), resources(draw));
      }
      fake.now += 1ms;
    }
    fake.controller().stop();
    CHECK(restore(fake.host(), "") == Remarks{});
    INFO("seed " << seed);
    fake.check_as_found();
    for (const CoreState& core : fake.controller().cores())
      CHECK((core.use == CoreUse::common || core.use == CoreUse::withheld));
    for (const auto& [offer, promised] : fake.controller().resources()) CHECK(promised == 0);
  }
}
