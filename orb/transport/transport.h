// Transport makes connections: it connects to a server, or accepts from clients. Each kind (transport_kind.h) has one.
// SocketTransport takes endpoints of all kinds.
// Threads: any. Lifetime: a transport uses its reactor, which outlives it. Connections may outlive both.
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

// Limits on what peers may use. They apply to each transport object. If a limit on connections is reached, or the
// process has no file descriptor left, one connection ends to make room for a new one. It is the one that was quiet for
// longest, among those whose watcher reports that they are idle.
struct ConnectionLimits {
  std::size_t connections = 1024;          // accepted and alive, in total
  std::size_t connections_per_peer = 256;  // accepted and alive from one address, or from one user of this host
  // For each connection, the bytes that the socket has not taken yet. Senders that may wait leave half of it to those
  // that may not.
  std::size_t backlog = 32 * 1024 * 1024;
  // Counts what accepted connections hold: these, and others with the same budget. Null: nothing counts it.
  std::shared_ptr<MemoryBudget> memory{};
  // How long a peer may take nothing while a sender waits for room.
  Duration backlog_timeout = std::chrono::seconds{10};
  Duration idle_timeout = Duration::zero();            // a watched connection without traffic is then closed; 0: never
  Duration header_timeout = std::chrono::seconds{10};  // what the protocol above passes to expect_by(); 0: none
  // Ends connection attempts in progress. Null: only their deadlines do.
  std::shared_ptr<ConnectStop> connect_stop{};
  // Sent to a caller beyond the limits before its connection ends, in the protocol above. Static storage. Over a
  // channel the caller learns it from connect().
  Bytes farewell{};
};

// Takes an accepted connection. Thread: the reactor's; does not block.
using Acceptor = std::function<void(std::shared_ptr<Connection>)>;

class Listener {
 public:
  virtual ~Listener() = default;
  // Returns the endpoint with the port that was really bound, or the path.
  virtual const Endpoint& endpoint() const noexcept = 0;
  // Stops the listener. After it returned, no connection is accepted and no acceptor runs. Inside the acceptor it does
  // not wait for that call. Idempotent; the destructor does it, too.
  virtual void stop() noexcept = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Tries every address of the host within the deadline, each with its share of the remaining time. Blocks the caller.
  // Errors: TRANSIENT connect_failed, unknown_host or no_name_service; TIMEOUT deadline_passed; BAD_PARAM bad_address
  // (the endpoint is not of this transport's kind).
  virtual Expected<std::shared_ptr<Connection>> connect(const Endpoint& endpoint, Time deadline) = 0;

  // Listens at the endpoint. Errors: COMM_FAILURE address_in_use, NO_PERMISSION listen_denied, BAD_PARAM
  // address_not_here or bad_address. The log has details.
  virtual Expected<std::unique_ptr<Listener>> listen(const Endpoint& endpoint, Acceptor acceptor) = 0;

  virtual const ConnectionLimits& limits() const noexcept = 0;
};

}  // namespace corelane::transport
