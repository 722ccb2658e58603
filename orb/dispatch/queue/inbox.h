// NoteInbox carries notes to the manager, other than requests. A task has vacated its core, a thread has started or
// failed to start, or a core is lost or has returned.
//
// Threads: any thread pushes, the manager drains. A priority-inheriting lock is held to move one note, or for a swap.
// Bounded: a note is about a task or an admission, of which there are at most max_tasks, or about a core. The loss and
// the return of a core are each noted once. The memory for all notes is reserved at start.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "orb/base/error.h"
#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait/wait.h"
#include "orb/sched/facts.h"

namespace corelane::dispatch {

struct ThreadStarted {
  TaskId task;
  bool real_time;
};

struct ThreadFailed {
  TaskId task;
  Error error;
};

using Note = std::variant<sched::Vacated, ThreadStarted, ThreadFailed, sched::CoreLost, sched::CoreReturned>;

class NoteInbox {
 public:
  static constexpr std::size_t max_cores = 1024;

  // `manager` wakes the manager thread.
  NoteInbox(std::size_t max_tasks, os::Parker& manager) : room_(4 * max_tasks + 2 * max_cores), manager_(manager) {
    notes_.reserve(room_);
  }
  std::size_t room() const noexcept { return room_; }

  // Any thread.
  void push(const Note& note) noexcept {
    put(note);
    wake();
  }
  // Pushes in two steps, for a caller that holds a lock that the manager may want: put() under the lock, wake() after
  // it.
  void put(const Note& note) noexcept {
    const os::LockGuard lock(mutex_);
    notes_.push_back(note);  // within what was reserved
  }
  void wake() noexcept { manager_.unpark(); }

  // Exchanges the notes for an empty vector with the same room. With the manager's lock.
  void drain(std::vector<Note>& into) noexcept {
    const os::LockGuard lock(mutex_);
    std::swap(notes_, into);
  }

 private:
  const std::size_t room_;
  os::Parker& manager_;
  os::PiMutex mutex_;
  std::vector<Note> notes_ CORELANE_GUARDED_BY(mutex_);
};

}  // namespace corelane::dispatch
