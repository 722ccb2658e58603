// Chains across processes. Who serves a request, in a task's job or without a contract, and waits for a call to another
// process has a number for this wait, which his request carries (service context 0x434C4E03), as does every request
// that is made on behalf of that one, wherever. One that comes back with it, for the task that waits or without a
// contract, runs on the thread that waits, as a part of what that serves; so call-backs one within the other need no
// further threads, however deep. Chains within the process are call_chain.h.
//
// Who may get onto a thread: only he whom its job called, or who was called on behalf of that call, and only while it
// waits. The number is random, of 64 bits, new for each call (and kept where a call that did not run is sent again),
// and worth nothing while nobody waits; what task the request may name is checked before, as ever (PeerTasks). One
// call-back at a time: others for the task take their turn, since behind the job that waits they would wait for
// themselves; others without a contract are of no chain, and cost the job no time.
//
// Threads: a wait is made, served and ended by the thread that waits; offer() any. Nothing here allocates.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "orb/base/ids.h"
#include "orb/core/call_chain.h"
#include "orb/core/client_connection.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/request_queue.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/os/doorbell.h"

namespace corelane::core {

// Leaves in `waits` what a request of the calling thread is nested in, whether that waits for the reply or not.
void inherit_chain(giop::ChainContext& waits) noexcept;

// Adds the number of a wait for the reply, and gives it; 0: nobody can call back into that, since the thread serves no
// request or the system has no random number or no descriptor to give. Raises IMP_LIMIT beyond ChainContext::most.
std::uint64_t extend_chain(giop::ChainContext& waits);

class WireWait final : public Interruption {
 public:
  // From here on call-backs find it. `number`: of extend_chain(), not 0. `reply`: for which this thread waits.
  WireWait(std::uint64_t number, PendingReply& reply) noexcept;
  ~WireWait();
  WireWait(const WireWait&) = delete;
  WireWait& operator=(const WireWait&) = delete;

  // Runs what has called back; the destructor does so, too.
  void serve() noexcept;

  // A request that is nested in these waits: the innermost that is of this process, and of the task (no_task: of
  // whichever that has no call-back now), gets it. False: there is none; the job stays with the caller.
  static bool offer(std::span<const std::uint64_t> waits, dispatch::JobPtr& job) noexcept;

  bool is_called() const noexcept override;
  os::Doorbell& bell() noexcept override { return bell_; }

 private:
  struct Bucket;
  class RequestBack;
  static Bucket& bucket_of(std::uint64_t number) noexcept;
  bool accepts(TaskId task) const noexcept;
  bool take(dispatch::JobPtr& job) noexcept;
  dispatch::JobPtr next(bool over) noexcept;
  void run(dispatch::JobPtr job) noexcept;
  void await_next() noexcept;
  void unlink() noexcept;

  // Constant.
  const std::uint64_t number_;
  const TaskId task_;          // whose job waits; no_task: a request without a contract does
  ChainedCall* const serves_;  // for which local call it does what it does
  PendingReply& reply_;
  os::Doorbell& bell_;  // the thread's

  // Guarded by the mutex of the bucket.
  WireWait* next_ = nullptr;
  dispatch::JobList posted_;
  bool linked_ = true;
  bool busy_ = false;  // a call-back runs, and has not been answered

  std::atomic<bool> called_{false};  // posted_ holds some
};

}  // namespace corelane::core
