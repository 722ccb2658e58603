// Tests which thread receives the requests of a task. It counts how often the threads of this process sleep.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/orb/rt/dedicated_connection.h"

namespace receiving_thread_test {

using namespace corelane;
using namespace corelane::testing;
using dedicated_connection::Client;
using dedicated_connection::Served;

namespace {

constexpr int calls = 200;

// The budget is large enough for sanitizers, too.
const Contract roomy = make_contract(std::chrono::milliseconds{3}, std::chrono::milliseconds{2});

// All threads with a name.
class Threads {
 public:
  explicit Threads(const std::string& name) {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream comm(thread.path() / "comm");
      std::string line;
      if (std::getline(comm, line) && line == name) threads_.push_back(thread.path() / "status");
    }
  }
  // Returns how often they have slept so far.
  long sleeps() const {
    long sum = 0;
    for (const auto& thread : threads_) sum += std::stol(value_of(thread, "voluntary_ctxt_switches:"));
    return sum;
  }
  void wait_until_all_sleep() const {
    for (const auto& thread : threads_)
      while (value_of(thread, "State:").find('S') == std::string::npos) std::this_thread::yield();  // bound: its work
  }

 private:
  static std::string value_of(const std::filesystem::path& status, std::string_view key) {
    std::ifstream lines(status);
    std::string line;
    while (std::getline(lines, line))
      if (line.starts_with(key)) return line.substr(key.size());
    throw std::runtime_error("a thread has gone");
  }

  std::vector<std::filesystem::path> threads_;
};

// Counts how often threads sleep while a client calls its task. Each call waits until the last one is answered, and
// until the threads that receive requests in that mode sleep again.
struct Slept {
  explicit Slept(const std::string& mode) {
    Served served({"-ORBDispatchMode", mode, "-ORBPoolWait", "park"});
    Client client(served);
    const auto task = rt::admit(client.probe, {.operation = "add", .contract = roomy});
    REQUIRE(task);
    CHECK(client.probe->add(1, 2) == 3);
    const Threads own("cl-task-" + std::to_string(task->id().value)), reader("corelane-io");
    const Threads& receiver = mode == "direct" ? own : reader;
    const long own_before = own.sleeps(), reader_before = reader.sleeps();
    for (int i = 0; i < calls; ++i) {
      receiver.wait_until_all_sleep();
      CHECK(client.probe->add(i, 1) == i + 1);
    }
    of_task = own.sleeps() - own_before;
    of_reader = reader.sleeps() - reader_before;
  }
  long of_task = 0, of_reader = 0;
};

}  // namespace

TEST_CASE("in mode direct a task's thread receives its requests, and the reader does not wake for them") {
  const Slept slept("direct");
  CHECK(slept.of_task >= calls / 2);
  CHECK(slept.of_reader < calls / 2);
}

TEST_CASE("in mode manager the reader wakes for each request of a task") {
  const Slept slept("manager");
  CHECK(slept.of_reader >= calls / 2);
}

}  // namespace receiving_thread_test
