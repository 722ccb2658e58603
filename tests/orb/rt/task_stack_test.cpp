// Tests servants that put much on their stack: the setting that makes room for them, and the message when there is no
// room.
#include <signal.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "orb/os/memory/stack_overflow.h"
#include "orb/os/process/child_process.h"
#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"

namespace task_stack_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// A servant whose add(n, ...) uses n KiB of the stack.
class Deep final : public ProbeServant {
 public:
  std::int32_t add(std::int32_t kibibytes, std::int32_t b) override { return descend(kibibytes) + b; }

 private:
  [[gnu::noinline]] static std::int32_t descend(std::int32_t kibibytes) {
    volatile char room[8192];
    room[0] = 1;
    return kibibytes < 8 ? 0 : descend(kibibytes - 8) + 8 * room[0];
  }
};

struct Calls {
  explicit Calls(std::vector<std::string> options) : server(std::move(options)) {
    server.root()->the_POAManager()->activate();
    probe = probe_of(client, server->object_to_string(server.root()->servant_to_reference(servant)));
  }
  std::int32_t as_task(std::int32_t kibibytes) {
    const auto task = rt::admit(probe, {.operation = "add", .contract = make_contract(100ms, 10ms)});
    if (!task) throw std::runtime_error(task.error().text);
    return probe->add(kibibytes, 0);
  }
  TestOrb server, client;
  CORBA::servant_reference<Deep> servant = CORBA::make_reference<Deep>();
  CORBA::object_reference<Probing::Probe> probe;
};

std::vector<std::string> in_any_mode(std::vector<std::string> options) {
  const std::string mode = GENERATE(every_mode());
  options.insert(options.end(), {"-ORBDispatchMode", mode});
  return options;
}

}  // namespace

TEST_CASE("a task's job has the stack that pool.stack says") {
  Calls calls(in_any_mode({"-ORBPoolStack", "2097152"}));
  CHECK(calls.as_task(1920) == 1920);
}

TEST_CASE("a request without a contract has the stack that best_effort.stack says, also where it waited before") {
  Calls calls({"-ORBBestEffortStack", "4194304"});
  CHECK(calls.probe->add(3840, 0) == 3840);
  calls.server.root()->the_POAManager()->hold_requests(false);
  std::jthread activates([&] {
    std::this_thread::sleep_for(50ms);  // sleep: so that the call most likely waits; the result is the same either way
    calls.server.root()->the_POAManager()->activate();
  });
  CHECK(calls.probe->add(3840, 0) == 3840);
}

TEST_CASE("a servant that needs more stack than there is ends the process, which says what to set") {
  constexpr const char* role = "CORELANE_DEEP_SERVANT";  // if it is set, this is the process that ends
  if (const char* const kind = std::getenv(role)) {
    Calls calls({"-ORBBestEffortStack", "1048576"});
    std::string(kind) == "task" ? calls.as_task(1024) : calls.probe->add(2048, 0);
    return;
  }
  if (!os::reports_stack_overflow) return void(std::cout << "SKIPPED: sanitizers report overflows themselves\n");
  const bool has_task = GENERATE(false, true);
  ::setenv(role, has_task ? "task" : "plain", 1);
  os::ChildProcess child({"/proc/self/exe", "a servant that needs more stack than there is*"}, {.joins_errors = true});
  ::unsetenv(role);
  const std::string said = child.read_all().value_or("");
  CHECK(child.wait().value().signal == SIGSEGV);
  CHECK_THAT(said, Catch::Contains(has_task ? " (256 KiB) overflowed" : " (1024 KiB) overflowed"));
  CHECK_THAT(said, Catch::Contains(has_task ? "set pool.stack to more bytes" : "set best_effort.stack to more bytes"));
  CHECK_THAT(said, Catch::Contains(has_task ? "the stack of thread cl-task-" : "the stack of thread cl-serve-"));
}

}  // namespace task_stack_test
