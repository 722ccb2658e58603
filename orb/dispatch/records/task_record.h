// TaskRecord is what the manager keeps of one admitted task, from its admission until its thread has ended.
//
// Threads: the holder of the manager's lock.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "orb/base/ids.h"
#include "orb/dispatch/cores/housekeeper.h"
#include "orb/dispatch/cores/task_worker.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/queue/request_queue.h"
#include "orb/dispatch/records/counter_publisher.h"
#include "orb/sched/refusal.h"

namespace corelane::dispatch {

struct TaskRecord {
  TaskId task() const noexcept { return report.task; }

  TaskReport report;  // without the worker's numbers, label and misses: copying it allocates nothing
  std::shared_ptr<const std::string> label;
  WorkerPtr worker;
  CounterPublisher::RowPtr row;  // null: nothing is published
  bool started = false;          // its thread runs
  bool leaving = false;
  std::unique_ptr<AdmissionHandler> handler;  // until its thread runs
  JobList first_jobs;                         // placed before the thread ran
  Housekeeper::Orders orders;
  std::optional<sched::Refusal> why{};  // set: why it has to leave
  std::shared_ptr<TaskReport> last;     // its entry in the report after it left, with room for label and misses
  std::unique_ptr<TaskRecord> next;     // see TaskTable
};

}  // namespace corelane::dispatch
