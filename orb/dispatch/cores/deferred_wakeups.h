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
#include <cstddef>
#include <memory>
#include <span>

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
    for (const WorkerPtr& worker : unsettled_.all()) worker->placer().settle();
    if (inbox_) inbox_->wake();
    for (const WorkerPtr& worker : to_wake_.all()) worker->wake();
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
    const auto known = unsettled_.all();
    if (std::find(known.begin(), known.end(), worker) != known.end()) return;
    if (!unsettled_.add(worker)) worker->placer().settle();
  }
  void add(const WorkerPtr& worker) noexcept {
    if (worker.get() == self_) return;
    if (!to_wake_.add(worker)) worker->wake();
  }

 private:
  // A few workers. It constructs only those that it holds: most jobs concern one worker or none, and each of them makes
  // three of these objects.
  class Workers {
   public:
    Workers() noexcept = default;
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    ~Workers() { std::destroy_n(first(), count_); }
    // False: there is no room.
    bool add(const WorkerPtr& worker) noexcept {
      if (count_ == most) return false;
      std::construct_at(first() + count_++, worker);
      return true;
    }
    std::span<const WorkerPtr> all() const noexcept { return {first(), count_}; }

   private:
    static constexpr std::size_t most = 16;
    WorkerPtr* first() noexcept { return reinterpret_cast<WorkerPtr*>(places_); }
    const WorkerPtr* first() const noexcept { return reinterpret_cast<const WorkerPtr*>(places_); }

    alignas(WorkerPtr) std::byte places_[most * sizeof(WorkerPtr)];
    std::size_t count_ = 0;
  };

  TaskWorker* const self_;
  bool settles_self_ = false;
  NoteInbox* inbox_ = nullptr;
  IdleWatch* idle_watch_ = nullptr;
  Workers unsettled_;
  Workers to_wake_;
};

}  // namespace corelane::dispatch
