// When the housekeeper rests, and what ends its rest.
#include "orb/dispatch/cores/housekeeper.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "orb/dispatch/counter_page.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/system/temp_directory.h"

namespace housekeeper_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

class SettledProvider final : public CoreProvider {
 public:
  Expected<std::vector<CoreLease>> lease(const LeaseRequest&) override { return std::vector<CoreLease>{}; }
  Expected<std::span<const Promise>> begin() noexcept override { return std::span<const Promise>{}; }
  Expected<void> end(std::span<const Promise>) noexcept override { return {}; }
  Expected<void> claim(std::span<const Promise>) noexcept override { return {}; }
  void abandon() noexcept override {}
  bool alone() const noexcept override { return true; }
  void withdraw() noexcept override {}
  void maintain() noexcept override { ++maintained; }
  bool is_settled() const noexcept override { return settled; }

  bool settled = true;
  int maintained = 0;
};

class Looks final : public Agent {
 public:
  bool step(Time) noexcept override { return ++count, false; }
  int count = 0;
};

struct House {
  corelane::testing::TempDirectory directory;
  os::Parker manager;
  NoteInbox inbox{16, manager};
  NoThreads maker;
  SettledProvider provider;
  Looks looks;
  bool idle = true;
  Housekeeper keeper{maker, provider, inbox, 4};
  Time now = Time{} + 1s;

  House() {
    keeper.keep(looks, 100ms);
    keeper.sleep_when_idle(directory.path(), [this] { return idle; });
  }
  // Steps the housekeeper as its thread does, without anything that wakes it.
  void pass(Duration time) {
    for (const Time end = now + time; keeper.wake_at() <= end;) {
      now = std::max(now, keeper.wake_at());
      while (keeper.step(now)) continue;
    }
  }
  // Steps it once now. Returns how often it looked.
  int wake() {
    const int before = looks.count;
    while (keeper.step(now)) continue;
    return looks.count - before;
  }
  int looks_in(Duration time) {
    const int before = looks.count;
    pass(time);
    return looks.count - before;
  }
};

}  // namespace

TEST_CASE("a housekeeper with nothing to do rests, and still looks now and then") {
  House house;
  house.pass(1s);
  CHECK(house.looks_in(10 * Housekeeper::longest_sleep) == 10);
  const int maintained = house.provider.maintained;
  house.pass(10 * Housekeeper::longest_sleep);
  CHECK(house.provider.maintained - maintained == 10);
}

TEST_CASE("a housekeeper with nothing to do wakes at most twice a minute") {
  House house;
  house.pass(1s);
  CHECK(house.looks_in(1min) <= 2);
}

TEST_CASE("a housekeeper does not rest before an agent that has something left to do has looked again") {
  struct Busy final : Agent {
    bool step(Time) noexcept override { return ++count < 5; }
    int count = 0;
  } busy;
  House house;
  house.keeper.keep(busy, 200ms);
  house.pass(1s);
  CHECK(busy.count == 5);
  CHECK(house.looks_in(Housekeeper::longest_sleep - 1s) == 0);
}

TEST_CASE("a housekeeper with nothing to do rests as soon as each agent has looked once") {
  House house;
  house.pass(1ms);
  CHECK(house.looks.count == 1);
  CHECK(house.looks_in(Housekeeper::longest_sleep - 2ms) == 0);
}

TEST_CASE("an event soon after the last looks makes each agent look once more when it is due") {
  House house;
  Looks seldom;
  house.keeper.keep(seldom, 500ms);
  house.pass(1ms);
  std::ofstream(house.directory / "end-1") << "1 2\n";
  CHECK(house.wake() == 0);
  CHECK(house.looks_in(100ms) == 1);
  CHECK(house.looks_in(400ms) == 2);  // when the provider and the other agent look
  CHECK(seldom.count == 2);
  CHECK(house.looks_in(Housekeeper::longest_sleep - 1ms) == 0);
}

TEST_CASE("a housekeeper does not rest while there is something to look after") {
  House house;
  SECTION("in the ledger") { house.provider.settled = false; }
  SECTION("a core is missing") { house.idle = false; }
  SECTION("without its directory") { std::filesystem::remove_all(house.directory.path()); }
  house.pass(1s);
  CHECK(house.looks_in(10s) >= 99);
}

TEST_CASE("a housekeeper that cannot watch its directory tries again after the time of a rest") {
  House house;
  std::filesystem::remove(house.directory.path());
  house.pass(1s);  // it tried at the start
  std::filesystem::create_directory(house.directory.path());
  house.pass(Housekeeper::between_watches - 1s - 100ms);
  CHECK_FALSE(house.keeper.parker().watches());
  house.pass(200ms);
  CHECK(house.keeper.parker().watches());
}

TEST_CASE("an event in the runtime directory ends the housekeeper's sleep at once") {
  House house;
  house.pass(1s);
  house.now += 1s;
  CHECK(house.wake() == 0);  // it rests
  std::ofstream(house.directory / "end-1") << "1 2\n";
  CHECK(house.wake() == 1);
  CHECK(house.looks_in(Housekeeper::longest_sleep - 1ms) == 0);  // each agent has looked, so it rests again
  CHECK(house.looks_in(10 * Housekeeper::longest_sleep) == 10);
}

