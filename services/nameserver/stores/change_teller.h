// ChangeTeller: hands changes to the one who wants to know, in order, one at a time and without a lock held, whichever
// threads they come from: who finds somebody telling leaves his to him.
#pragma once

#include <deque>
#include <functional>
#include <mutex>

#include "services/nameserver/stores/tree.h"

namespace corelane::nameserver {

class ChangeTeller {
 public:
  // Once. What was queued before is not told.
  void on_change(std::function<void(const Change&)> told);

  // Thread: any, in the order of revisions.
  void queue(const Changes& changes);
  // Tells all that is queued, unless somebody does. Thread: any; no lock held.
  void tell();

 private:
  std::mutex mutex_;
  std::function<void(const Change&)> told_;  // set once, under mutex_; constant once something is queued
  std::deque<Change> queued_;                // guarded by mutex_
  bool telling_ = false;                     // guarded by mutex_
};

}  // namespace corelane::nameserver
