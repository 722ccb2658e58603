// RemoteCallbackWait lets requests that come back from another process run on the thread that waits for that process's
// reply.
//
// How it works:
// - A thread that serves a request, in a task's job or without a contract, chooses a random number before it waits for
//   a call to another process.
// - The call carries this number (service context 0x434C4E03). So does each request that is made on behalf of that
//   call, in any process.
// - A request that comes back with the number runs on the waiting thread, as a part of what that thread serves. It must
//   be for the task that waits, or without a contract.
//
// So nested call-backs need no further threads, however deep they are. Chains within the process are in call_chain.h.
//
// Only requests of the server that the thread's job called, or on behalf of that call, may run on the thread, and only
// while it waits:
// - The number is random, has 64 bits, and is new for each call. (A call that did not run keeps it when it is sent
//   again.) It has no effect when no thread waits.
// - Which task the request may name was checked before, as for any request (TaskOwnership).
// - One call-back runs at a time. Further ones for the task wait here for their turn. In the task's queue they would
//   wait for the job that waits for them. Further ones without a contract are treated as requests outside the chain,
//   and cost the job no time.
//
// Threads: the thread that waits makes, serves and ends a wait; offer() any. Nothing here allocates.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "orb/base/ids.h"
#include "orb/core/chains/call_chain.h"
#include "orb/core/connections/client_connection.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/queue/request_queue.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/os/wait/doorbell.h"

namespace corelane::core {

// Sets `waits` to the chain in which a request of the calling thread is nested, whether the thread waits for the reply
// or not.
void inherit_chain(giop::ChainContext& waits) noexcept;

// Adds the number of a wait for the reply to `waits`, and returns it. Returns 0 if call-backs into this thread are not
// possible: it serves no request, or the system provides no random number or no descriptor. Raises IMP_LIMIT beyond
// ChainContext::most.
std::uint64_t extend_chain(giop::ChainContext& waits);

class RemoteCallbackWait final : public Interruption {
 public:
  // Makes the wait known to offer(). `number` is that of extend_chain(), not 0. `reply` is the reply for which this
  // thread waits.
  RemoteCallbackWait(std::uint64_t number, PendingReply& reply) noexcept;
  ~RemoteCallbackWait();
  RemoteCallbackWait(const RemoteCallbackWait&) = delete;
  RemoteCallbackWait& operator=(const RemoteCallbackWait&) = delete;

  // Runs the call-backs that have arrived. The destructor does so, too.
  void serve() noexcept;

  // Offers a request that is nested in these waits. The innermost wait of this process that accepts it takes the job.
  // Returns false if none does; the job then stays with the caller. A wait accepts:
  // - jobs of its own task
  // - jobs of a task that waits for the local call which the waiting thread serves
  // - a job without a contract (no_task), if the wait has no call-back then
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

  // Constant.
  const std::uint64_t number_;
  const TaskId task_;          // the task whose job waits; no_task: a request without a contract waits
  ChainedCall* const serves_;  // the local call that this thread serves, or null
  PendingReply& reply_;
  os::Doorbell& bell_;  // of the waiting thread

  // Guarded by the mutex of the bucket.
  RemoteCallbackWait* next_ = nullptr;
  dispatch::JobList posted_;
  bool linked_ = true;
  bool busy_ = false;  // a call-back runs and was not answered yet

  std::atomic<bool> called_{false};  // posted_ is not empty
};

}  // namespace corelane::core
