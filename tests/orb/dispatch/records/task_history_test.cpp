#include "orb/dispatch/records/task_history.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

using namespace corelane;
using namespace corelane::dispatch;

namespace {

std::shared_ptr<const TaskReport> report_of(std::uint64_t task, std::uint64_t refused = 0) {
  auto report = std::make_shared<TaskReport>();
  report->task = TaskId{task};
  report->refused = refused;
  return report;
}

}  // namespace

TEST_CASE("the latest tasks that left are remembered, the oldest first, and all of their refused jobs count") {
  TaskHistory history;
  const std::uint64_t all = TaskHistory::remembered + 2;
  for (std::uint64_t task = 1; task <= all; ++task) history.add(report_of(task, 3));
  std::vector<TaskId> seen;
  history.for_each([&](const auto& report) { seen.push_back(report->task); });
  REQUIRE(seen.size() == TaskHistory::remembered);
  CHECK(seen.front() == TaskId{3});
  CHECK(seen.back() == TaskId{all});
  CHECK(history.refused() == 3 * all);
}

TEST_CASE("a job is refused with the reason why its task ended, if that is remembered") {
  TaskHistory history;
  const sched::Refusal otherwise{.code = sched::RefusalCode::unknown_task};
  CHECK(history.reason_for(TaskId{1}, otherwise).code == sched::RefusalCode::unknown_task);
  history.note_end(TaskId{1}, sched::RefusalCode::unused);
  CHECK(history.reason_for(TaskId{1}, otherwise).code == sched::RefusalCode::unused);
  CHECK(history.reason_for(TaskId{2}, otherwise).code == sched::RefusalCode::unknown_task);
  for (std::uint64_t task = 2; task < 2 + TaskHistory::remembered; ++task)
    history.note_end(TaskId{task}, sched::RefusalCode::core_lost);
  CHECK(history.reason_for(TaskId{1}, otherwise).code == sched::RefusalCode::unknown_task);
}
