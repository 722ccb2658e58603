// PendingRequests is the list of the requests of one connection that a CancelRequest can find: those that wait, and
// those that run beside the thread which reads the connection.
// Threads: any; one mutex with priority inheritance. Bound of each function: the requests of the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

class ServerJob;

class PendingRequests {
 public:
  // `limit`: the most requests that add() accepts.
  explicit PendingRequests(std::size_t limit) : limit_(limit) { jobs_.reserve(16); }

  // Adds a request, unless it is in the list. Returns false if there are too many. std::bad_alloc.
  bool add(ServerJob& job);
  // Adds a request that runs already, whatever the limit. Returns false if there is no memory.
  bool add_running(ServerJob& job) noexcept;
  // Lets the job `by` continue the request of `job`.
  void replace(ServerJob& job, ServerJob& by) noexcept;
  // Call it when the job has ended.
  void remove(ServerJob& job) noexcept;

  // Cancels the requests with that id.
  void cancel(std::uint32_t request_id) noexcept;
  // Cancels requests that expect a reply, because the client takes no replies any more. Those that have not begun do
  // not run. Oneway requests still run.
  void give_up() noexcept;
  bool empty() const noexcept;

 private:
  const std::size_t limit_;
  mutable os::PiMutex mutex_;
  std::vector<ServerJob*> jobs_ CORELANE_GUARDED_BY(mutex_);
};

}  // namespace corelane::core
