// Tests identities of host and process, file locks, privileges, and descriptors.
#include "orb/os/machine/host.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <thread>

#include "orb/os/fd.h"
#include "orb/os/file_lock.h"
#include "orb/os/log.h"
#include "orb/os/privileges.h"
#include "orb/os/unique_function.h"

using namespace corelane;
using namespace corelane::os;

namespace {

bool is_open(int fd) { return fcntl(fd, F_GETFD) != -1; }

class TemporaryFile {
 public:
  TemporaryFile() : first(mkostemp(path_, O_CLOEXEC)) { REQUIRE(first); }
  ~TemporaryFile() { unlink(path_); }
  Fd open_again() const { return Fd(::open(path_, O_RDWR | O_CLOEXEC)); }

 private:
  char path_[32] = "/tmp/corelane-lock-XXXXXX";

 public:
  Fd first;
};

// A child that waits to be killed.
class Child {
 public:
  Child() : pid_(fork()) {
    if (pid_ == 0) {
      while (true) pause();
    }
  }
  ~Child() {
    kill();
    reap();
  }
  ProcessIdentity identity() const { return identity_of(pid_).value(); }
  void kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
  }
  void wait_until_zombie() const {
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void reap() {
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

}  // namespace

TEST_CASE("this host has a boot id and the same one each time") {
  CHECK(this_host().boot_id.size() == 36);
  CHECK(this_host() == this_host());
  CHECK(this_host().pid_namespace != 0);
}

TEST_CASE("a host's addresses are told with what they are good for") {
  for (const HostAddress& address : host_addresses()) {
    INFO(address.text);
    CHECK(address.ipv6 == (address.text.find(':') != std::string::npos));
    if (address.text == "127.0.0.1" || address.text == "::1") CHECK(address.loopback);
    CHECK(address.link_local == (address.text.starts_with("fe80:") || address.text.starts_with("169.254.")));
  }
}

TEST_CASE("this process is alive") {
  CHECK(this_process().pid == getpid());
  CHECK(this_process().start_ticks > 0);
  CHECK(is_alive(this_process()));
}

TEST_CASE("the same pid with another start time is another process") {
  ProcessIdentity other = this_process();
  ++other.start_ticks;
  CHECK_FALSE(is_alive(other));
}

TEST_CASE("a process that was killed is not alive, neither as a zombie nor after") {
  Child child;
  const ProcessIdentity identity = child.identity();
  REQUIRE(is_alive(identity));
  child.kill();
  child.wait_until_zombie();
  CHECK_FALSE(is_alive(identity));
  child.reap();
  CHECK_FALSE(is_alive(identity));
}

TEST_CASE("no process has the pid zero") { CHECK_FALSE(is_alive({})); }

TEST_CASE("a file lock excludes another description of the same process") {
  TemporaryFile file;
  const Fd second = file.open_again();
  REQUIRE(*try_lock(file.first));
  CHECK_FALSE(*try_lock(second));
  CHECK(*is_locked_elsewhere(second));
  CHECK_FALSE(*is_locked_elsewhere(file.first));
  REQUIRE(unlock(file.first));
  CHECK(*try_lock(second));
}

TEST_CASE("locks on ranges that do not meet do not exclude") {
  TemporaryFile file;
  const Fd second = file.open_again();
  REQUIRE(*try_lock(file.first, {.start = 0, .length = 10}));
  CHECK(*try_lock(second, {.start = 10, .length = 10}));
  CHECK_FALSE(*try_lock(second, {.start = 9, .length = 1}));
}

TEST_CASE("shared locks meet and exclude an exclusive one") {
  TemporaryFile file;
  const Fd second = file.open_again(), third = file.open_again();
  REQUIRE(*try_lock(file.first, {}, LockKind::shared));
  CHECK(*try_lock(second, {}, LockKind::shared));
  CHECK_FALSE(*try_lock(third));
}

TEST_CASE("a lock ends with its file") {
  TemporaryFile file;
  const Fd second = file.open_again();
  REQUIRE(*try_lock(file.first));
  file.first.reset();
  CHECK(*try_lock(second));
}

TEST_CASE("a lock in the way is told with all that it covers") {
  TemporaryFile file;
  const Fd second = file.open_again();
  REQUIRE(*try_lock(file.first, {.start = 0, .length = 7}));
  const auto found = conflicting_lock(second, {.start = 3, .length = 1});
  REQUIRE(found);
  REQUIRE(*found);
  CHECK((*found)->start == 0);
  CHECK((*found)->length == 7);
  CHECK_FALSE(*conflicting_lock(second, {.start = 7, .length = 1}));
  CHECK_FALSE(*conflicting_lock(file.first));
}

TEST_CASE("a descriptor that is no file cannot be locked") {
  const Fd none;
  CHECK_FALSE(try_lock(none));
  CHECK_FALSE(is_locked_elsewhere(none));
}

TEST_CASE("a descriptor closes with its last owner") {
  const int raw = dup(0);
  {
    Fd first(raw);
    const Fd second = std::move(first);
    CHECK_FALSE(first);
    CHECK(is_open(second.get()));
  }
  CHECK_FALSE(is_open(raw));
}

TEST_CASE("a released descriptor stays open") {
  const int raw = dup(0);
  { CHECK(Fd(raw).release() == raw); }
  CHECK(is_open(raw));
  ::close(raw);
}

TEST_CASE("nothing missing needs no words and each thing missing names its cost and its mend") {
  CHECK(missing({.fifo = true, .memlock = true}).empty());
  const auto only = [](const Privileges& found) {
    REQUIRE(missing(found).size() == 1);
    return missing(found).front();
  };
  CHECK_THAT(only({.fifo = false, .memlock = true}),
             Catch::Contains("SCHED_FIFO") &&
                 Catch::Contains("+ep " + program_path() + " (again after each build), or 'ulimit -r"));
  CHECK_THAT(only({.fifo = false, .fifo_group_zero = true, .memlock = true}), Catch::Contains("cpu.rt_runtime_us"));
  CHECK_THAT(only({.fifo = true, .memlock = false}), Catch::Contains("ulimit -l"));
  for (const std::string& line : missing({})) CHECK(line.find('\n') == line.npos);
  CHECK(missing({}).size() == 2);
}

TEST_CASE("a refused reader is reported with its remedy unless no thread gets a priority") {
  CHECK_THAT(refused_reader({.fifo = true}, 50),
             Catch::StartsWith("io.priority = 50 was refused") && Catch::Contains("ulimit -r"));
  CHECK(refused_reader({.fifo = false}, 50).empty());
}

TEST_CASE("memory is locked exactly where the privilege says so") {
  // In a child: locking would slow down every later test of this process.
  const bool expected = privileges().memlock;
  const pid_t child = fork();
  if (child == 0) _exit(lock_memory(1024 * 1024) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK((WEXITSTATUS(status) == 0) == expected);
}

TEST_CASE("a log line below the level is dropped and the others go to standard error") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const Fd saved(dup(2));
  dup2(ends[1], 2);
  log::debug("not this");
  log::warn("but {} this");
  dup2(saved.get(), 2);
  ::close(ends[1]);
  const Fd reader(ends[0]);
  char text[256] = "";
  const auto size = read(reader.get(), text, sizeof text - 1);
  REQUIRE(size > 0);
  CHECK_THAT(std::string(text), Catch::Contains("warning: but {} this\n") && !Catch::Contains("not this"));
}

TEST_CASE("a unique function takes arguments and gives results") {
  UniqueFunction<int(int, std::unique_ptr<int>)> add = [](int a, std::unique_ptr<int> b) { return a + *b; };
  REQUIRE(add);
  CHECK(add(2, std::make_unique<int>(3)) == 5);
  auto other = std::move(add);
  CHECK_FALSE(add);
  CHECK(other(1, std::make_unique<int>(1)) == 2);
}
