#include "services/corelane/real_run/node_options.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/registry.h"
#include "orb/core/contracts/slowdowns.h"
#include "orb/eval/dispatchers.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

namespace node_options_test {

eval::RunRequest request_for(std::string_view dispatcher) {
  eval::RunRequest request;
  request.tasks = {{.label = "first", .contract = make_contract(10ms, 1ms)}};
  request.cores = {CoreId{0}, CoreId{2}};
  request.dispatcher = find_named(eval::dispatchers(), dispatcher);
  return request;
}

// Returns the value of an option, or "none".
std::string value_of(const std::vector<std::string>& options, const std::string& name) {
  const auto found = std::ranges::find(options, name);
  return found == options.end() ? "none" : *(found + 1);
}

std::string value_for(const eval::RunRequest& request, const std::string& name) {
  return value_of(server_options(request, "/run/here"), name);
}

TEST_CASE("the dispatcher decides about mode, admission and placement") {
  struct Case {
    std::string dispatcher, mode, admission, placement;
  };
  const Case c = GENERATE(Case{"mc-orb", "manager", "response-time", "none"}, Case{"mc-orb*", "manager", "off", "none"},
                          Case{"direct", "direct", "response-time", "none"},
                          Case{"leader-followers", "leader-followers", "none", "unbound"},
                          Case{"leader-followers-pinned", "leader-followers", "none", "round-robin"},
                          Case{"leader-followers-one-core", "leader-followers", "none", "single-core"},
                          Case{"leader-followers-allocated", "leader-followers", "none", "allocated"});
  const eval::RunRequest request = request_for(c.dispatcher);
  CHECK(value_for(request, "-ORBDispatchMode") == c.mode);
  CHECK(value_for(request, "-ORBDispatchAdmission") == c.admission);
  CHECK(value_for(request, "-ORBFollowersPlacement") == c.placement);
}

TEST_CASE("the server has the cores, the platform load, the test and the strategy of the request") {
  eval::RunRequest request = request_for("mc-orb");
  request.server.platform = {.budget = 30us, .period = 2ms, .blocking = 5us};
  request.server.admission_test = find_named(sched::admission_tests(), "hyperbolic");
  request.server.allocation = sched::allocation_strategies().back();
  CHECK(value_for(request, "-ORBPoolCores") == "0,2");
  CHECK(value_for(request, "-ORBPlatformBudget") == "30us");
  CHECK(value_for(request, "-ORBPlatformPeriod") == "2ms");
  CHECK(value_for(request, "-ORBPlatformBlocking") == "5us");
  CHECK(value_for(request, "-ORBDispatchAdmission") == "hyperbolic");
  CHECK(value_for(request, "-ORBDispatchAllocation") == sched::allocation_strategies().back()->name);
}

TEST_CASE("a server that refuses nothing allocates tasks to the least loaded core, whatever the file says") {
  eval::RunRequest request = request_for(GENERATE("mc-orb*", "leader-followers-allocated"));
  request.server.allocation = find_named(sched::allocation_strategies(), "first-fit");
  CHECK(value_for(request, "-ORBDispatchAllocation") == "worst-fit");
}

TEST_CASE("the server listens for the transport of the request alone") {
  eval::RunRequest request = request_for("mc-orb");
  request.transport = GENERATE(as<std::string>{}, "channel", "unix", "tcp");
  const std::string endpoint = value_for(request, "-ORBEndpointListen");
  CHECK(endpoint == (request.transport == "tcp" ? "127.0.0.1:0" : request.transport + ":"));
  CHECK(value_for(request, "-ORBEndpointLocal") == "off");
}

TEST_CASE("leader-followers has a thread for each task, and one that reads") {
  eval::RunRequest request = request_for("leader-followers");
  CHECK(value_for(request, "-ORBFollowersThreads") == "2");
  request.tasks.resize(1000, request.tasks.front());
  CHECK(value_for(request, "-ORBFollowersThreads") == "256");
  CHECK(value_for(request, "-ORBLimitsTasks") == "1000");
}

TEST_CASE("server and clients share the directory, and wait for late jobs") {
  CHECK(value_for(request_for("mc-orb"), "-ORBRuntimeDirectory") == "/run/here");
  CHECK(value_of(client_options("/run/here"), "-ORBRuntimeDirectory") == "/run/here");
  CHECK(value_of(client_options("/run/here"), "-ORBTimeoutRequest") == "0s");
}

TEST_CASE("a platform that a server cannot have is changed, and each change is reported") {
  eval::RunRequest request = request_for("mc-orb");
  request.server.platform = {.budget = 0us, .period = 5ms, .jitter = 3us, .blocking = 4us};
  request.server.capacity = sched::whole_core;
  const std::vector<std::string> notes = adapt_platform(request);
  CHECK(notes.size() == 3);
  const dispatch::ExecutiveOptions usual;
  CHECK(request.server.platform.budget == usual.platform.budget);
  CHECK(request.server.platform.period == usual.platform.period);
  CHECK(request.server.platform.jitter == 0us);
  CHECK(request.server.platform.blocking == 4us);
  CHECK(request.server.capacity == sched::default_capacity);
  CHECK(adapt_platform(request).empty());
}

TEST_CASE("the platform does not matter where nothing is analyzed") {
  eval::RunRequest request = request_for("leader-followers");
  request.server.capacity = sched::whole_core;
  CHECK(adapt_platform(request).empty());
}

// Error paths.

TEST_CASE("a real run can do what a server and its jobs can do") { CHECK(fault_of(request_for("mc-orb")) == ""); }

TEST_CASE("what a real run cannot do is a fault that names it") {
  eval::RunRequest request = request_for("mc-orb");
  std::string named, remedy = "run in virtual time";
  SECTION("an unknown transport") {
    request.transport = named = "carrier-pigeon";
    remedy = "use channel, unix or tcp";
  }
  SECTION("a test that no server has") {
    request.server.admission_test = find_named(sched::admission_tests(), "gfb");
    named = "policy.test = \"gfb\" works in no server";
  }
  SECTION("tasks that may not move") {
    request.server.repack = false;
    named = "policy.repack = false works in no server";
  }
  SECTION("budgets that include slowdowns") {
    request.charge_slowdowns = true;
    named = "policy.charge_slowdowns = true works in no server";
  }
  SECTION("budgets that include the worst slowdowns") {
    request.server.slowdowns = core::worst_of({});
    named = "policy.charge_slowdowns = \"worst\", or the setting dispatch.slowdowns, does not work in a real run";
  }
  SECTION("a task that suspends itself") {
    request.tasks[0].contract.suspension = 1ms;
    named = "task first suspends itself";
  }
  SECTION("a task that locks resources") {
    request.tasks[0].contract.uses[0] = use_of("bus", 1us);
    named = "task first locks resources";
  }
  CHECK_THAT(fault_of(request), Catch::Contains(named) && Catch::Contains(remedy));
}

}  // namespace node_options_test
