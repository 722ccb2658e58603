// Tests the ledger that servers of one host share: transactions, slots, and what remains when a server ends.
#include "orb/dispatch/leases/host_ledger.h"

#include <fcntl.h>

#include "orb/base/minor.h"
#include "orb/os/file_lock.h"
#include "tests/orb/dispatch/leases/ledger_fixture.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::ledger_test;
using namespace std::chrono_literals;

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

TEST_CASE("an observer sees each server's promises and does not count as a server") {
  const Directory directory;
  const auto look = [&] { return LedgerFile::look(directory.file()).value(); };
  CHECK(look().empty());
  auto a = open(directory);
  const auto b = open(directory);
  promise_all(*a, {promise(0, 1ms), promise(2, 5ms)});
  REQUIRE(look().size() == 1);
  CHECK(look()[0].pid == getpid());
  CHECK(look()[0].promises.size() == 2);
  a.reset();
  CHECK(look().empty());
  CHECK(others_of(*b) == 0);
  CHECK(b->alone());
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

TEST_CASE("a transaction that is not ended in time is passed over and finds out") {
  const Directory directory;
  const auto a = open(directory);
  const auto b = open(directory);
  const auto c = open(directory);
  promise_all(*a, {promise(0, 1ms)});
  REQUIRE(a->begin());
  begin_in_the_end(*b);
  REQUIRE(b->end(std::vector{promise(0, 5ms)}));
  CHECK(a->end(std::vector{promise(0, 6ms)}).error() ==
        Error{.kind = ErrorKind::transient, .minor = minor::ledger_busy});
  CHECK(others_of(*c) == 600'000);
  REQUIRE(a->begin());
  CHECK(a->end(std::vector{promise(0, 2ms)}));
  CHECK(others_of(*c) == 700'000);
}

TEST_CASE("a transaction that was passed over is good when nothing has changed") {
  const Directory directory;
  const auto a = open(directory);
  const auto b = open(directory);
  promise_all(*b, {promise(0, 5ms)});
  REQUIRE(a->begin());
  begin_in_the_end(*b);
  REQUIRE(b->end(std::vector{promise(0, 5ms)}));
  CHECK(a->end(std::vector{promise(0, 1ms)}));
  CHECK(others_of(*b) == 100'000);
}

TEST_CASE("two transactions at once do not both succeed, also if one began after the other wrote") {
  const Directory directory;
  const auto a = open(directory);
  const auto b = open(directory);
  REQUIRE(a->begin());
  begin_in_the_end(*b);
  REQUIRE(a->end(std::vector{promise(0, 6ms)}));
  CHECK_FALSE(b->end(std::vector{promise(0, 6ms)}));
  CHECK(others_of(*a) == 0);
  CHECK(others_of(*b) == 600'000);
}

TEST_CASE("a promise of a server that came meanwhile is found") {
  const Directory directory;
  const auto a = open(directory);
  REQUIRE(a->begin());
  const auto late = open(directory);
  begin_in_the_end(*late);
  REQUIRE(late->end(std::vector{promise(0, 6ms)}));
  CHECK_FALSE(a->end(std::vector{promise(0, 6ms)}));
}

TEST_CASE("a server that is stopped in its transaction hinders no other server, and finds that out when it continues") {
  const Directory directory;
  const auto here = open(directory);
  ChildLedger there(directory, [](HostLedger& ledger, const ChildLedger::Answer& answer) {
    const bool begun = ledger.begin().has_value();
    raise(SIGSTOP);
    answer(begun && !ledger.end(std::vector{promise(0, 6ms)}));
  });
  there.wait_until_stopped();
  begin_in_the_end(*here);
  CHECK(here->end(std::vector{promise(0, 5ms)}));
  CHECK(others_of(*open(directory)) == -1);  // not yet: a new server must wait itself
  there.go_on();
  CHECK(there.answer() == 'y');  // its transaction failed
  there.kill_now();
  CHECK(others_of(*here) == 0);
}

TEST_CASE("a promise that a process gives back is gone although another process is in its transaction") {
  const Directory directory;
  const auto a = open(directory);
  const auto b = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  REQUIRE(b->begin());
  a->withdraw();
  b->abandon();
  a->maintain();
  CHECK(others_of(*b) == 0);
}

TEST_CASE("a process is alone as long as no other one has a slot") {
  const Directory directory;
  const auto a = open(directory);
  auto b = open(directory);
  const auto alone = [&] {
    REQUIRE(a->begin());
    const bool is = a->alone();
    a->abandon();
    return is;
  };
  CHECK_FALSE(alone());
  b.reset();
  CHECK(alone());
}

TEST_CASE("inside() returns the process that is in a transaction") {
  const Directory directory;
  LedgerMembership of_a(directory.file()), of_b(directory.file());
  auto a = LedgerFile::open(directory.file(), {}, of_a);
  auto b = LedgerFile::open(directory.file(), {}, of_b);
  REQUIRE((a && b));
  CHECK_FALSE(a->inside());
  REQUIRE(*b->try_enter());
  CHECK(a->inside() == getpid());
  b->leave();
  const os::Fd unknown(::open(directory.file().c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(*os::try_lock(unknown, {.start = 0, .length = 1}));
  CHECK(a->inside() == 0);
}

TEST_CASE("a server that is stopped while it takes a slot hinders no other server") {
  const Directory directory;
  const auto a = open(directory);
  const os::Fd starting(::open(directory.file().c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(*os::try_lock(starting, {.start = ledger::first_claim + 1, .length = 1}));
  const auto b = open(directory);
  promise_all(*b, {promise(0, 5ms)});
  CHECK(others_of(*a) == 500'000);
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

TEST_CASE("leases name the last-level cache of each core") {
  const Directory directory;
  const auto leases = open(directory, "l3:2 core:2 pu:1")->lease({});
  REQUIRE(leases);
  REQUIRE(leases->size() == 4);
  CHECK((*leases)[0].cache == (*leases)[1].cache);
  CHECK((*leases)[1].cache != (*leases)[2].cache);
  CHECK((*leases)[2].cache == (*leases)[3].cache);
}

TEST_CASE("kill -9 returns what a process promised") {
  const Directory directory;
  const auto here = open(directory);
  ChildLedger there(directory, [](HostLedger& ledger, const ChildLedger::Answer& answer) {
    answer(ledger.begin() && ledger.end(std::vector{promise(0, 5ms)}));
  });
  CHECK(there.answer() == 'y');
  CHECK(others_of(*here) == 500'000);
  there.kill_now();
  CHECK(others_of(*here) == 0);
}

TEST_CASE("kill -9 within a transaction leaves the ledger usable") {
  const Directory directory;
  const auto here = open(directory);
  promise_all(*here, {promise(1, 1ms)});
  ChildLedger there(directory,
                    [](HostLedger& ledger, const ChildLedger::Answer& answer) { answer(ledger.begin().has_value()); });
  CHECK(there.answer() == 'y');
  CHECK(others_of(*here) == -1);
  there.kill_now();
  CHECK(others_of(*here) == 0);
}

TEST_CASE("the load that a process runs above its tasks is recorded with its levels") {
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