TEST_CASE("an agent that makes a file at its first look does not have to look again for that") {
  struct Maker final : Agent {
    explicit Maker(std::string where) : directory(std::move(where)) {}
    bool step(Time) noexcept override {
      if (!page) page = *CounterPage::make(directory, 1, 1);
      return ++count, false;
    }
    std::string directory;
    std::unique_ptr<CounterPage> page;
    int count = 0;
  };
  House house;
  Maker maker(house.directory.path());
  house.keeper.keep(maker, 500ms);
  house.pass(Housekeeper::longest_sleep - 1ms);
  CHECK(maker.count == 1);
}

TEST_CASE("a server that starts in the same directory ends no rest") {
  House house;
  house.pass(1s);
  house.now += 1s;
  const auto page = *CounterPage::make(house.directory.path(), 1, 1);
  const std::ofstream lock(house.directory / "server.sock.lock");
  CHECK(house.wake() == 0);
}

TEST_CASE("asking for counter pages ends the rest of their owners") {
  House house;
  const auto page = *CounterPage::make(house.directory.path(), 1, 1);
  house.pass(1s);
  house.now += 1s;
  CHECK(house.wake() == 0);
  ask_for_pages(house.directory.path());
  CHECK(house.wake() == 1);
}

TEST_CASE("a process that looks for pages of ended processes and reads those of others ends no rest") {
  House house;
  const auto page = *CounterPage::make(house.directory.path(), 1, 1);
  house.pass(1s);
  house.now += 1s;
  CHECK(house.wake() == 0);
  remove_stale_pages(house.directory.path());
  CHECK_FALSE(is_stale_page(house.directory / ("counters-" + std::to_string(::getpid()))));
  (void)read_pages(house.directory.path());
  CHECK(page->is_at_path());
  CHECK(house.wake() == 0);
}

TEST_CASE("a housekeeper rests only after each agent has looked, even one that is seldom due") {
  House house;
  Looks seldom;
  house.keeper.keep(seldom, 500ms);
  house.pass(2s);
  house.pass(house.keeper.wake_at() - house.now);  // the last look of a rest
  CHECK(house.keeper.wake_at() - house.now == Housekeeper::longest_sleep);
  const int before = seldom.count;
  house.now += 100ms;
  std::ofstream(house.directory / "end-1") << "1 2\n";
  CHECK(house.wake() == 1);
  house.pass(400ms);
  CHECK(seldom.count == before + 1);
}

TEST_CASE("a housekeeper whose directory was removed rests again once it is there") {
  House house;
  house.pass(1s);
  std::filesystem::remove_all(house.directory.path());
  house.wake();
  CHECK(house.looks_in(2s) >= 19);
  std::filesystem::create_directory(house.directory.path());
  house.pass(Housekeeper::longest_sleep + 1s);
  CHECK(house.looks_in(10 * Housekeeper::longest_sleep) == 10);
}

TEST_CASE("the thread of a resting housekeeper wakes for its directory") {
  House house;
  house.pass(1s);
  std::ofstream(house.directory / "dump-1") << "";
  house.keeper.parker().park(never);  // would block
  CHECK(house.wake() == 0);           // too soon after the last look
  house.keeper.parker().unpark();
  house.keeper.parker().park(never);
}

TEST_CASE("a task that comes after a long rest ends the rest") {
  const corelane::testing::TempDirectory directory;
  SettledProvider provider;
  Machine machine(1, bare_options(), &provider);
  Looks looks;
  machine.manager.housekeeper().keep(looks, 100ms);
  machine.manager.housekeeper().sleep_when_idle(directory.path(), [] { return true; });
  for (int i = 0; i < 100; ++i) machine.advance(100ms);
  const int before = looks.count;  // all agents are due by now
  machine.admit({.period = 10ms, .deadline = 10ms, .budget = 1ms});
  for (int i = 0; i < 100; ++i) machine.advance(100ms);
  CHECK(looks.count - before >= 99);
}

TEST_CASE("a housekeeper with tasks does not rest until the last one has left") {
  const corelane::testing::TempDirectory directory;
  SettledProvider provider;
  Machine machine(1, bare_options(), &provider);
  Looks looks;
  machine.manager.housekeeper().keep(looks, 100ms);
  machine.manager.housekeeper().sleep_when_idle(directory.path(), [] { return true; });
  const auto looks_in_10_s = [&] {
    const int before = looks.count;
    for (int i = 0; i < 100; ++i) machine.advance(100ms);
    return looks.count - before;
  };
  const TaskId task = machine.admit({.period = 10ms, .deadline = 10ms, .budget = 1ms});
  machine.advance(1s);
  CHECK(looks_in_10_s() >= 99);
  machine.manager.depart(task, {});
  machine.settle();
  machine.threads.threads.clear();  // they keep the worker
  for (int i = 0; i < 10; ++i) machine.advance(100ms);
  CHECK(looks_in_10_s() <= 6);
}

}  // namespace housekeeper_test
