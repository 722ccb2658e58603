// Departures collects requests to end tasks. It knows the existing tasks and their owners, so it ignores useless
// requests at once. A request is useless if it repeats an earlier one, or names another peer's task or a task that has
// left. So such requests cost neither memory nor a step of the manager, however many a client sends.
//
// Threads: ask() any; the rest manager only. A fixed table under a priority-inheriting lock. Bound: max_tasks places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

class Departures {
 public:
  explicit Departures(std::size_t max_tasks) : places_(max_tasks) {}

  void know(TaskId task, PeerId owner) noexcept {
    const os::LockGuard lock(mutex_);
    if (Place* place = find(no_task)) *place = {.task = task, .owner = owner};
  }
  void forget(TaskId task) noexcept {
    const os::LockGuard lock(mutex_);
    Place* place = find(task);
    if (!place) return;
    if (place->asked) --asked_;
    *place = {};
  }
  // Asks the task to leave. Returns whether this gives the manager new work. `owner`, unless 0, must be the task's.
  // `by_operator`: its client is told that an operator ended it.
  bool ask(TaskId task, PeerId owner, bool by_operator = false) noexcept {
    const os::LockGuard lock(mutex_);
    Place* place = task == no_task ? nullptr : find(task);
    if (!place || place->asked || (owner != PeerId{} && owner != place->owner)) return false;
    place->asked = true;
    place->by_operator = by_operator;
    ++asked_;
    return true;
  }
  // Asks every task of the owner to leave.
  void ask_all(PeerId owner) noexcept {
    const os::LockGuard lock(mutex_);
    for (Place& place : places_) {
      if (place.task == no_task || place.owner != owner || place.asked) continue;
      place.asked = true;
      ++asked_;
    }
  }
  // Returns a task that was asked to leave, each once; no_task: none.
  TaskId next(bool* by_operator = nullptr) noexcept {
    const os::LockGuard lock(mutex_);
    if (asked_ == 0) return no_task;
    const auto place = std::find_if(places_.begin(), places_.end(), [](const Place& p) { return p.asked; });
    --asked_;
    const TaskId task = place->task;
    if (by_operator) *by_operator = place->by_operator;
    *place = {};
    return task;
  }

 private:
  struct Place {
    TaskId task = no_task;
    PeerId owner{};
    bool asked = false;
    bool by_operator = false;
  };
  Place* find(TaskId task) noexcept CORELANE_REQUIRES(mutex_) {
    const auto at = std::find_if(places_.begin(), places_.end(), [&](const Place& p) { return p.task == task; });
    return at == places_.end() ? nullptr : &*at;
  }

  os::PiMutex mutex_;
  std::vector<Place> places_ CORELANE_GUARDED_BY(mutex_);
  std::size_t asked_ CORELANE_GUARDED_BY(mutex_) = 0;  // tasks that were asked to leave
};

}  // namespace corelane::dispatch
