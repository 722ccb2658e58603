// Tests processes that are bound to cores and repeat a unit of work.
#include "services/corelane/scale/bound_processes.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "orb/os/machine/topology.h"
#include "orb/os/thread.h"

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

namespace bound_processes_test {
namespace {

CoreId usable_core() { return os::Topology::detect().value().cores().front().core; }

bool has_child() { return waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

UnitOfWork throws() {
  return [] { throw std::runtime_error("the unit fails"); };
}
UnitOfWork is_killed() {
  return [] { ::kill(::getpid(), SIGKILL); };
}

}  // namespace

TEST_CASE("each process works on its own core and does at least one unit") {
  const CoreId core = usable_core();
  const auto run = run_bound(std::vector<CoreId>{core, core}, 1ms, [core]() -> UnitOfWork {
    return [core] {
      if (os::current_core() != core) throw std::runtime_error("it runs elsewhere");
    };
  });
  REQUIRE(run);
  CHECK(run->throughput > 0);
  CHECK(run->kernel_ns >= 0);
  CHECK_FALSE(has_child());
}

TEST_CASE("a process that fails is named with its reason, and none is left") {
  const std::string who = "the process on core " + std::to_string(usable_core().value) + " failed: ";
  const std::vector<CoreId> cores{usable_core()};
  CHECK(run_bound(cores, 1ms, throws).error() == who + "the unit fails");
  CHECK(run_bound(cores, 1ms, is_killed).error() == who + "killed by signal 9");
  CHECK(run_bound(cores, 1ms, []() -> UnitOfWork { throw std::runtime_error("no preparation"); }).error() ==
        who + "no preparation");
  CHECK_FALSE(has_child());
}

TEST_CASE("a core that cannot be used is refused, and the other process ends") {
  constexpr CoreId missing{8191};
  const auto run = run_bound(std::vector<CoreId>{usable_core(), missing}, 1ms, [] { return UnitOfWork([] {}); });
  REQUIRE_FALSE(run);
  CHECK(run.error() == "the process on core 8191 failed: the system does not let it run there");
  CHECK_FALSE(has_child());
}

}  // namespace bound_processes_test
