#include "orb/dispatch/host_ledger.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include "orb/base/minor.h"
#include "orb/dispatch/neighbours.h"
#include "orb/os/file_lock.h"
#include "orb/os/log.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

class Directory {
 public:
  Directory() {
    os::log::set_level(os::log::Level::off);  // damage is made on purpose here
    std::string name = (std::filesystem::temp_directory_path() / "corelane-ledger-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    std::filesystem::remove_all(path_);
    os::log::set_level(os::log::Level::info);
  }
  const std::string& path() const { return path_; }
  std::string file() const { return path_ + "/ledger"; }

  void overwrite(std::size_t offset, std::size_t length) const {
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream << std::string(length, '\x5a');
  }

 private:
  std::string path_;
};

os::Topology machine(const char* description = "core:4 pu:1") { return *os::Topology::synthetic(description); }

std::unique_ptr<HostLedger> open(const Directory& directory, const char* description = "core:4 pu:1") {
  auto ledger = HostLedger::open(machine(description), directory.path());
  REQUIRE(ledger);
  return std::move(*ledger);
}

Promise promise(int core, Duration budget, Duration period = 10ms) {
  return {.core = CoreId{static_cast<std::int16_t>(core)},
          .physical_core = core,
          .contract = make_contract(period, budget)};
}

// What others have promised, in ppm over all cores; -1 when no transaction opens.
sched::Ppm others_of(HostLedger& ledger) {
  const auto others = ledger.begin();
  if (!others) return -1;
  sched::Ppm sum = 0;
  for (const Promise& p : *others) sum += p.contract.budget.count() * sched::whole_core / p.contract.period.count();
  ledger.abandon();
  return sum;
}

void promise_all(HostLedger& ledger, std::vector<Promise> mine) {
  REQUIRE(ledger.begin());
  REQUIRE(ledger.end(mine));
}

}  // namespace

TEST_CASE("a fresh ledger holds no promises") {
  const Directory directory;
  CHECK(others_of(*open(directory)) == 0);
}

