#include "orb/os/files/file_room.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>

using namespace corelane::os;

namespace {

constexpr off_t wanted = 32 << 20;

Fd file_in_memory() { return Fd(memfd_create("corelane-test", MFD_CLOEXEC)); }

std::atomic<int> rung{0};

// Starts a timer that fires all the time, as a profiler's does.
void ring_often() {
  struct sigaction action {};
  action.sa_handler = [](int) { ++rung; };
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{.it_interval = {0, 50}, .it_value = {0, 50}};
  setitimer(ITIMER_REAL, &often, nullptr);
}

// Returns 0 if signals interrupt the system call itself on this kernel, as before 6.9.
int bare_beside_a_timer() {
  ring_often();
  return posix_fallocate(file_in_memory().get(), 0, wanted) == EINTR ? 0 : 1;
}

// Returns 0 if all is as expected.
int beside_a_timer() {
  ring_often();
  const Fd file = file_in_memory();
  if (!take_room(file, 0, wanted)) return 1;
  while (rung == 0) pause();  // the timer fires again: signals are not blocked
  struct stat found {};
  return fstat(file.get(), &found) == 0 && found.st_blocks * 512 >= wanted ? 0 : 2;
}

int takes_too_much() {
  const rlimit none{};
  setrlimit(RLIMIT_FSIZE, &none);
  if (take_room(file_in_memory(), 0, wanted) || errno != EFBIG) return 1;
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, nullptr, &blocked);
  return sigisemptyset(&blocked) == 1 ? 0 : 2;
}

int status_of(int (*run)()) {
  const pid_t child = fork();
  if (child == 0) _exit(run());
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("room is taken beside signals that come all the time") {
  CHECK(status_of(beside_a_timer) == 0);
  if (status_of(bare_beside_a_timer) != 0)
    std::puts("SKIPPED: this kernel does not stop at signals, so it cannot be seen that they wait");
}

TEST_CASE("room beyond the limit of file sizes is an error and no signal") { CHECK(status_of(takes_too_much) == 0); }

TEST_CASE("why there is no room is said") {
  CHECK_FALSE(take_room(Fd(), 0, wanted));
  CHECK(errno == EBADF);
  const Fd file = file_in_memory();
  CHECK_FALSE(take_room(file, 0, 0));
  CHECK(errno == EINVAL);
  CHECK(take_room(file, 4096, 4096));
  struct stat found {};
  REQUIRE(fstat(file.get(), &found) == 0);
  CHECK(found.st_size == 8192);
}
