// Tests a server that is alone in the ledger. It takes no lock and does not read, and still notices every server that
// starts.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <thread>

#include "orb/base/minor.h"
#include "orb/os/file_lock.h"
#include "orb/os/files/file_watch.h"
#include "tests/orb/dispatch/leases/ledger_fixture.h"

namespace ledger_alone_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::ledger_test;
using namespace std::chrono_literals;

namespace {

// The file and the entries of a ledger, without a HostLedger around them.
struct Server {
  explicit Server(const Directory& directory)
      : membership(directory.file()), file(std::move(*LedgerFile::open(directory.file(), {}, membership))) {}

  bool looks_alone() { return file.look_around(others) && file.alone(); }

  LedgerMembership membership;
  LedgerFile file;
  std::vector<Promise> others;
};

// A thread that runs the given steps one after the other. Each server has one. So a transaction begins and ends on one
// thread, and no thread is in the transactions of two servers.
class Hand {
 public:
  Hand() : thread_([this] { work(); }) {}
  ~Hand() {
    step_ = nullptr;
    turn_.arrive_and_wait();
    thread_.join();
  }

  // Returns when the step has run.
  void run(std::function<void()> step) {
    step_ = std::move(step);
    turn_.arrive_and_wait();
    turn_.arrive_and_wait();
  }

 private:
  void work() {
    for (turn_.arrive_and_wait(); step_; turn_.arrive_and_wait()) {
      step_();
      turn_.arrive_and_wait();
    }
  }

  std::barrier<> turn_{2};
  std::function<void()> step_{};
  std::thread thread_;
};

}  // namespace

TEST_CASE("a server knows to be alone after it has looked, also when it has written since") {
  const Directory directory;
  Server here(directory);
  CHECK_FALSE(here.file.is_still_alone());
  REQUIRE(here.looks_alone());
  CHECK(here.file.is_still_alone());
  REQUIRE(here.file.write_own(std::vector{promise(0, 1ms)}));
  CHECK(here.file.is_still_alone());
}

TEST_CASE("a server that was alone hears of one that comes, and of its end") {
  const Directory directory;
  Server here(directory);
  REQUIRE(here.looks_alone());
  std::optional<Server> there(directory);
  CHECK_FALSE(here.file.is_still_alone());
  CHECK_FALSE(here.looks_alone());
  CHECK_FALSE(here.file.is_still_alone());
  there.reset();
  CHECK(here.looks_alone());
  CHECK(here.file.is_still_alone());
}

