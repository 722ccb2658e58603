// ChangeNotifier passes changes to one callback, in order, one at a time and without a lock held. The changes may come
// from several threads. If one thread is calling the callback, other threads leave their changes to it.
#pragma once

#include <deque>
#include <functional>

#include "orb/base/thread_safety.h"
#include "orb/os/mutex.h"
#include "orb/os/wait/condition_variable.h"
#include "services/nameserver/stores/tree/tree.h"

namespace corelane::nameserver {

class ChangeNotifier {
 public:
  // Sets the callback. Discards the changes that are queued, and waits until the old callback does not run any more. An
  // empty function removes the callback. Must not be called from within the callback.
  void on_change(std::function<void(const Change&)> callback);

  // Thread: any, in the order of revisions.
  void queue(const Changes& changes);
  // Passes all queued changes to the callback, unless another thread does so. Thread: any; no lock held.
  void notify();

 private:
  void notify_one(const Change& change) noexcept;

  os::Mutex mutex_;
  os::ConditionVariable notified_all_;
  // Written under mutex_ while no thread calls it; the calling thread reads it.
  std::function<void(const Change&)> callback_;
  std::deque<Change> queued_ CORELANE_GUARDED_BY(mutex_);
  bool notifying_ CORELANE_GUARDED_BY(mutex_) = false;
  bool leaving_ CORELANE_GUARDED_BY(mutex_) = false;  // callback_ is about to change, so nothing is queued
};

}  // namespace corelane::nameserver
