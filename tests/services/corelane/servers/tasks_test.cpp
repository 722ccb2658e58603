// `corelane tasks end`, with a server in this process.
#include "services/corelane/servers/tasks.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <sstream>
#include <thread>

#include "orb/dispatch/counter_page.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/dispatch/manager/end_requests.h"
#include "orb/os/machine/host.h"
#include "orb/os/machine/topology.h"
#include "services/corelane/servers/top.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

namespace tasks_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using corelane::testing::TempDirectory;

namespace {

struct Server {
  testing::Quiet quiet;
  TempDirectory directory;
  dispatch::UnguardedCores cores{*os::Topology::detect()};
  std::unique_ptr<dispatch::Executive> executive = started();
  std::string said, complained;

  std::unique_ptr<dispatch::Executive> started() {
    dispatch::ExecutiveOptions options;
    options.real_time = false;
    options.recorder.runtime_directory = directory.path();
    auto made = dispatch::Executive::start(options, cores);
    REQUIRE(made);
    return std::move(*made);
  }
  TaskId admit(std::uint64_t connection, const std::string& holder) {
    const auto admission = executive->admit_and_wait(
        {.contract = make_contract(100ms, 1ms), .owner = PeerId{connection}, .label = "Plant/step", .holder = holder});
    REQUIRE(admission);
    return admission->task;
  }
  // Bound: the housekeeper writes the page twice a second, and once more when the last task has left.
  dispatch::ProcessCounters page_with(std::size_t tasks) {
    for (;;) {
      for (auto& page : dispatch::read_pages(directory.path()))
        if (page.tasks.size() == tasks) return page;
      std::this_thread::sleep_for(10ms);  // sleep: the page is a file, written now and then
    }
  }
  bool is_gone(TaskId task) const {
    for (const auto& report : executive->snapshot().tasks)
      if (report.task == task) return report.gone;
    return true;
  }
  int end(EndOptions options) {
    options.directory = directory.path();
    options.server = ::getpid();
    options.wait = 60s;
    std::ostringstream out, err;
    const int status = end_tasks(options, out, err);
    said = out.str(), complained = err.str();
    return status;
  }
};

}  // namespace

TEST_CASE("tasks that are named end, of any client, and others stay") {
  Server server;
  const TaskId first = server.admit(1, "10.0.0.7"), second = server.admit(2, "user 1000");
  (void)server.page_with(2);
  CHECK(server.end({.tasks = {first.value}}) == 0);
  CHECK(server.said == "task " + std::to_string(first.value) + " ends\n");
  CHECK(server.page_with(1).tasks[0].task == second);
  CHECK(server.is_gone(first));
  CHECK_FALSE(server.is_gone(second));
}

TEST_CASE("all tasks of an address or a user end together") {
  Server server;
  server.admit(1, "10.0.0.7");
  server.admit(2, "10.0.0.7");
  const TaskId other = server.admit(3, "user 1000");
  (void)server.page_with(3);
  CHECK(server.end({.holders = {"10.0.0.7"}}) == 0);
  CHECK(server.page_with(1).tasks[0].task == other);
  CHECK(server.end({.holders = {"10.0.0.7"}}) == 1);
  CHECK(server.complained == "corelane tasks end: no holder of that name has a task; those who do: user 1000\n");
}

TEST_CASE("a user is named by name, by number, or as corelane top does") {
  const std::string root = GENERATE(as<std::string>{}, "root", "0", "user 0");
  Server server;
  server.admit(1, "user 0");
  const TaskId other = server.admit(2, "user 1000");
  (void)server.page_with(2);
  CHECK(server.end({.holders = {root}}) == 0);
  CHECK(server.page_with(1).tasks[0].task == other);
}

TEST_CASE("a task that is not there is named, and the others end") {
  Server server;
  const TaskId task = server.admit(1, "10.0.0.7");
  (void)server.page_with(1);
  CHECK(server.end({.tasks = {task.value, 99}}) == 1);
  CHECK_THAT(server.said, Contains("task " + std::to_string(task.value) + " ends"));
  CHECK_THAT(server.complained, Contains("task 99 is not there"));
}

TEST_CASE("a request to a process that is no server, or that does not answer, fails with that reason") {
  TempDirectory directory;
  std::ostringstream out, err;
  CHECK(end_tasks({.directory = directory.path(), .server = ::getpid(), .tasks = {1}}, out, err) == 1);
  CHECK_THAT(err.str(), Contains("no Corelane server") && Contains("corelane top"));
  SECTION("one whose page is there and that does not look") {
    auto page = dispatch::CounterPage::make(directory.path(), 1, 1);
    REQUIRE(page);
    dispatch::ProcessCounters counters;
    counters.pid = ::getpid();
    counters.start_ticks = os::this_process().start_ticks;
    counters.pid_namespace = os::this_host().pid_namespace;
    (*page)->write(counters);
    CHECK(end_tasks({.directory = directory.path(), .server = ::getpid(), .tasks = {1}, .wait = 20ms}, out, err) == 1);
    CHECK_THAT(err.str(), Contains("did not answer"));
    CHECK(::access(dispatch::end_request(directory.path(), ::getpid()).c_str(), F_OK) != 0);
  }
}

TEST_CASE("the page of a server says how much each peer holds") {
  Server server;
  server.admit(1, "10.0.0.7");
  server.admit(2, "10.0.0.7");
  server.admit(3, "user 1000");
  (void)server.page_with(3);
  std::ostringstream out, err;
  KnownDirectories known;
  CHECK(top_once(server.directory.path(), Format::table, known, out, err) == 0);
  CHECK_THAT(out.str(), Contains("  10.0.0.7 holds 2.0 % of a core with 2 tasks, last call noticed ") &&
                            Contains("  user 1000 holds 1.0 % of a core with 1 task,") &&
                            Contains("Plant/step of peer 3 (user 1000)"));
  std::ostringstream json;
  CHECK(top_once(server.directory.path(), Format::json, known, json, err) == 0);
  CHECK_THAT(json.str(), Contains("\"holder\": \"user 1000\""));
}

}  // namespace tasks_test