// `here` looks after the other server has opened the file, but before that server has locked its slot. The touch of the
// file makes `here` look again.
TEST_CASE("a server that was looked for before its slot counted is heard of when it does") {
  const Directory directory;
  Server here(directory);
  const os::Fd starting(::open(directory.file().c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(here.looks_alone());
  REQUIRE(*os::try_lock(starting, {.start = static_cast<off_t>(ledger::slot_offset(1)), .length = 1}));
  REQUIRE(os::touch_file(starting));
  CHECK_FALSE(here.file.is_still_alone());
}

TEST_CASE("an observer does not disturb a server that is alone") {
  const Directory directory;
  Server here(directory);
  REQUIRE(here.looks_alone());
  REQUIRE(LedgerFile::look(directory.file()));
  CHECK(here.file.is_still_alone());
}

TEST_CASE("a server that is alone finds its ledger damaged, removed, replaced or moved away at the next transaction") {
  const Directory directory;
  const auto alone = open(directory);
  promise_all(*alone, {promise(0, 5ms)});
  REQUIRE(others_of(*alone) == 0);
  SECTION("damaged") { directory.overwrite(0, 24); }
  SECTION("removed") { std::filesystem::remove(directory.file()); }
  SECTION("replaced") {
    std::filesystem::copy(directory.file(), directory.file() + ".new");
    std::filesystem::rename(directory.file() + ".new", directory.file());
  }
  SECTION("moved away") { std::filesystem::rename(directory.file(), directory.file() + ".old"); }
  CHECK(others_of(*alone) == -1);
  alone->maintain();
  CHECK(others_of(*alone) == 0);
  CHECK(others_of(*open(directory)) == 500'000);
}

TEST_CASE("a ledger that is removed within the transaction of a server that is alone is found at its end") {
  const Directory directory;
  const auto alone = open(directory);
  REQUIRE(others_of(*alone) == 0);
  REQUIRE(alone->begin());
  std::filesystem::remove(directory.file());
  CHECK(alone->end(std::vector{promise(0, 1ms)}).error().minor == minor::ledger_busy);
}

TEST_CASE("if a server comes during the transaction of a server that is alone, at least one finds the other") {
  const Directory directory;
  const auto alone = open(directory);
  REQUIRE(others_of(*alone) == 0);
  REQUIRE(alone->begin());
  const auto late = open(directory);
  REQUIRE(late->begin());
  const bool first = GENERATE(false, true);
  const std::vector mine{promise(0, 6ms)};
  const bool one = first ? alone->end(mine).has_value() : late->end(mine).has_value();
  const bool other = first ? late->end(mine).has_value() : alone->end(mine).has_value();
  CHECK(one);
  CHECK_FALSE(other);
}

TEST_CASE("a server that claims its capacity keeps new tasks of other servers waiting, even if it was alone before") {
  const Directory directory;
  const auto alone = open(directory);
  REQUIRE(others_of(*alone) == 0);
  REQUIRE(alone->begin());
  REQUIRE(alone->claim(std::vector{promise(0, 10ms)}));
  const auto late = open(directory);
  CHECK(others_of(*late) == -1);
  REQUIRE(alone->end(std::vector{promise(0, 1ms)}));
  CHECK(others_of(*late) == 100'000);
}

TEST_CASE("a promise that stands already is not written again, and one that was damaged is") {
  const Directory directory;
  Server here(directory), there(directory);
  const std::vector mine{promise(0, 5ms)};
  REQUIRE(here.file.write_own(mine));
  const std::size_t at = ledger::first_slot + ledger::entries_offset;
  directory.overwrite(at, 8);
  REQUIRE(here.file.write_own(mine));
  CHECK_FALSE(there.file.look_around(there.others));
  CHECK_FALSE(here.file.own_is(mine));
  REQUIRE(here.file.write_own(mine));
  REQUIRE(there.file.look_around(there.others));
  CHECK(there.others.size() == 1);
}

TEST_CASE("a server that was not alone takes no lock with it when it is") {
  const Directory directory;
  const auto stays = open(directory);
  auto goes = open(directory);
  promise_all(*stays, {promise(0, 1ms)});
  goes.reset();
  REQUIRE(others_of(*stays) == 0);
  REQUIRE(stays->begin());
  const auto late = open(directory);
  CHECK(others_of(*late) == 100'000);
  stays->abandon();
}

// Four servers start, end, decide, or pause within a decision, at random. Each promises half of core 0, so at most two
// of them may.
TEST_CASE("in random lives of servers, with the ledger removed at times, no core is promised beyond what it has") {
  const Directory directory;
  std::mt19937 random(GENERATE(1U, 2U, 3U, 4U, 5U));
  struct Life {
    std::unique_ptr<HostLedger> ledger;
    bool deciding = false, room = false;
    int promised = 0;
  };
  std::array<Life, 4> lives;
  std::array<Hand, 4> hands;
  const auto decide = [&](Life& life) {
    const auto others = life.ledger->begin();
    life.deciding = others.has_value();
    if (life.deciding) life.room = others->size() < 2;
  };
  const auto finish = [&](Life& life) {
    life.deciding = false;
    if (!life.room) return life.ledger->abandon();
    if (life.ledger->end(std::vector{promise(0, 5ms)})) life.promised = 1;
  };
  const auto act = [&](Life& life, unsigned what) {
    if (!life.ledger) return void(life.ledger = open(directory));
    if (life.deciding) return finish(life);
    if (what == 0) return void(life = {});
    if (what == 1) return life.ledger->withdraw(), void(life.promised = 0);
    if (what == 2) return life.ledger->maintain();
    if (what == 3) return void(std::filesystem::remove(directory.file()));
    decide(life);
  };
  int promises = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::size_t who = random() % lives.size();
    hands[who].run([&, what = static_cast<unsigned>(random() % 16)] { act(lives[who], what); });
    int now = 0;
    for (const Life& life : lives) now += life.promised;
    REQUIRE(now <= 2);
    promises = std::max(promises, now);
  }
  CHECK(promises == 2);
  for (std::size_t who = 0; who < lives.size(); ++who) hands[who].run([&] { lives[who] = {}; });
}

}  // namespace ledger_alone_test
