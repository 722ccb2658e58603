#include "orb/os/process/size_limit_guard.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using corelane::os::SizeLimitGuard;

namespace {

// Runs in a child process, and writes to a file that may not grow. Returns 0 if all is as expected.
int beyond_the_limit() {
  char name[] = "/tmp/corelane-limit-XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  const rlimit none{};
  setrlimit(RLIMIT_FSIZE, &none);
  for (int i = 0; i < 2; ++i) {
    const SizeLimitGuard guard;
    const SizeLimitGuard inner;
    if (write(file, "x", 1) != -1 || errno != EFBIG) return 1;
  }
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, SIGXFSZ) == 1 ? 2 : 0;
}

}  // namespace

TEST_CASE("a write beyond the limit of file sizes is an error while it is guarded") {
  const pid_t child = fork();
  if (child == 0) _exit(beyond_the_limit());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a guard inside another leaves the signal to the outer one") {
  const auto blocked = [] {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, nullptr, &now);
    return sigismember(&now, SIGXFSZ) == 1;
  };
  {
    const SizeLimitGuard outer;
    { const SizeLimitGuard inner; }
    CHECK(blocked());
  }
  CHECK_FALSE(blocked());
}
