// Whose thread receives the requests of a task: told by how often the threads of this process sleep.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/orb/rt/own_connection.h"

namespace receiving_thread_test {

using namespace corelane;
using namespace corelane::testing;
using own_connection::Client;
using own_connection::Served;

namespace {

constexpr int calls = 200;

// Of a budget that holds under sanitizers, too.
const Contract roomy = make_contract(std::chrono::milliseconds{3}, std::chrono::milliseconds{2});

// Of all threads of that name, so far.
long sleeps_of(std::string_view name) {
  constexpr std::string_view key = "voluntary_ctxt_switches:";
  long sum = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream comm(thread.path() / "comm"), status(thread.path() / "status");
    std::string line;
    if (!std::getline(comm, line) || line != name) continue;
    while (std::getline(status, line))
      if (line.starts_with(key)) sum += std::stol(line.substr(key.size()));
  }
  return sum;
}

// How often threads slept while a client called its task, each time once the call before had been answered.
struct Slept {
  explicit Slept(const char* mode) {
    Served served({"-ORBDispatchMode", mode, "-ORBPoolWait", "park"});
    Client client(served);
    const auto task = rt::admit(client.probe, {.operation = "add", .contract = roomy});
    REQUIRE(task);
    CHECK(client.probe->add(1, 2) == 3);
    const std::string own = "cl-task-" + std::to_string(task->id().value);
    const long own_before = sleeps_of(own), reader_before = sleeps_of("corelane-io");
    for (int i = 0; i < calls; ++i) CHECK(client.probe->add(i, 1) == i + 1);
    of_task = sleeps_of(own) - own_before;
    of_reader = sleeps_of("corelane-io") - reader_before;
  }
  long of_task = 0, of_reader = 0;
};

}  // namespace

TEST_CASE("in mode direct a task's thread receives its requests, and the reader does not wake for them") {
  const Slept slept("direct");
  CHECK(slept.of_task >= calls / 2);  // not for a request that is there when it looks
  CHECK(slept.of_reader < calls / 2);
}

TEST_CASE("in mode manager the reader wakes for each request of a task") {
  const Slept slept("manager");
  CHECK(slept.of_reader >= calls / 2);
}

}  // namespace receiving_thread_test
