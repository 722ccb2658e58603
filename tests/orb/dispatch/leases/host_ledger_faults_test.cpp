// Tests what servers do when their ledger is full, damaged, removed, or cannot be written.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>

#include "orb/base/minor.h"
#include "orb/os/file_lock.h"
#include "orb/os/log.h"
#include "tests/orb/dispatch/leases/ledger_fixture.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::ledger_test;
using namespace std::chrono_literals;

TEST_CASE("the ledger has a place for 64 servers and says so to one more") {
  const Directory directory;
  std::vector<std::unique_ptr<HostLedger>> servers;
  for (std::size_t i = 0; i < ledger::slot_count; ++i) servers.push_back(open(directory));
  const auto one_more = HostLedger::open(machine(), directory.path());
  REQUIRE_FALSE(one_more);
  CHECK(one_more.error() == Error{.kind = ErrorKind::imp_limit, .minor = minor::ledger_full});
  servers.pop_back();
  CHECK(HostLedger::open(machine(), directory.path()));
}

TEST_CASE("a runtime directory that was removed comes back with what was promised") {
  const testing::Quiet quiet;
  const testing::TempDirectory above;
  const std::string path = above / "runtime";
  const auto a = std::move(*HostLedger::open(machine(), path));
  promise_all(*a, {promise(0, 5ms)});
  std::filesystem::remove_all(path);
  CHECK(others_of(*a) == -1);
  a->maintain();
  CHECK(others_of(*a) == 0);
  CHECK(others_of(**HostLedger::open(machine(), path)) == 500'000);
}

TEST_CASE("a limit of file sizes is an error and ends no server") {
  const Directory directory;
  const auto here = open(directory);
  ChildLedger there(directory, [](HostLedger& ledger, const ChildLedger::Answer& answer) {
    const rlimit none{};
    setrlimit(RLIMIT_FSIZE, &none);
    const bool begun = ledger.begin().has_value();
    answer(begun && !ledger.end(std::vector{promise(0, 5ms)}));
  });
  CHECK(there.answer() == 'y');
  CHECK(others_of(*here) == 0);
}

// Runs `work` in a child process with a ledger of its own, and returns what that process logged.
std::string said_by(const std::string& directory, const std::function<void(HostLedger&)>& work) {
  int log[2];
  REQUIRE(pipe(log) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(log[1], STDERR_FILENO);
    os::log::set_level(os::log::Level::info);
    const auto opened = HostLedger::open(machine(), directory);
    if (opened) work(**opened);
    _exit(0);
  }
  close(log[1]);
  std::string said;
  char some[256];
  for (ssize_t got = 1; (got = read(log[0], some, sizeof some)) > 0;) said.append(some, static_cast<std::size_t>(got));
  close(log[0]);
  waitpid(child, nullptr, 0);
  return said;
}

int times(const std::string& text, const std::string& said) {
  int count = 0;
  for (std::size_t at = 0; (at = said.find(text, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST_CASE("the log says once per fault why a promise cannot be written") {
  const testing::TempDirectory place;
  const std::string said = said_by(place.path(), [](HostLedger& ledger) {
    const auto tries = [&](rlim_t most, Duration budget) {
      rlimit limit{};
      getrlimit(RLIMIT_FSIZE, &limit);
      limit.rlim_cur = most;
      setrlimit(RLIMIT_FSIZE, &limit);
      for (int i = 0; i < 3; ++i) {
        if (ledger.begin()) (void)ledger.end(std::vector{promise(0, budget)});
        ledger.maintain();
      }
    };
    tries(0, 5ms);
    tries(RLIM_INFINITY, 5ms);
    tries(0, 6ms);
  });
  INFO(said);
  CHECK(times(place / "ledger" + " cannot be locked or written: " + std::strerror(EFBIG), said) ==
        2);  // it could be written in between
}

// Returns this process's only descriptor of the ledger; -1: there is none.
int descriptor_of(const std::string& path) {
  for (int fd = 3; fd < 1024; ++fd) {
    std::error_code failure;
    if (std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), failure) == path) return fd;
  }
  return -1;
}

TEST_CASE("the log says once why the ledger cannot be locked") {
  const testing::TempDirectory place;
  const std::string said = said_by(place.path(), [&](HostLedger& ledger) {
    const std::string path = place / "ledger";
    const int descriptor = descriptor_of(path);
    const auto other = HostLedger::open(machine(), place.path());  // a server that is alone takes no lock
    dup2(::open(path.c_str(), O_RDONLY | O_CLOEXEC), descriptor);
    for (int i = 0; i < 3; ++i) {
      const auto begun = ledger.begin();
      os::log::info(!begun && begun.error().minor == minor::system_refused ? "refused by the system" : "begun");
      ledger.maintain();
    }
  });
  INFO(said);
  CHECK(times("refused by the system", said) == 3);
  CHECK(times(place / "ledger" + " cannot be locked or written: " + std::strerror(EBADF), said) == 1);
}

TEST_CASE("the log says once that a server has more promises than the ledger has room for, and what to do") {
  const testing::TempDirectory place;
  const std::string said = said_by(place.path(), [](HostLedger& ledger) {
    for (int i = 0; i < 3; ++i) {
      if (ledger.begin()) (void)ledger.end(std::vector(ledger::max_entries + 1, promise(0, 1us)));
      ledger.maintain();
    }
  });
  INFO(said);
  CHECK(times("at most 511 promises", said) == 1);
  CHECK(times("this one was asked for 512", said) == 1);
  CHECK(times("limits.tasks", said) == 1);
}

// Nothing left in the directory tells the two servers of each other. Both end up in the same new ledger.
TEST_CASE("the log says once that a core was promised twice, and once that it is so no longer") {
  const testing::TempDirectory place;
  const std::string said = said_by(place.path(), [&](HostLedger& a) {
    if (a.begin()) (void)a.end(std::vector{promise(2, 6ms)});
    for (const char* name : {"ledger", "ledger.members"}) std::filesystem::remove(place / name);
    const auto b = HostLedger::open(machine(), place.path());
    if ((*b)->begin()) (void)(*b)->end(std::vector{promise(2, 5ms)});
    for (int i = 0; i < 3; ++i) a.maintain();
    a.withdraw();
    for (int i = 0; i < 3; ++i) a.maintain();
  });
  INFO(said);
  CHECK(times("ledger was removed or replaced while in use", said) == 1);
  CHECK(times("core 2 was promised twice", said) == 1);
  CHECK(times("no core is promised twice any more", said) == 1);
}

TEST_CASE("promises that only another test than that of priorities takes are not taken for promised twice") {
  const testing::TempDirectory place;
  const std::string said = said_by(place.path(), [&](HostLedger& alone) {
    const std::vector by_deadlines{promise(2, 5ms, 10ms), promise(2, 6ms, 14ms)};
    if (alone.begin()) (void)alone.end(by_deadlines);
    std::filesystem::remove(place / "ledger");
    for (int i = 0; i < 3; ++i) alone.maintain();
    const bool goes_on = alone.begin() && alone.end(std::vector{promise(1, 1ms)});
    os::log::info(goes_on ? "admissions go on" : "admissions stopped");
  });
  INFO(said);
  CHECK(times("ledger was removed or replaced while in use", said) == 1);
  CHECK(times("promised twice", said) == 0);
  CHECK(times("admissions go on", said) == 1);
}

TEST_CASE("a core by deadlines is not taken for promised twice where only priorities would not hold") {
  const testing::TempDirectory place;
  const bool by_deadlines = GENERATE(false, true);
  const std::string said = said_by(place.path(), [&](HostLedger& a) {
    if (by_deadlines) (void)a.lease({.cores = {}, .siblings = false, .by_deadlines = {CoreId{2}}});
    if (a.begin()) (void)a.end(std::vector{promise(2, 4ms, 10ms), promise(2, 5ms, 14ms)});
    for (const char* name : {"ledger", "ledger.members"}) std::filesystem::remove(place / name);
    const auto b = HostLedger::open(machine(), place.path());
    if ((*b)->begin()) (void)(*b)->end(std::vector{promise(2, 2ms, 100ms)});
    for (int i = 0; i < 3; ++i) a.maintain();
  });
  INFO(said);
  CHECK(times("core 2 was promised twice", said) == (by_deadlines ? 0 : 1));
}

TEST_CASE("sixty-four processes find a slot and the next one does not") {
  const Directory directory;
  std::vector<std::unique_ptr<HostLedger>> all;
  for (std::size_t i = 0; i < ledger::slot_count; ++i) all.push_back(open(directory));
  CHECK(HostLedger::open(machine(), directory.path()).error().kind == ErrorKind::imp_limit);
  all.pop_back();
  CHECK(HostLedger::open(machine(), directory.path()));
}

// Damage.

TEST_CASE("a damaged header is found and mended and no promise is lost") {
  const Directory directory;
  const auto a = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  directory.overwrite(0, 24);
  CHECK_FALSE(a->begin());
  const auto late = open(directory);  // a server that starts repairs it, too
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

TEST_CASE("the damaged slot of a dead process hinders no other server") {
  const Directory directory;
  auto a = open(directory);
  const auto b = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  a.reset();
  directory.overwrite(ledger::first_slot, 64);
  CHECK(others_of(*b) == 0);
}

TEST_CASE("a truncated ledger is repaired from the memory of the living servers") {
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

TEST_CASE("no server uses a new ledger before all servers with promises are in it") {
  const Directory directory;
  auto a = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  const bool replaced = GENERATE(false, true);
  std::filesystem::rename(directory.file(), directory.file() + ".old");
  if (replaced) std::filesystem::copy(directory.file() + ".old", directory.file());
  const auto b = open(directory);
  const auto c = open(directory);
  CHECK(others_of(*b) == -1);
  CHECK(others_of(*c) == -1);
  SECTION("it enters them again") {
    a->maintain();
    CHECK(others_of(*b) == 500'000);
    CHECK(others_of(*c) == 500'000);
  }
  SECTION("it ends") {
    a.reset();
    CHECK(others_of(*b) == 0);
  }
}

TEST_CASE("a new ledger waits for a server that is stopped, too") {
  const Directory directory;
  ChildLedger there(directory, [](HostLedger& ledger, const ChildLedger::Answer& answer) {
    answer(ledger.begin() && ledger.end(std::vector{promise(0, 5ms)}));
    raise(SIGSTOP);
    ledger.maintain();
    answer(true);
  });
  CHECK(there.answer() == 'y');
  there.wait_until_stopped();
  std::filesystem::remove(directory.file());
  const auto here = open(directory);
  CHECK(others_of(*here) == -1);
  there.go_on();
  CHECK(there.answer() == 'y');
  CHECK(others_of(*here) == 500'000);
}

TEST_CASE("a slot of a new ledger is kept for the server that had it") {
  const Directory directory;
  const auto a = open(directory);
  std::filesystem::remove(directory.file());
  std::vector<std::unique_ptr<HostLedger>> all;
  for (std::size_t i = 1; i < ledger::slot_count; ++i) all.push_back(open(directory));
  CHECK_FALSE(HostLedger::open(machine(), directory.path()));
  a->maintain();
  CHECK(others_of(*a) == 0);
}

TEST_CASE("entries that were removed are taken again") {
  const Directory directory;
  const auto a = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  std::filesystem::remove(directory.file() + ".members");
  const auto b = open(directory);
  CHECK(others_of(*b) == 500'000);
  a->maintain();
  std::filesystem::remove(directory.file());
  const auto c = open(directory);
  CHECK(others_of(*c) == -1);
}

TEST_CASE("a server is missed also where its entries were truncated") {
  const Directory directory;
  auto first = open(directory);
  const auto second = open(directory);
  promise_all(*second, {promise(0, 5ms)});
  first.reset();
  REQUIRE(truncate((directory.file() + ".members").c_str(), 0) == 0);
  std::filesystem::remove(directory.file());
  const auto late = open(directory);  // takes the first one's entry, which is now the last in the file
  CHECK(others_of(*late) == -1);
  second->maintain();
  CHECK(others_of(*late) == 500'000);
}

TEST_CASE("an entry that is not to be had is taken as soon as it is free") {
  const Directory directory;
  const auto a = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  std::filesystem::remove(directory.file() + ".members");
  {
    LedgerMembership other(directory.file());
    REQUIRE(other.open());
    REQUIRE(other.take(0).value());
    a->maintain();
  }
  a->maintain();
  std::filesystem::remove(directory.file());
  const auto late = open(directory);
  CHECK(others_of(*late) == -1);
}

TEST_CASE("the log says once that an entry is not to be had") {
  const testing::TempDirectory place;
  const std::string said = said_by(place.path(), [&](HostLedger& ledger) {
    std::filesystem::remove(place / "ledger.members");
    LedgerMembership other(place / "ledger");
    if (!other.open() || !other.take(0)) return;
    for (int i = 0; i < 3; ++i) ledger.maintain();
  });
  INFO(said);
  CHECK(times("this server's entry in " + (place / "ledger.members") + " is taken by the server with pid", said) == 1);
}

TEST_CASE("a server that finds no slot in a new ledger promises nothing until a slot is free") {
  const Directory directory;
  const auto a = open(directory);
  promise_all(*a, {promise(0, 5ms)});
  std::filesystem::remove(directory.file());
  std::filesystem::remove(directory.file() + ".members");
  std::vector<std::unique_ptr<HostLedger>> all;
  for (std::size_t i = 0; i < ledger::slot_count; ++i) all.push_back(open(directory));
  a->maintain();
  CHECK_FALSE(a->begin());
  all.pop_back();
  a->maintain();
  CHECK(others_of(*a) == 0);
  CHECK(others_of(*all.front()) == 500'000);
}
