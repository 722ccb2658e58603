#include "orb/core/chains/task_wait.h"

#include <array>
#include <cstddef>
#include <utility>

#include "orb/base/thread_safety.h"
#include "orb/dispatch/current.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {
namespace {

// Task ids ascend, so a thousand tasks hardly ever share a list.
constexpr std::size_t lists_of_waits = 1024;

TaskId task_of_this_thread() noexcept {
  const dispatch::CurrentJob* job = dispatch::current_job();
  return job != nullptr ? job->context.task : no_task;
}

}  // namespace

struct TaskWait::AllWaits {
  static AllWaits& instance() noexcept {
    static AllWaits waits;
    return waits;
  }
  TaskWait*& of(TaskId task) noexcept CORELANE_REQUIRES(mutex) { return lists[task.value % lists_of_waits]; }
  bool leads(TaskId from, TaskId to) noexcept CORELANE_REQUIRES(mutex);
  TaskWait* with_waits_of(TaskId task, TaskWait* open) noexcept CORELANE_REQUIRES(mutex);

  os::PiMutex mutex;
  std::array<TaskWait*, lists_of_waits> lists CORELANE_GUARDED_BY(mutex){};
  std::uint64_t searches CORELANE_GUARDED_BY(mutex) = 0;
};

TaskWait::TaskWait(TaskId awaited) noexcept : task_(task_of_this_thread()), awaited_(awaited) {
  if (task_ == no_task) return;
  AllWaits& waits = AllWaits::instance();
  const os::LockGuard lock(waits.mutex);
  closes_circle_ = waits.leads(awaited_, task_);
  next_ = std::exchange(waits.of(task_), this);
}

TaskWait::~TaskWait() {
  if (task_ == no_task) return;
  AllWaits& waits = AllWaits::instance();
  const os::LockGuard lock(waits.mutex);
  TaskWait** at = &waits.of(task_);
  while (*at != this) at = &(*at)->next_;  // bound: the jobs of this list that wait
  *at = next_;
}

// Returns whether `from` waits for `to`, possibly through other tasks. Each wait is followed once.
bool TaskWait::AllWaits::leads(TaskId from, TaskId to) noexcept {
  ++searches;
  TaskWait* open = with_waits_of(from, nullptr);
  while (open != nullptr) {  // bound: the jobs that wait
    const TaskWait& wait = *std::exchange(open, open->next_open_);
    if (wait.awaited_ == to) return true;
    open = with_waits_of(wait.awaited_, open);
  }
  return false;
}

// Returns `open`, the list of waits still to be followed, with the task's waits in front. Waits that this search has
// visited are left out: all of a task's waits enter the list together.
TaskWait* TaskWait::AllWaits::with_waits_of(TaskId task, TaskWait* open) noexcept {
  for (TaskWait* wait = of(task); wait != nullptr; wait = wait->next_) {
    if (wait->task_ != task) continue;
    if (std::exchange(wait->search_, searches) == searches) break;
    wait->next_open_ = std::exchange(open, wait);
  }
  return open;
}

}  // namespace corelane::core
