// PoaManagerState applies the state of one POAManager to requests: they pass, wait (a bounded number of them), or are
// refused.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/core/objects/entry_counter.h"
#include "orb/dispatch/queue/fair_shares.h"
#include "orb/dispatch/queue/request_queue.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait/wait.h"

namespace corelane::core {

class PoaManagerState {
 public:
  using Submit = std::function<void(dispatch::JobPtr)>;

  // `submit` gets the jobs that waited when the POA manager stops holding. `capacity`: how many jobs may wait; no peer
  // gets more than its share of it.
  PoaManagerState(Submit submit, std::size_t capacity) : submit_(std::move(submit)), shares_(capacity) {}

  EntryCounter& entry_counter() noexcept { return entry_counter_; }

  // Keeps the job while the POA manager is holding. Returns false if the POA manager is not holding or too many jobs
  // wait; the caller then still has the job.
  bool hold(dispatch::JobPtr& job);

  // Blocks a caller of this process while the POA manager is holding. Returns false if the deadline passed first.
  bool wait_while_holding(Time deadline);

  // Returns true only once after the POA manager began to hold. Code that makes a request wait calls it, and writes to
  // the log if it is true.
  bool take_unlogged() noexcept;

  // Returns the number of jobs and callers that wait.
  std::size_t waiting();

  // Sets the new state. Returns false if the POA manager was already inactive, which it stays. If the new state is not
  // holding, jobs and callers that waited go on, to be run or refused.
  bool change(Passage passage);

 private:
  const Submit submit_;
  EntryCounter entry_counter_{Passage::holding};
  os::PiMutex mutex_;
  dispatch::JobList held_ CORELANE_GUARDED_BY(mutex_);
  dispatch::FairShares shares_ CORELANE_GUARDED_BY(mutex_);
  bool unlogged_ CORELANE_GUARDED_BY(mutex_) = true;
  std::vector<os::Parker*> waiting_ CORELANE_GUARDED_BY(mutex_);
};

}  // namespace corelane::core
