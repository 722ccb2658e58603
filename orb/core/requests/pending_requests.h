// PendingRequests is the list of the requests of one connection that a CancelRequest can find: those that wait, and
// those that run beside the thread which reads the connection. PendingRequest is one request as its client knows it.
// Threads: any; one mutex with priority inheritance. Bound of each function: the requests of the connection.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/core/requests/reply_to.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

// PendingRequest says where the reply to a request goes, and whether the client still wants the request to run. One
// object serves one request after the other. Thread: the one that has the request, except for cancel().
class PendingRequest {
 public:
  // Begins with the next request. Call it while the request is in no list.
  void begin(const ReplyTo& to) noexcept {
    to_ = to;
    cancelled_.store(false, std::memory_order_relaxed);  // relaxed: published with the job
  }
  const ReplyTo& to() const noexcept { return to_; }
  // Cancels the request, because the client has cancelled it or is gone. If it has not begun it does not run. It sends
  // no reply. Thread: any.
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }  // relaxed: a hint, nothing follows
  bool is_cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }  // relaxed: as in cancel()
  // Returns whether the request is in the list of its connection. Call it when no other thread can find the request.
  bool is_listed() const noexcept { return listed_; }

 private:
  friend class PendingRequests;

  ReplyTo to_;
  std::atomic<bool> cancelled_{false};
  bool listed_ = false;  // changes under the mutex of the list
};

class PendingRequests {
 public:
  // `limit`: the most requests that add() accepts.
  explicit PendingRequests(std::size_t limit) : limit_(limit) { requests_.reserve(16); }

  // Adds a request, unless it is in the list. It must stay until remove(). Returns false if there are too many.
  // std::bad_alloc.
  bool add(PendingRequest& request);
  // Adds a request that runs already, whatever the limit. Returns false if there is no memory.
  bool add_running(PendingRequest& request) noexcept;
  // Lets `by` continue the request: it takes its place in the list, and is cancelled if the request was.
  void replace(PendingRequest& request, PendingRequest& by) noexcept;
  // Call it when the request has ended.
  void remove(PendingRequest& request) noexcept;

  // Cancels the requests with that id.
  void cancel(std::uint32_t request_id) noexcept;
  // Cancels requests that expect a reply, because the client takes no replies any more. Those that have not begun do
  // not run. Oneway requests still run.
  void give_up() noexcept;
  bool empty() const noexcept;

 private:
  const std::size_t limit_;
  mutable os::PiMutex mutex_;
  std::vector<PendingRequest*> requests_ CORELANE_GUARDED_BY(mutex_);
};

}  // namespace corelane::core
