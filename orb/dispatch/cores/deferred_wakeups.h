// DeferredWakeups collects what has to be done after a core's lock is released, and does it in its destructor. It
// applies changed priorities of task threads, wakes the manager and task threads, and notifies the idle watch. Under
// the lock, a woken thread of higher priority would preempt the holder at once and then block on the lock. A change of
// scheduling class may wait for the kernel, and every thread that wants the lock would wait with it.
//
// The calling thread's own priority is changed last. If it were lowered first, other threads could delay the rest of
// this work for as long as they run.
//
// Threads: one. Construct it before taking the lock, so that it is destroyed after the lock is released.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "orb/dispatch/cores/idle_watch.h"
#include "orb/dispatch/cores/task_worker.h"
#include "orb/dispatch/queue/inbox.h"

namespace corelane::dispatch {

class DeferredWakeups {
 public:
  // `self`: the worker on the calling thread. It is not woken, because it looks for its next job by itself.
  explicit DeferredWakeups(TaskWorker* self = nullptr) : self_(self) {}
  DeferredWakeups(const DeferredWakeups&) = delete;
  DeferredWakeups& operator=(const DeferredWakeups&) = delete;
  ~DeferredWakeups() {
    for (std::size_t i = 0; i < unsettled_count_; ++i) unsettled_[i]->placer().settle();
    if (inbox_) inbox_->wake();
    for (std::size_t i = 0; i < count_; ++i) workers_[i]->wake();
    if (idle_watch_) idle_watch_->look();
    if (settles_self_) self_->placer().settle();
  }
  bool is_self(const TaskWorker& worker) const noexcept { return &worker == self_; }
  void settle_self() noexcept { settles_self_ = true; }
  void look_when_idle(IdleWatch* watch) noexcept { idle_watch_ = watch; }
  // Puts the note into the inbox; the destructor wakes the manager. All notes of one fact go to the same inbox.
  void note(NoteInbox& inbox, const Note& note) noexcept {
    inbox.put(note);
    inbox_ = &inbox;
  }
  // Applies the worker's priority after the lock is released. If more workers change at once than fit in the array, the
  // rest are changed at once, under the lock.
  void settle(const WorkerPtr& worker) noexcept {
    if (is_self(*worker)) return settle_self();
    const auto end = unsettled_.begin() + static_cast<std::ptrdiff_t>(unsettled_count_);
    if (std::find(unsettled_.begin(), end, worker) != end) return;
    if (unsettled_count_ == unsettled_.size()) return worker->placer().settle();
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
