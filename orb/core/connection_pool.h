// ConnectionPool: the client connections of one ORB to one endpoint. Each calling thread has one of them for itself, as
// long as there are no more threads than connections that the pool may have; beyond that, threads share.
//
// A thread keeps its connection as long as that is usable, so its oneways and calls stay in order. A thread that has
// sent nothing but two-way calls may change to a connection that is free when its own is busy with another's call.
//
// Threads: any; of_thread() takes no lock. Making a connection blocks, so real-time threads should not be the first to
// call a server. While the pool has no connection, one thread connects and the others wait for it, each no longer than
// its own deadline. They share its outcome, also a failure, with one exception: when the first thread ran out of its
// own time, another one goes on. Later, while further connections are being made, a thread that has to share waits for
// the one of them for which the fewest threads wait, unless a connection that is there has as few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "orb/core/client_connection.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait.h"
#include "orb/transport/transport.h"

namespace corelane::core {

// What the requests of a thread allow.
enum class CallOrder : std::uint8_t {
  free,    // a two-way call that the thread waits for
  ordered  // a oneway or an asynchronous call: what this thread sends later must not overtake it
};

class ConnectionPool final : public ConnectionOwner, public std::enable_shared_from_this<ConnectionPool> {
 public:
  using ConnectionPtr = std::shared_ptr<ClientConnection>;

  // `most`: connections, 1 or more.
  ConnectionPool(transport::Endpoint endpoint, const giop::Limits& limits, std::size_t most);
  ~ConnectionPool() override;

  const transport::Endpoint& endpoint() const noexcept { return endpoint_; }

  // The calling thread's connection; null: it has none that is usable. `now`: when the call begins.
  ConnectionPtr of_thread(Time now, CallOrder order) noexcept;
  // The same, made when need be: TRANSIENT connect_failed and whatever else connect() says, TIMEOUT deadline_passed,
  // BAD_INV_ORDER orb_destroyed.
  Expected<ConnectionPtr> acquire(transport::Transport& transport, Time deadline, CallOrder order);
  // The calling thread has sent what later requests must not overtake over a connection that is open.
  bool keeps_thread() const noexcept;
  // It has a connection that looks usable.
  bool connected() const noexcept;
  // A connection attempt was given up at its deadline, and until `now` no other one has succeeded: a silent endpoint
  // need not be asked before others for a while.
  bool silent(Time now) const noexcept;

  // The latest attempt to connect failed. A connection that breaks later does not count.
  bool failed() const noexcept;

  // Ends every wait for a connection; later calls fail. Each connection closes when it has sent what waits in its
  // backlog, or at `deadline`; gives those connections.
  std::vector<ConnectionPtr> close(Time deadline);
  std::vector<ConnectionPtr> connections() const;
  // Lets go of connections that carry nothing any more. True: it has no other one, and none is being made.
  bool tidy();
  // Threads that wait for another thread's attempt.
  std::size_t waiting() const noexcept;

  void on_broken(ClientConnection& connection, bool answered) noexcept override;

 private:
  using Lock = std::unique_lock<os::PiMutex>;
  // One thread's connect(), and the threads that wait for it. Guarded by mutex_.
  struct Attempt {
    std::optional<Expected<ConnectionPtr>> outcome{};
    std::vector<os::Parker*> waiting{};
  };
  class Connecting;

  std::vector<ConnectionPtr> take_broken();
  ConnectionPtr without_thread() const noexcept;
  ConnectionPtr least_shared() const noexcept;
  ConnectionPtr not_busy() noexcept;
  bool may_grow(Time now) const noexcept;
  std::shared_ptr<Attempt> least_awaited() const noexcept;
  bool is_worth_waiting(const Attempt& attempt) const noexcept;
  std::optional<Expected<ConnectionPtr>> join(std::shared_ptr<Attempt> attempt, Lock& lock, Time deadline);
  Expected<ConnectionPtr> connect(transport::Transport& transport, Time deadline, Lock& lock);
  void finish(Attempt& attempt, Expected<ConnectionPtr> outcome) noexcept;

  // Constant.
  const std::uint64_t id_;  // of this process, never used again
  const transport::Endpoint endpoint_;
  const giop::Limits limits_;
  const std::size_t most_;

  mutable os::PiMutex mutex_;
  // Guarded by mutex_.
  std::vector<ConnectionPtr> connections_;
  std::vector<std::shared_ptr<Attempt>> attempts_;  // one at most while there is no connection yet
  Time grows_from_{};                               // the server took no further connection: none is tried before
  Time silent_until_{};
  bool failed_ = false;
  bool closed_ = false;
};

}  // namespace corelane::core
