#include "orb/dispatch/records/task_table.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "orb/sched/manager.h"

using namespace corelane;
using namespace corelane::dispatch;

namespace {

struct TableNode {
  TaskId id;
  std::unique_ptr<TableNode> next{};
  TaskId task() const noexcept { return id; }
};
using Table = TaskTable<TableNode>;

// Returns the id of the task that has the slot in its generation, as a Manager issues it.
TaskId id_of(std::uint64_t slot, std::uint64_t generation) { return TaskId{generation << sched::slot_bits | slot}; }
void put(Table& table, TaskId task) {
  auto node = std::make_unique<TableNode>();
  node->id = task;
  table.put(std::move(node));
}
std::size_t size_of(const Table& table) {
  std::size_t size = 0;
  table.for_each([&](const TableNode&) { ++size; });
  return size;
}

}  // namespace

TEST_CASE("a task table finds each task until it is taken out") {
  Table table(3);
  for (std::uint64_t slot = 0; slot < 3; ++slot) put(table, id_of(slot, 1));
  CHECK(size_of(table) == 3);
  const TaskId second = id_of(1, 1);
  REQUIRE(table.find(second));
  CHECK(table.find(second)->id == second);
  CHECK(table.take(second)->id == second);
  CHECK_FALSE(table.find(second));
  CHECK_FALSE(table.take(second));
  CHECK(size_of(table) == 2);
}

TEST_CASE("a task table knows no ids of other generations, of slots that it does not have, and not the id of no task") {
  Table table(2);
  put(table, id_of(1, 5));
  CHECK_FALSE(table.find(id_of(1, 4)));
  CHECK_FALSE(table.find(id_of(1, 6)));
  CHECK_FALSE(table.find(id_of(0, 5)));
  CHECK_FALSE(table.find(id_of(2, 5)));
  CHECK_FALSE(table.take(id_of(2, 5)));
  CHECK_FALSE(table.find(no_task));
  Table empty(0);
  CHECK_FALSE(empty.find(id_of(0, 1)));
}

// The job of an evicted task may run on while a new task has the slot.
TEST_CASE("tasks of several generations are in one slot of a task table, and leave in any order") {
  const std::vector<TaskId> generations{id_of(0, 1), id_of(0, 2), id_of(0, 3)};
  for (const TaskId leaves : generations) {
    Table table(1);
    for (const TaskId task : generations) put(table, task);
    CHECK(size_of(table) == 3);
    CHECK(table.take(leaves)->id == leaves);
    for (const TaskId task : generations) CHECK((table.find(task) != nullptr) == (task != leaves));
    table.clear();
    CHECK(size_of(table) == 0);
  }
}

TEST_CASE("the ids that a Manager issues have indices below its number of tasks") {
  sched::ManagerOptions options;
  options.cores.push_back({.id = CoreId{0}});
  options.max_tasks = 3;
  sched::Manager manager(options);
  const auto contract = make_contract(std::chrono::seconds{1}, std::chrono::microseconds{1});
  std::vector<TaskId> admitted;
  for (std::uint64_t round = 0; round < 6; ++round) {
    const auto commands =
        manager.decide(sched::Proposed{.at = Time{}, .request = JobId{round + 1}, .peer = {}, .contract = contract});
    for (const sched::Command& command : commands)
      if (const auto* admit = std::get_if<sched::Admit>(&command)) admitted.push_back(admit->task);
    if (round < 2) continue;
    REQUIRE(admitted.size() == round + 1);
    const TaskId oldest = admitted[round - 2];
    manager.decide(sched::Departed{.at = Time{}, .task = oldest});
    manager.decide(sched::Vacated{.at = Time{}, .task = oldest, .core = CoreId{0}});
  }
  for (const TaskId task : admitted) CHECK(sched::slot_index(task) < options.max_tasks);
}
