// Runs of few short jobs, with real processes. They count jobs; they judge no times.
#include "services/corelane/real_run/real_run.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "orb/base/registry.h"
#include "orb/eval/dispatchers.h"
#include "orb/os/machine/topology.h"
#include "orb/os/process/child_process.h"
#include "tests/support/modes.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace real_run_test {

// A run of three tasks on the first usable core. Its files go below a directory of the test.
class ShortRun {
 public:
  ShortRun() {
    ::setenv("TMPDIR", directory.path().c_str(), 1);
    request.cores = {os::Topology::detect()->cores().front().core};
    request.length = 100ms;
    for (const Duration period : {25ms, 50ms, 100ms})
      request.tasks.push_back({.label = to_string(period), .contract = make_contract(period, 200us, period, 0ms)});
    use("mc-orb");
  }
  ~ShortRun() { ::unsetenv("TMPDIR"); }

  void use(std::string_view dispatcher) { request.dispatcher = find_named(eval::dispatchers(), dispatcher); }
  auto run() const { return run_real(request, options); }

  // Each task was admitted, and all of its jobs ended.
  void check_complete(const eval::RunOutcome& outcome) const {
    REQUIRE(outcome.tasks.size() == 3);
    const std::size_t jobs[] = {4, 2, 1};
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(outcome.tasks[i].label == request.tasks[i].label);
      CHECK(outcome.tasks[i].refusal == "");
      CHECK(outcome.tasks[i].admitted);
      CHECK(outcome.tasks[i].jobs == jobs[i]);
      CHECK(outcome.tasks[i].finished == jobs[i]);
    }
    CHECK(directory.entries() == 0);
  }

  TempDirectory directory;
  eval::RunRequest request;
  RealRunOptions options{.node = os::program_beside("corelane-eval-node"), .head_start = 200ms};
};

TEST_CASE_METHOD(ShortRun, "a real run runs every job over each transport") {
  request.transport = GENERATE(as<std::string>{}, "channel", "unix", "tcp");
  const auto outcome = run();
  INFO((outcome ? "" : outcome.error().text));
  REQUIRE(outcome);
  check_complete(outcome->run);
  for (const eval::TaskOutcome& task : outcome->run.tasks) {
    CHECK(task.core == request.cores.front());
    CHECK(task.bound > 0ns);
  }
}

TEST_CASE_METHOD(ShortRun, "a real run runs every job under the dispatchers that refuse nothing") {
  use(GENERATE(as<std::string>{}, "mc-orb*", "leader-followers-one-core"));
  if (request.dispatcher->mode == dispatch::DispatchMode::leader_followers && !can_follow()) return;
  options.clients = 2;
  const auto outcome = run();
  INFO((outcome ? "" : outcome.error().text));
  REQUIRE(outcome);
  check_complete(outcome->run);
  for (const eval::TaskOutcome& task : outcome->run.tasks) CHECK(task.bound == 0ns);
}

TEST_CASE_METHOD(ShortRun, "a task that does not fit is refused, and the others run") {
  request.tasks[1].contract = make_contract(50ms, 49ms);
  const auto outcome = run();
  REQUIRE(outcome);
  CHECK(outcome->run.tasks[0].finished == 4);
  CHECK(!outcome->run.tasks[1].admitted);
  CHECK_THAT(outcome->run.tasks[1].refusal, Catch::Contains("deadline"));
  CHECK(outcome->run.tasks[1].finished == 0);
  CHECK(outcome->run.tasks[2].finished == 1);
}

TEST_CASE_METHOD(ShortRun, "the control watches each core for as long as it is told") {
  const auto control = watch_gaps(request.cores, 20ms, options);
  INFO((control ? "" : control.error().text));
  REQUIRE(control);
  CHECK(control->watched > 10ms);  // the clock cannot run faster than the calibration by much
}

// Error paths.

TEST_CASE_METHOD(ShortRun, "a run that is stopped ends early, and leaves nothing behind") {
  request.length = 60s;  // nobody waits for it
  int asked = 0;
  options.is_to_stop = [&asked] { return ++asked > 10; };
  const auto outcome = run();
  REQUIRE(!outcome);
  CHECK(outcome.error().stopped);
  CHECK(directory.entries() == 0);
}

TEST_CASE_METHOD(ShortRun, "a run without its program is a fault that names the program") {
  options.node = directory / "nowhere";
  const auto outcome = run();
  REQUIRE(!outcome);
  CHECK(!outcome.error().stopped);
  CHECK_THAT(outcome.error().text, Catch::Contains("nowhere"));
}

TEST_CASE_METHOD(ShortRun, "a run on a core that does not exist is a fault that names the core") {
  request.cores = {CoreId{32'000}};
  const auto outcome = run();
  REQUIRE(!outcome);
  CHECK_THAT(outcome.error().text, Catch::Contains("32000") && Catch::Contains("virtual time"));
}

TEST_CASE_METHOD(ShortRun, "a program that is no node is a fault that says how it ended") {
  options.node = "/bin/false";
  const auto outcome = run();
  REQUIRE(!outcome);
  CHECK_THAT(outcome.error().text, Catch::Contains("the server ended early (exit status 1)"));
}

}  // namespace real_run_test
