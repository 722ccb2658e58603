#include "orb/os/process/fork_guard.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using corelane::os::ForkGuard;
using corelane::os::is_guarded_child;

namespace {

// Returns whether a child of this process finds itself guarded.
bool is_told_in_child() {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(is_guarded_child() ? 1 : 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status) == 1;
}

}  // namespace

TEST_CASE("a child is guarded that was forked while a guard was there") {
  CHECK_FALSE(is_told_in_child());
  {
    const ForkGuard one;
    CHECK(is_told_in_child());
    { const ForkGuard another; }
    CHECK(is_told_in_child());
  }
  CHECK_FALSE(is_told_in_child());
  CHECK_FALSE(is_guarded_child());
}
