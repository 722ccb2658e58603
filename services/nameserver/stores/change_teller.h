// ChangeTeller: hands changes to the one who wants to know, in order, one at a time and without a lock held, whichever
// threads they come from: a thread that finds another one telling leaves its change to that thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "services/nameserver/stores/tree.h"

namespace corelane::nameserver {

class ChangeTeller {
 public:
  // What was queued before is not told, and the one told until now is not called any more once this has returned.
  // Empty: nobody. Not from within a call of `told`.
  void on_change(std::function<void(const Change&)> told);

  // Thread: any, in the order of revisions.
  void queue(const Changes& changes);
  // Tells all that is queued, unless somebody does. Thread: any; no lock held.
  void tell();

 private:
  void tell_one(const Change& change) noexcept;

  std::mutex mutex_;
  std::condition_variable told_all_;
  std::function<void(const Change&)> told_;  // written under mutex_ while nobody tells; he who tells reads it
  std::deque<Change> queued_;                // guarded by mutex_
  bool telling_ = false;                     // guarded by mutex_
  bool leaving_ = false;                     // guarded by mutex_; told_ is about to change: nothing is queued
};

}  // namespace corelane::nameserver
