// ConnectionPool holds the client connections of one ORB to one endpoint. Each calling thread has a connection for
// itself while there are enough. If there are more threads than connections that the pool may have, threads share.
//
// A thread keeps its connection while that is usable, so its oneways and calls stay in order. A thread that has sent
// only two-way calls may change to a free connection if its own is busy with another thread's call.
//
// Threads: any. of_thread() takes a lock only to look for a free connection. Making a connection blocks, so a real-time
// thread should not be the first to call a server. While the pool has no connection, one thread connects and the others
// wait for it, each no longer than its own deadline. They share its outcome, also a failure. Exception: if the first
// thread ran out of its own time, another thread tries. Later, while further
// connections are being made, a thread that has to share waits for the attempt for which the fewest threads wait,
// unless a connection with as few threads is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/core/connections/client_connection.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/transport.h"

namespace corelane::core {

// CallOrder says whether later requests of the thread may overtake this one.
enum class CallOrder : std::uint8_t {
  free,    // a two-way call that the thread waits for
  ordered  // a oneway or an asynchronous call: what this thread sends later must not overtake it
};

class ConnectionPool final : public ConnectionOwner, public std::enable_shared_from_this<ConnectionPool> {
 public:
  using ConnectionPtr = std::shared_ptr<ClientConnection>;

  // `most`: the most connections that the pool may have, at least 1.
  ConnectionPool(transport::Endpoint endpoint, const giop::Limits& limits, std::size_t most);
  ~ConnectionPool() override;

  const transport::Endpoint& endpoint() const noexcept { return endpoint_; }

  // Returns the calling thread's connection; null if it has none that is usable. `now`: when the call begins.
  ConnectionPtr of_thread(Time now, CallOrder order) noexcept;
  // Returns the calling thread's connection, and makes one if necessary. Errors: TRANSIENT connect_failed, other errors
  // of connect(), TIMEOUT deadline_passed, BAD_INV_ORDER orb_destroyed.
  Expected<ConnectionPtr> acquire(transport::Transport& transport, Time deadline, CallOrder order);
  // Returns whether the calling thread has an open connection of this pool over which it sent something that its later
  // requests must not overtake.
  bool keeps_thread() const noexcept;
  // Returns whether it has a connection that looks usable.
  bool connected() const noexcept;
  // Returns whether an attempt to connect recently ended at its deadline, and none has succeeded since. Such an
  // endpoint is tried after others for a while.
  bool silent(Time now) const noexcept;

  // Returns whether the latest attempt to connect failed. A connection that breaks later does not count.
  bool failed() const noexcept;

  // Ends all waits for a connection; later calls fail. Each connection closes when it has sent its backlog, or at
  // `deadline`. Returns these connections.
  std::vector<ConnectionPtr> close(Time deadline);
  std::vector<ConnectionPtr> connections() const;
  // Releases connections that carry nothing any more. Returns true if none is left and none is being made.
  bool tidy();
  // Returns the number of threads that wait for another thread's attempt.
  std::size_t waiting() const noexcept;

  void on_broken(ClientConnection& connection, bool answered) noexcept override;

 private:
  // Attempt is one thread's connect(), and the threads that wait for it. Guarded by mutex_.
  struct Attempt {
    std::optional<Expected<ConnectionPtr>> outcome{};
    std::vector<os::Parker*> waiting{};
  };
  class Connecting;

  std::vector<ConnectionPtr> take_broken() CORELANE_REQUIRES(mutex_);
  ConnectionPtr without_thread() const noexcept CORELANE_REQUIRES(mutex_);
  ConnectionPtr least_shared() const noexcept CORELANE_REQUIRES(mutex_);
  ConnectionPtr not_busy() noexcept;
  bool may_grow(Time now) const noexcept CORELANE_REQUIRES(mutex_);
  std::shared_ptr<Attempt> least_awaited() const noexcept CORELANE_REQUIRES(mutex_);
  bool is_worth_waiting(const Attempt& attempt) const noexcept CORELANE_REQUIRES(mutex_);
  std::optional<Expected<ConnectionPtr>> join(std::shared_ptr<Attempt> attempt, Time deadline)
      CORELANE_REQUIRES(mutex_);
  Expected<ConnectionPtr> connect(transport::Transport& transport, Time deadline, Connecting& attempt);
  void finish(Attempt& attempt, Expected<ConnectionPtr> outcome) noexcept CORELANE_REQUIRES(mutex_);

  // Constant.
  const std::uint64_t id_;  // unique in this process, never reused
  const transport::Endpoint endpoint_;
  const giop::Limits limits_;
  const std::size_t most_;

  mutable os::PiMutex mutex_;
  std::vector<ConnectionPtr> connections_ CORELANE_GUARDED_BY(mutex_);
  // At most one while there is no connection yet.
  std::vector<std::shared_ptr<Attempt>> attempts_ CORELANE_GUARDED_BY(mutex_);
  // No further connection is tried before, as the server refused one.
  Time grows_from_ CORELANE_GUARDED_BY(mutex_){};
  Time silent_until_ CORELANE_GUARDED_BY(mutex_){};
  bool failed_ CORELANE_GUARDED_BY(mutex_) = false;
  bool closed_ CORELANE_GUARDED_BY(mutex_) = false;
};

}  // namespace corelane::core
