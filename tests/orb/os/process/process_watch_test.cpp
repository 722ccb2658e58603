// Tests how the end of other processes is noticed.
#include "orb/os/process/process_watch.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"

using namespace corelane;
using os::ProcessIdentity;
using os::ProcessWatch;

TEST_CASE("the end of a process is told once") {
  ProcessWatch watch;
  std::optional<os::ChildProcess> child(std::in_place, std::vector<std::string>{"cat"});
  const ProcessIdentity theirs = os::identity_of(child->pid()).value();
  REQUIRE(watch.add(theirs));
  REQUIRE(watch.add(theirs));
  REQUIRE(watch.add(os::this_process()));
  CHECK(watch.wait(os::now()).empty());
  child.reset();  // kills it
  CHECK(watch.wait(never) == std::vector{theirs});
  CHECK(watch.wait(os::now()).empty());
}

TEST_CASE("the end of a process is told and not that of a later one with its number") {
  ProcessWatch watch;
  const ProcessIdentity self = os::this_process(), earlier{self.pid, self.start_ticks - 1};
  REQUIRE(watch.add(earlier));
  REQUIRE(watch.add(self));
  CHECK(watch.wait(never) == std::vector{earlier});
  CHECK(watch.wait(os::now()).empty());
}

TEST_CASE("a process that nobody needs any more is not watched") {
  ProcessWatch watch;
  const ProcessIdentity self = os::this_process(), earlier{self.pid, self.start_ticks - 1};
  REQUIRE(watch.add(earlier));
  REQUIRE(watch.add(self));
  watch.keep_only({self});
  CHECK(watch.wait(os::now()).empty());
}

TEST_CASE("a wait ends when it is woken") {
  ProcessWatch watch;
  watch.wake();
  CHECK(watch.wait(never).empty());
}

// Error paths.

TEST_CASE("a process for which there is no descriptor is not watched and not taken for ended") {
  ProcessWatch watch;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const auto refused = watch.add(os::this_process());
  setrlimit(RLIMIT_NOFILE, &before);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == EMFILE);
  CHECK(watch.wait(os::now()).empty());
  CHECK(watch.add(os::this_process()));
}
