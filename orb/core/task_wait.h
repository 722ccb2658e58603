// TaskWait: a job of one task waits for a job of another task of this process. A task runs one job at a time, so where
// that other one waits for the first in its turn, in another chain of calls, neither would ever go on, and there is no
// time-out within a process. (Within one chain it is called back: call_chain.h.) Whoever would close such a circle is
// told. A circle that goes through other processes is not seen here; timeout.request ends it.
//
// Threads: made and ended by the thread that waits. One priority-inheriting lock for all; nothing allocates.
#pragma once

#include <cstdint>

#include "orb/base/ids.h"

namespace corelane::core {

class TaskWait {
 public:
  // The job of the calling thread, if it runs one, waits for `awaited` from now on.
  explicit TaskWait(TaskId awaited) noexcept;
  ~TaskWait();
  TaskWait(const TaskWait&) = delete;
  TaskWait& operator=(const TaskWait&) = delete;

  // `awaited` waited for this job's task already, perhaps by way of others.
  bool closes_circle() const noexcept { return closes_circle_; }
  TaskId task() const noexcept { return task_; }

 private:
  static bool leads(TaskId from, TaskId to) noexcept;
  static TaskWait* with_waits_of(TaskId task, TaskWait* open) noexcept;

  // Constant.
  const TaskId task_;  // no_task: nothing is noted
  const TaskId awaited_;
  bool closes_circle_ = false;

  // Guarded by the lock of all waits.
  TaskWait* next_ = nullptr;
  TaskWait* next_open_ = nullptr;  // in the search that is under way
  std::uint64_t search_ = 0;       // the last one that came here
};

}  // namespace corelane::core
