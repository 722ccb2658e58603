// Departures: the door through which tasks are asked to leave. It knows the tasks that are there and their owners, so
// that asking twice, for a stranger's task, or for one that has left costs neither memory nor a step of the manager,
// however often a client does it.
//
// Threads: ask() any; the rest manager only. A fixed table under a priority-inheriting lock. Bound: max_tasks places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

#include "orb/base/ids.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

class Departures {
 public:
  explicit Departures(std::size_t max_tasks) : places_(max_tasks) {}

  void know(TaskId task, PeerId owner) noexcept {
    const std::lock_guard lock(mutex_);
    if (Place* place = find(no_task)) *place = {.task = task, .owner = owner};
  }
  void forget(TaskId task) noexcept {
    const std::lock_guard lock(mutex_);
    Place* place = find(task);
    if (!place) return;
    if (place->asked) --asked_;
    *place = {};
  }
  // Whether the manager has something new to do. `owner` other than 0 must be the task's. `by_operator`: its client is
  // to be told so.
  bool ask(TaskId task, PeerId owner, bool by_operator = false) noexcept {
    const std::lock_guard lock(mutex_);
    Place* place = task == no_task ? nullptr : find(task);
    if (!place || place->asked || (owner != PeerId{} && owner != place->owner)) return false;
    place->asked = true;
    place->by_operator = by_operator;
    ++asked_;
    return true;
  }
  // Every task of the owner.
  void ask_all(PeerId owner) noexcept {
    const std::lock_guard lock(mutex_);
    for (Place& place : places_) {
      if (place.task == no_task || place.owner != owner || place.asked) continue;
      place.asked = true;
      ++asked_;
    }
  }
  // A task that was asked to leave, once; no_task: none.
  TaskId next(bool* by_operator = nullptr) noexcept {
    const std::lock_guard lock(mutex_);
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
  Place* find(TaskId task) noexcept {
    const auto at = std::find_if(places_.begin(), places_.end(), [&](const Place& p) { return p.task == task; });
    return at == places_.end() ? nullptr : &*at;
  }

  os::PiMutex mutex_;
  std::vector<Place> places_;  // guarded by mutex_
  std::size_t asked_ = 0;      // guarded by mutex_: places that are asked
};

}  // namespace corelane::dispatch
