#include "orb/core/task_wait.h"

#include <mutex>
#include <utility>

#include "orb/dispatch/current.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {
namespace {

struct Waits {
  os::PiMutex mutex;
  TaskWait* first = nullptr;  // guarded by mutex
};

Waits& all_waits() noexcept {
  static Waits waits;
  return waits;
}

TaskId task_of_this_thread() noexcept {
  const dispatch::CurrentJob* job = dispatch::current_job();
  return job != nullptr ? job->context.task : no_task;
}

}  // namespace

TaskWait::TaskWait(TaskId awaited) noexcept : task_(task_of_this_thread()), awaited_(awaited) {
  if (task_ == no_task) return;
  Waits& waits = all_waits();
  const std::lock_guard lock(waits.mutex);
  for (TaskWait* wait = waits.first; wait != nullptr; wait = wait->next_) wait->looked_at_ = false;
  closes_circle_ = leads(awaited_, task_);
  next_ = std::exchange(waits.first, this);
}

TaskWait::~TaskWait() {
  if (task_ == no_task) return;
  Waits& waits = all_waits();
  const std::lock_guard lock(waits.mutex);
  TaskWait** at = &waits.first;
  while (*at != this) at = &(*at)->next_;  // bound: the jobs that wait
  *at = next_;
}

// With the lock. Bound: each wait is followed once.
bool TaskWait::leads(TaskId from, TaskId to) noexcept {
  for (TaskWait* wait = all_waits().first; wait != nullptr; wait = wait->next_) {
    if (wait->task_ != from || std::exchange(wait->looked_at_, true)) continue;
    if (wait->awaited_ == to || leads(wait->awaited_, to)) return true;
  }
  return false;
}

}  // namespace corelane::core
