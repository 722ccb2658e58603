#include "orb/core/chains/task_wait.h"

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

#include "orb/dispatch/current.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {
namespace {

// Task ids ascend, so a thousand tasks hardly ever share a list.
constexpr std::size_t lists_of_waits = 1024;

struct Waits {
  os::PiMutex mutex;
  // Guarded by mutex.
  std::array<TaskWait*, lists_of_waits> lists{};
  std::uint64_t searches = 0;

  TaskWait*& of(TaskId task) noexcept { return lists[task.value % lists_of_waits]; }
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
  closes_circle_ = leads(awaited_, task_);
  next_ = std::exchange(waits.of(task_), this);
}

TaskWait::~TaskWait() {
  if (task_ == no_task) return;
  Waits& waits = all_waits();
  const std::lock_guard lock(waits.mutex);
  TaskWait** at = &waits.of(task_);
  while (*at != this) at = &(*at)->next_;  // bound: the jobs of this list that wait
  *at = next_;
}

// Returns whether `from` waits for `to`, possibly through other tasks. The caller holds the lock. Each wait is followed
// once.
bool TaskWait::leads(TaskId from, TaskId to) noexcept {
  ++all_waits().searches;
  TaskWait* open = with_waits_of(from, nullptr);
  while (open != nullptr) {  // bound: the jobs that wait
    const TaskWait& wait = *std::exchange(open, open->next_open_);
    if (wait.awaited_ == to) return true;
    open = with_waits_of(wait.awaited_, open);
  }
  return false;
}

// Returns `open`, the list of waits still to be followed, with the task's waits in front. The caller holds the lock.
// Waits that this search has visited are left out: all of a task's waits enter the list together.
TaskWait* TaskWait::with_waits_of(TaskId task, TaskWait* open) noexcept {
  Waits& waits = all_waits();
  for (TaskWait* wait = waits.of(task); wait != nullptr; wait = wait->next_) {
    if (wait->task_ != task) continue;
    if (std::exchange(wait->search_, waits.searches) == waits.searches) break;
    wait->next_open_ = std::exchange(open, wait);
  }
  return open;
}

}  // namespace corelane::core
