#include "orb/dispatch/host_ledger.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "orb/base/minor.h"
#include "orb/os/file_lock.h"
#include "orb/sched/task.h"
#include "tests/support/quiet.h"
#include "tests/support/temp_directory.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

class Directory {
 public:
  const std::string& path() const { return place_.path(); }
  std::string file() const { return place_ / "ledger"; }

  void overwrite(std::size_t offset, std::size_t length) const {
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream << std::string(length, '\x5a');
  }

 private:
  const testing::TempDirectory place_;
  const testing::Quiet quiet_;  // damage is made on purpose here
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

// Opens a transaction although another process does not end its own.
void begin_in_the_end(HostLedger& ledger) {
  while (!ledger.begin()) continue;  // bound: HostLedger::longest_wait
}

// A server in a process of its own, which does what the test says and answers with a letter as often as it likes.
class ChildLedger {
 public:
  using Answer = std::function<void(bool)>;  // y or n
  template <typename Work>
  ChildLedger(const Directory& directory, Work work) {
    REQUIRE(pipe(answers_) == 0);
    pid_ = fork();
    if (pid_ != 0) return;
    const auto ledger = HostLedger::open(machine(), directory.path());
    const Answer answer = [this](bool good) { (void)!write(answers_[1], good ? "y" : "n", 1); };
    if (ledger) work(**ledger, answer);
    for (;;) pause();
  }
  ChildLedger(const ChildLedger&) = delete;
  ChildLedger& operator=(const ChildLedger&) = delete;
  ~ChildLedger() {
    kill_now();
    close(answers_[0]);
    close(answers_[1]);
  }

  char answer() {
    char letter = 0;
    REQUIRE(read(answers_[0], &letter, 1) == 1);
    return letter;
  }
  void wait_until_stopped() {
    int status = 0;
    REQUIRE(waitpid(pid_, &status, WUNTRACED) == pid_);
    REQUIRE(WIFSTOPPED(status));
  }
  void go_on() { kill(pid_, SIGCONT); }
  void kill_now() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  int answers_[2]{};
  pid_t pid_ = 0;
};

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

TEST_CASE("of two transactions at once one that began after the other wrote is not good either way") {
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

TEST_CASE("a server that is stopped in its transaction hinders nobody and finds out when it goes on") {
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
  CHECK(others_of(*open(directory)) == -1);  // as yet: it has its own patience
  there.go_on();
  CHECK(there.answer() == 'y');  // it found out
  there.kill_now();
  CHECK(others_of(*here) == 0);
}

TEST_CASE("what a process gives back is gone although another is in its transaction") {
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

TEST_CASE("who is in a transaction can be told") {
  const Directory directory;
  auto a = LedgerFile::open(directory.file(), {});
  auto b = LedgerFile::open(directory.file(), {});
  REQUIRE((a && b));
  CHECK_FALSE(a->inside());
  REQUIRE(*b->try_enter());
  CHECK(a->inside() == getpid());
  b->leave();
  const os::Fd unknown(::open(directory.file().c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(*os::try_lock(unknown, {.start = 0, .length = 1}));
  CHECK(a->inside() == 0);
}

TEST_CASE("a server that has stopped while it takes a slot hinders nobody") {
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

// The child says what it would promise, and looks after its ledger; what it logs comes back.
TEST_CASE("the log says once per fault why a promise cannot be written") {
  const testing::TempDirectory place;
  int log[2];
  REQUIRE(pipe(log) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(log[1], STDERR_FILENO);
    const auto opened = HostLedger::open(machine(), place.path());
    if (!opened) _exit(1);
    HostLedger& ledger = **opened;
    const auto tries = [&](rlim_t most) {
      rlimit limit{};
      getrlimit(RLIMIT_FSIZE, &limit);
      limit.rlim_cur = most;
      setrlimit(RLIMIT_FSIZE, &limit);
      for (int i = 0; i < 3; ++i) {
        if (ledger.begin()) (void)ledger.end(std::vector{promise(0, 5ms)});
        ledger.maintain();
      }
    };
    for (const rlim_t most : {rlim_t{0}, RLIM_INFINITY, rlim_t{0}}) tries(most);
    _exit(0);
  }
  close(log[1]);
  std::string said;
  char some[256];
  for (ssize_t got = 1; (got = read(log[0], some, sizeof some)) > 0;) said.append(some, static_cast<std::size_t>(got));
  close(log[0]);
  waitpid(child, nullptr, 0);
  const std::string fault = place / "ledger" + " cannot be written: " + std::strerror(EFBIG);
  std::size_t times = 0;
  for (std::size_t at = 0; (at = said.find(fault, at)) != std::string::npos; ++at) ++times;
  INFO(said);
  CHECK(times == 2);  // it could be written in between
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

TEST_CASE("a directory that cannot be made is refused and none is made above it") {
  const Directory directory;
  std::ofstream(directory.path() + "/file") << "x";
  CHECK(HostLedger::open(machine(), directory.path() + "/file/below").error().kind == ErrorKind::no_permission);
  CHECK(HostLedger::open(machine(), directory.path() + "/slip/below").error().kind == ErrorKind::no_permission);
  CHECK_FALSE(std::filesystem::exists(directory.path() + "/slip"));
}

TEST_CASE("what stands in the ledger's place is named and left alone") {
  const Directory directory;
  const std::string path = directory.file();
  const auto refused = [&](const std::string& what) {
    const auto opened = LedgerFile::open(path, {});
    REQUIRE_FALSE(opened);
    CHECK(opened.error().error.kind == ErrorKind::no_permission);
    CHECK_THAT(opened.error().text, Catch::Matchers::Contains(path + " is " + what + ", no plain file; remove it"));
    CHECK(std::filesystem::remove(path));
  };
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  refused("a fifo");
  REQUIRE(mkdir(path.c_str(), 0700) == 0);
  refused("a directory");
  std::filesystem::create_symlink(directory.path() + "/elsewhere", path);
  refused("a symbolic link");
  CHECK_FALSE(std::filesystem::exists(directory.path() + "/elsewhere"));
}

TEST_CASE("the runtime directory follows the environment") {
  setenv("CORELANE_RUNTIME_DIRECTORY", "/somewhere", 1);
  CHECK(runtime_directory() == "/somewhere");
  unsetenv("CORELANE_RUNTIME_DIRECTORY");
  if (geteuid() == 0) CHECK(runtime_directory() == "/run/corelane");
}