TEST_CASE("a process sees what others promised and not its own") {
  const Directory directory;
  const auto a = open(directory);
  const auto b = open(directory);
  promise_all(*a, {promise(0, 1ms), promise(2, 5ms)});
  CHECK(others_of(*a) == 0);
  CHECK(others_of(*b) == 600'000);
  const auto seen = b->begin();
  REQUIRE(seen);
  REQUIRE(seen->size() == 2);
  CHECK((*seen)[1].core == CoreId{2});
  CHECK((*seen)[1].contract == make_contract(10ms, 5ms));
  b->abandon();
}

TEST_CASE("a new promise replaces the old one") {
  const Directory directory;
  const auto a = open(directory);
  const auto b = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  promise_all(*a, {promise(1, 1ms)});
  CHECK(others_of(*b) == 100'000);
  promise_all(*a, {});
  CHECK(others_of(*b) == 0);
}

TEST_CASE("a process that ends gives its promises back") {
  const Directory directory;
  auto a = open(directory);
  const auto b = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  a.reset();
  CHECK(others_of(*b) == 0);
}

TEST_CASE("a transaction shuts out the others until it ends") {
  const Directory directory;
  const auto a = open(directory);
  const auto b = open(directory);
  REQUIRE(a->begin());
  CHECK(b->begin().error().kind == ErrorKind::transient);
  a->abandon();
  CHECK(others_of(*b) == 0);
}

TEST_CASE("leases take one hardware thread of each physical core unless siblings are wanted") {
  const Directory directory;
  const auto ledger = open(directory, "core:2 pu:2");
  CHECK(ledger->lease({})->size() == 2);
  CHECK(ledger->lease({.cores = {}, .siblings = true})->size() == 4);
  const auto chosen = ledger->lease({.cores = {CoreId{1}}, .siblings = false});
  REQUIRE(chosen);
  REQUIRE(chosen->size() == 1);
  CHECK(chosen->front().core == CoreId{1});
}

TEST_CASE("kill -9 returns what a process promised") {
  const Directory directory;
  const auto here = open(directory);
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    auto there = HostLedger::open(machine(), directory.path());
    const bool promised = there && (*there)->begin() && (*there)->end(std::vector{promise(0, 5ms)});
    (void)!write(ready[1], promised ? "y" : "n", 1);
    for (;;) pause();
  }
  char answer = 0;
  REQUIRE(read(ready[0], &answer, 1) == 1);
  CHECK(answer == 'y');
  CHECK(others_of(*here) == 500'000);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(others_of(*here) == 0);
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("kill -9 within a transaction leaves the ledger usable") {
  const Directory directory;
  const auto here = open(directory);
  promise_all(*here, {promise(1, 1ms)});
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    auto there = HostLedger::open(machine(), directory.path());
    (void)!write(ready[1], there && (*there)->begin() ? "y" : "n", 1);
    for (;;) pause();
  }
  char answer = 0;
  REQUIRE(read(ready[0], &answer, 1) == 1);
  CHECK(answer == 'y');
  CHECK(others_of(*here) == -1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(others_of(*here) == 0);
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("what a process runs above its tasks is written down with its levels") {
  const Directory directory;
  const auto a = open(directory);
  const auto b = open(directory);
  Promise task = promise(0, 1ms);
  task.levels = 47;
  Promise load = promise(0, 20us, 1ms);
  load.kind = PromiseKind::platform;
  load.blocking = 7us;
  promise_all(*a, {task, load});
  const auto seen = b->begin();
  REQUIRE(seen);
  REQUIRE(seen->size() == 2);
  CHECK((*seen)[0].kind == PromiseKind::task);
  CHECK((*seen)[0].levels == 47);
  CHECK((*seen)[1].kind == PromiseKind::platform);
  CHECK((*seen)[1].blocking == 7us);
  CHECK((*seen)[1].owner == (*seen)[0].owner);
  b->abandon();
}

// Edges.

TEST_CASE("a slot holds as many promises as it says and no more") {
  const Directory directory;
  const auto a = open(directory);
  const auto b = open(directory);
  std::vector<Promise> many(ledger::max_entries, promise(0, 10us));
  promise_all(*a, many);
  CHECK(others_of(*b) == static_cast<sched::Ppm>(ledger::max_entries) * 1000);
  many.push_back(promise(0, 10us));
  REQUIRE(a->begin());
  CHECK(a->end(many).error().kind == ErrorKind::imp_limit);
  CHECK(others_of(*b) == static_cast<sched::Ppm>(ledger::max_entries) * 1000);
}

TEST_CASE("sixty-four processes find a slot and the next one does not") {
  const Directory directory;
  std::vector<std::unique_ptr<HostLedger>> all;
  for (std::size_t i = 0; i < ledger::slot_count; ++i) all.push_back(open(directory));
  CHECK(HostLedger::open(machine(), directory.path()).error().kind == ErrorKind::imp_limit);
  all.pop_back();
  CHECK(HostLedger::open(machine(), directory.path()));
}

// Error paths: damage.

TEST_CASE("a damaged header is found and mended and no promise is lost") {
  const Directory directory;
  const auto a = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  directory.overwrite(0, 24);
  CHECK_FALSE(a->begin());
  const auto late = open(directory);  // a newcomer mends it, too
  CHECK(others_of(*late) == 500'000);
  directory.overwrite(0, 24);
  a->maintain();
  CHECK(others_of(*late) == 500'000);
}

TEST_CASE("a damaged slot keeps transactions shut until its owner has written it again") {
  const Directory directory;
  const auto a = open(directory);
  const auto b = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  const std::size_t at = GENERATE(std::size_t{0}, std::size_t{8}, ledger::entries_offset + 16);
  directory.overwrite(ledger::first_slot + at, 4);
  CHECK_FALSE(b->begin());
  a->maintain();
  CHECK(others_of(*b) == 500'000);
}

TEST_CASE("the damaged slot of a dead process hinders nobody") {
  const Directory directory;
  auto a = open(directory);
  const auto b = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  a.reset();
  directory.overwrite(ledger::first_slot, 64);
  CHECK(others_of(*b) == 0);
}

TEST_CASE("a truncated ledger is mended from the memory of those who live") {
  const Directory directory;
  const auto a = open(directory);
  const auto b = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  promise_all(*b, {promise(1, 1ms)});
  REQUIRE(truncate(directory.file().c_str(), 0) == 0);
  CHECK_FALSE(a->begin());
  a->maintain();
  b->maintain();
  CHECK(others_of(*a) == 100'000);
  CHECK(others_of(*b) == 500'000);
}

TEST_CASE("a removed ledger is made again and all living promises return to it") {
  const Directory directory;
  const auto a = open(directory);
  const auto b = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  std::filesystem::remove(directory.file());
  CHECK_FALSE(a->begin());
  a->maintain();
  b->maintain();
  CHECK(others_of(*b) == 500'000);
}

TEST_CASE("who finds no slot in a new ledger promises nothing until one is free") {
  const Directory directory;
  const auto a = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  std::filesystem::remove(directory.file());
  std::vector<std::unique_ptr<HostLedger>> all;
  for (std::size_t i = 0; i < ledger::slot_count; ++i) all.push_back(open(directory));
  a->maintain();
  CHECK_FALSE(a->begin());
  all.pop_back();
  a->maintain();
  CHECK(others_of(*a) == 0);
  CHECK(others_of(*all.front()) == 500'000);
}

TEST_CASE("a ledger of another version that nobody uses is replaced") {
  const Directory directory;
  const ledger::FileHeader old = ledger::make_header(1);
  std::ofstream(directory.file(), std::ios::binary).write(reinterpret_cast<const char*>(&old), sizeof old)
      << std::string(100'000, 'x');
  const auto ledger = open(directory);
  CHECK(others_of(*ledger) == 0);
  CHECK(std::filesystem::file_size(directory.file()) < 100'000);
}

TEST_CASE("a ledger of another version that somebody uses is left alone") {
  const Directory directory;
  const ledger::FileHeader old = ledger::make_header(1);
  std::ofstream(directory.file(), std::ios::binary).write(reinterpret_cast<const char*>(&old), sizeof old);
  const os::Fd there(::open(directory.file().c_str(), O_RDWR | O_CLOEXEC));
  const auto locked = os::try_lock(there, {.start = static_cast<off_t>(ledger::slot_offset(3)), .length = 1});
  REQUIRE(locked);
  REQUIRE(*locked);
  CHECK(HostLedger::open(machine(), directory.path()).error().kind == ErrorKind::persist_store);
  ledger::FileHeader found;
  std::ifstream(directory.file(), std::ios::binary).read(reinterpret_cast<char*>(&found), sizeof found);
  CHECK(ledger::is_other_version(found));
}

TEST_CASE("a ledger of rubbish is rebuilt at start") {
  const Directory directory;
  std::ofstream(directory.file()) << std::string(100'000, 'x');
  const auto ledger = open(directory);
  CHECK(others_of(*ledger) == 0);
}

TEST_CASE("a core that is not there cannot be leased") {
  const Directory directory;
  const auto ledger = open(directory);
  CHECK(ledger->lease({.cores = {CoreId{9}}, .siblings = false}).error().minor == minor::core_unusable);
}

TEST_CASE("a directory that cannot be made is refused") {
  const Directory directory;
  std::ofstream(directory.path() + "/file") << "x";
  CHECK(HostLedger::open(machine(), directory.path() + "/file/below").error().kind == ErrorKind::no_permission);
}

TEST_CASE("the runtime directory follows the environment") {
  setenv("CORELANE_RUNTIME_DIRECTORY", "/somewhere", 1);
  CHECK(runtime_directory() == "/somewhere");
  unsetenv("CORELANE_RUNTIME_DIRECTORY");
  if (geteuid() == 0) CHECK(runtime_directory() == "/run/corelane");
}

// Neighbours: one analysis over two processes.

TEST_CASE("promises on a sibling count for the whole physical core") {
  const CoreLease lease{.core = CoreId{1}, .physical_core = 0};
  std::vector<Promise> others{promise(0, 3ms)};
  CHECK(promised_on(lease, others) == 300'000);
  CHECK(interference_on(lease, others).size() == 1);
  others.front().physical_core = 2;
  CHECK(promised_on(lease, others) == 0);
  CHECK(interference_on(lease, others).empty());
}

namespace {

Promise task_of(std::uint32_t owner, Contract contract) {
  return {.core = CoreId{0}, .physical_core = 0, .contract = contract, .owner = owner};
}
Promise load_of(std::uint32_t owner, Duration budget, Duration period, Duration blocking = {}) {
  return {.core = CoreId{0},
          .physical_core = 0,
          .contract = {.period = period, .deadline = period, .budget = budget},
          .owner = owner,
          .kind = PromiseKind::platform,
          .blocking = blocking};
}
constexpr CoreLease core_0{.core = CoreId{0}, .physical_core = 0};

bool hold(const std::vector<Promise>& others, const std::vector<Promise>& ours) {
  return others_hold(core_0, others, ours);
}

}  // namespace

TEST_CASE("a newcomer that would make a neighbour late does not fit beside it") {
  const Promise tight = task_of(1, make_contract(10ms, 4ms, 5ms, 0ms));
  CHECK(hold({tight}, {task_of(0, make_contract(10ms, 1ms, {}, 0ms))}));
  CHECK_FALSE(hold({tight}, {task_of(0, make_contract(10ms, 1001us, {}, 0ms))}));
  CHECK_FALSE(hold({tight}, {promise(0, 1us), task_of(0, make_contract(10ms, 1ms, {}, 0ms))}));
  CHECK(hold({tight}, {promise(1, 5ms)}));
}

TEST_CASE("a neighbour's own order of priorities counts in its analysis") {
  const Contract fast = make_contract(4ms, 2ms, {}, 0ms);
  const Contract slow = make_contract(12ms, 3ms, {}, 0ms);
  const std::vector<Promise> ours{task_of(0, make_contract(100ms, 1ms, {}, 0ms))};
  // (2,4) above (3,12) of one process hold; the same two of different processes each take the other as above.
  CHECK(hold({task_of(1, fast), task_of(1, slow)}, ours));
  CHECK_FALSE(hold({task_of(1, fast), task_of(2, slow)}, ours));
}

TEST_CASE("a neighbour with more tasks than levels has them delay each other both ways") {
  std::vector<Promise> theirs{task_of(1, make_contract(4ms, 2ms, {}, 0ms)),
                              task_of(1, make_contract(12ms, 3ms, {}, 0ms))};
  const std::vector<Promise> ours{task_of(0, make_contract(100ms, 1ms, {}, 0ms))};
  for (Promise& task : theirs) task.levels = 2;
  CHECK(hold(theirs, ours));
  for (Promise& task : theirs) task.levels = 1;
  CHECK_FALSE(hold(theirs, ours));
}

TEST_CASE("platform loads of both sides and their blocking count for a neighbour") {
  const Promise tight = task_of(1, make_contract(10ms, 4ms, 5ms, 0ms));
  const Promise newcomer = task_of(0, make_contract(10ms, 500us, {}, 0ms));
  CHECK(hold({tight, load_of(1, 100us, 10ms)}, {newcomer, load_of(0, 400us, 10ms)}));
  CHECK_FALSE(hold({tight, load_of(1, 101us, 10ms)}, {newcomer, load_of(0, 400us, 10ms)}));
  CHECK_FALSE(hold({tight, load_of(1, 100us, 10ms)}, {newcomer, load_of(0, 401us, 10ms)}));
  CHECK(hold({tight, load_of(1, 100us, 10ms, 200us)}, {newcomer, load_of(0, 200us, 10ms, 100us)}));
  CHECK_FALSE(hold({tight, load_of(1, 100us, 10ms, 201us)}, {newcomer, load_of(0, 200us, 10ms)}));
}

TEST_CASE("the longest deadline on a core is that of its tasks") {
  const std::vector<Promise> others{task_of(1, make_contract(10ms, 1ms)), load_of(1, 1us, 1s), promise(1, 1ms, 1min)};
  CHECK(longest_deadline_on(core_0, others) == 10ms);
  CHECK(longest_deadline_on(core_0, {}) == 0ms);
}
