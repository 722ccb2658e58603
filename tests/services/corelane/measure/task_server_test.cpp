#include "services/corelane/measure/task_server.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "orb/os/machine/host.h"
#include "tests/support/system/temp_directory.h"

namespace task_server_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using corelane::testing::TempDirectory;

namespace {

// Both are in the first seven digits of their numbers alike.
constexpr TaskId first{1048576}, second{10485761};

dispatch::TaskCounters counters_of(TaskId task, int thread) {
  dispatch::TaskCounters counters;
  counters.task = task;
  counters.core = CoreId{2};
  counters.contract = make_contract(10ms, 1ms);
  counters.thread = thread;
  counters.label = "Plant/Controller.step";
  return counters;
}

// A server's page in a runtime directory.
struct Page {
  TempDirectory directory;
  std::unique_ptr<dispatch::CounterPage> page = std::move(*dispatch::CounterPage::make(directory.path(), 0, 2));

  void write(const std::vector<dispatch::TaskCounters>& tasks,
             dispatch::Guarantee guarantee = dispatch::Guarantee::bounds) const {
    const os::ProcessIdentity self = os::this_process();
    dispatch::ProcessCounters counters;
    counters.pid = self.pid;
    counters.start_ticks = self.start_ticks;
    counters.pid_namespace = os::this_host().pid_namespace;
    counters.conditions.guarantee = guarantee;
    counters.tasks = tasks;
    page->write(counters);
  }
  // Looks once.
  std::optional<dispatch::ProcessCounters> with(TaskId task) const {
    return page_with(directory.path(), {.task = task, .operation = "step", .contract = make_contract(10ms, 1ms)}, 0s);
  }
};

}  // namespace

TEST_CASE("two tasks whose threads have the same name are told apart") {
  const Page page;
  page.write({counters_of(first, 41), counters_of(second, 42)});
  const auto found = page.with(second);
  REQUIRE(found);
  CHECK(task_in(*found, first).thread == 41);
  CHECK(task_in(*found, second).thread == 42);
  CHECK(task_in(*found, second).core == CoreId{2});
}

TEST_CASE("a page without the thread of the task is too early, except of a server whose tasks have no threads") {
  const Page page;
  page.write({counters_of(first, 0), counters_of(second, 42)});
  CHECK_FALSE(page.with(first));
  CHECK(page.with(second));
  page.write({counters_of(first, 0)}, dispatch::Guarantee::priorities);
  CHECK(page.with(first));
}

TEST_CASE("a task that a page does not have has no label, no core and no thread there") {
  const dispatch::TaskCounters none = task_in({}, first);
  CHECK(none.label.empty());
  CHECK(none.core == no_core);
  CHECK(none.thread == 0);
}

}  // namespace task_server_test
