// Transport: makes connections, by calling and by being called: TcpTransport, UnixTransport, ChannelTransport, and
// SocketTransport, which takes an endpoint of any kind.
// Threads: any. Lifetime: a transport uses its reactor, which outlives it; connections may outlive both.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/transport/connect_stop.h"
#include "orb/transport/connection.h"
#include "orb/transport/endpoint.h"
#include "orb/transport/memory_budget.h"

namespace corelane::transport {

// Bounds on what peers may take. They hold for each transport object. Where one on connections is reached, the one that
// was quiet for longest makes room for a newcomer, of those whose watcher says that they are idle; so it does where the
// process has no file descriptor left.
struct ConnectionLimits {
  std::size_t connections = 1024;          // accepted and alive, in total
  std::size_t connections_per_peer = 256;  // accepted and alive from one address, or from one user of this host
  // Bytes not yet taken by the socket, for each connection; those who may wait leave half of it to those who may not.
  std::size_t backlog = 32 * 1024 * 1024;
  // What accepted connections hold, these and others that have the same budget. Null: nobody counts it.
  std::shared_ptr<MemoryBudget> memory{};
  Duration backlog_timeout = std::chrono::seconds{10};  // so long a peer may take nothing while somebody waits for room
  Duration idle_timeout = Duration::zero();             // a watched connection without traffic is closed; 0: never
  Duration header_timeout = std::chrono::seconds{10};   // what the protocol above passes to expect_by(); 0: none
  // Ends connects that are under way. Null: nothing does, but their deadlines.
  std::shared_ptr<ConnectStop> connect_stop{};
  // What a caller beyond the limits is sent before his connection ends, in the protocol above. Static storage. Over a
  // channel he learns it from connect().
  Bytes farewell{};
};

// Takes an accepted connection. Thread: the reactor's; does not block.
using Acceptor = std::function<void(std::shared_ptr<Connection>)>;

class Listener {
 public:
  virtual ~Listener() = default;
  // With the port that was really bound, or the path.
  virtual const Endpoint& endpoint() const noexcept = 0;
  // No connection is accepted and no acceptor runs after it returned. Idempotent; the destructor does it too.
  // Inside the acceptor it does not wait for that very call.
  virtual void stop() noexcept = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Tries every address of the host within the deadline, each with its share of the time left. TRANSIENT
  // connect_failed, unknown_host or no_name_service, TIMEOUT deadline_passed, BAD_PARAM bad_address (the endpoint is
  // not of this transport's kind). Blocks the caller.
  virtual Expected<std::shared_ptr<Connection>> connect(const Endpoint& endpoint, Time deadline) = 0;

  // COMM_FAILURE address_in_use, NO_PERMISSION listen_denied, BAD_PARAM address_not_here or bad_address; of a Unix
  // socket the log says more.
  virtual Expected<std::unique_ptr<Listener>> listen(const Endpoint& endpoint, Acceptor acceptor) = 0;

  virtual const ConnectionLimits& limits() const noexcept = 0;
};

}  // namespace corelane::transport
