// TaskWait records that a job of one task waits for a job of another task of this process, and detects cycles of such
// waits. A task runs one job at a time. If two jobs in different chains of calls waited for each other, neither would
// ever continue: there is no timeout within a process. (Within one chain the first job is called back: call_chain.h.)
// The call that would close the cycle fails. A cycle that goes through other processes is not detected here;
// timeout.request ends it.
//
// Threads: made and ended by the thread that waits. One lock with priority inheritance for all waits; nothing
// allocates.
#pragma once

#include <cstdint>

#include "orb/base/ids.h"

namespace corelane::core {

class TaskWait {
 public:
  // Records that the calling thread's job, if it runs one, waits for `awaited` from now on.
  explicit TaskWait(TaskId awaited) noexcept;
  ~TaskWait();
  TaskWait(const TaskWait&) = delete;
  TaskWait& operator=(const TaskWait&) = delete;

  // Returns whether `awaited` waited for this job's task already, possibly through other tasks.
  bool closes_circle() const noexcept { return closes_circle_; }
  TaskId task() const noexcept { return task_; }

 private:
  struct AllWaits;

  // Constant.
  const TaskId task_;  // no_task: nothing is recorded
  const TaskId awaited_;
  bool closes_circle_ = false;

  // Guarded by the lock of all waits.
  TaskWait* next_ = nullptr;
  TaskWait* next_open_ = nullptr;  // in the current search
  std::uint64_t search_ = 0;       // the last search that visited this wait
};

}  // namespace corelane::core
