// Gate: the state of one POAManager, as requests meet it: pass, wait (boundedly), or be turned away.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "orb/base/time.h"
#include "orb/core/turnstile.h"
#include "orb/dispatch/fair_shares.h"
#include "orb/dispatch/request_queue.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait.h"

namespace corelane::core {

class Gate {
 public:
  using Submit = std::function<void(dispatch::JobPtr)>;

  // submit: what becomes of jobs that waited, when the gate opens or closes for good. capacity: how many may wait, of
  // which no peer gets more than its share.
  Gate(Submit submit, std::size_t capacity) : submit_(std::move(submit)), shares_(capacity) {}

  Turnstile& turnstile() noexcept { return turnstile_; }

  // Keeps the job while the gate is holding. False when it is not (any more), or too many wait: the job stays.
  bool hold(dispatch::JobPtr& job);

  // For a caller of this process: waits until the gate does not hold any more. False: the deadline passed first.
  bool wait_while_holding(Time deadline);

  // Whether nobody asked yet since the gate began to hold: whoever makes somebody wait here asks, and tells the log.
  bool is_untold() noexcept;

  // Jobs and callers that wait.
  std::size_t waiting();

  // The new rule. False when the gate was inactive already, which it stays. Jobs and callers that waited go on, to be
  // run or refused.
  bool change(Passage passage);

 private:
  const Submit submit_;
  Turnstile turnstile_{Passage::holding};
  os::PiMutex mutex_;
  // Guarded by mutex_.
  dispatch::JobList held_;
  dispatch::FairShares shares_;
  bool untold_ = true;
  std::vector<os::Parker*> waiting_;
};

}  // namespace corelane::core
