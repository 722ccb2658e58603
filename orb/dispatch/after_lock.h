// AfterLock: what follows from a fact of a core and is done once the core's lock is released: workers whose threads are
// to run otherwise, workers to wake, the manager, and who watches for an idle core. A woken thread of higher priority
// would pre-empt the holder at once and run into the lock; and a change of class may wait for the kernel, while whoever
// wants the lock waits, too. What lowers this thread itself comes last: below others it would owe them all the rest for
// as long as they run.
//
// Threads: one; made before the lock is taken.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "orb/dispatch/idle_watch.h"
#include "orb/dispatch/inbox.h"
#include "orb/dispatch/task_worker.h"

namespace corelane::dispatch {

class AfterLock {
 public:
  // `self`: whose thread this is; it looks again by itself.
  explicit AfterLock(TaskWorker* self = nullptr) : self_(self) {}
  AfterLock(const AfterLock&) = delete;
  AfterLock& operator=(const AfterLock&) = delete;
  ~AfterLock() {
    for (std::size_t i = 0; i < unsettled_count_; ++i) unsettled_[i]->settle();
    if (inbox_) inbox_->wake();
    for (std::size_t i = 0; i < count_; ++i) workers_[i]->wake();
    if (idle_watch_) idle_watch_->look();
    if (settles_self_) self_->settle();
  }
  bool is_self(const TaskWorker& worker) const noexcept { return &worker == self_; }
  void settle_self() noexcept { settles_self_ = true; }
  void look_when_idle(IdleWatch* watch) noexcept { idle_watch_ = watch; }
  // All notes of one fact are for the same inbox.
  void note(NoteInbox& inbox, const Note& note) noexcept {
    inbox.put(note);
    inbox_ = &inbox;
  }
  // Where so many suspensions are found to be too long, or so many jobs have their levels again, at once that there is
  // no room, the thread is changed at once.
  void settle(const WorkerPtr& worker) noexcept {
    if (is_self(*worker)) return settle_self();
    const auto end = unsettled_.begin() + static_cast<std::ptrdiff_t>(unsettled_count_);
    if (std::find(unsettled_.begin(), end, worker) != end) return;
    if (unsettled_count_ == unsettled_.size()) return worker->settle();
    unsettled_[unsettled_count_++] = worker;
  }
  void add(const WorkerPtr& worker) noexcept {
    if (worker.get() == self_) return;
    if (count_ == workers_.size()) return worker->wake();
    workers_[count_++] = worker;
  }

 private:
  TaskWorker* const self_;
  bool settles_self_ = false;
  NoteInbox* inbox_ = nullptr;
  IdleWatch* idle_watch_ = nullptr;
  std::array<WorkerPtr, 16> unsettled_;
  std::size_t unsettled_count_ = 0;
  std::array<WorkerPtr, 16> workers_;
  std::size_t count_ = 0;
};

}  // namespace corelane::dispatch
