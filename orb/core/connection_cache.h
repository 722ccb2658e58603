// ConnectionCache: the client connections of one ORB, one for each endpoint, made when first called.
//
// Threads: any but real-time ones when a connection has to be made. Threads that want the same endpoint at once share
// one attempt: the first connects, the others wait, each no longer than its own deadline. They share its outcome, also
// a failure, but for one thing: when the first ran out of its own time, another one goes on.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "orb/core/address.h"
#include "orb/core/client_connection.h"
#include "orb/core/half_messages.h"
#include "orb/os/wait.h"
#include "orb/transport/transport.h"

namespace corelane::core {

class ConnectionCache {
 public:
  using ConnectionPtr = std::shared_ptr<ClientConnection>;

  // `half_messages`: what the connections share with all others of the ORB.
  // `channels`: whether to take those that an address names.
  explicit ConnectionCache(const giop::Limits& limits, std::shared_ptr<HalfMessages> half_messages = nullptr,
                           bool channels = true)
      : limits_(limits), half_messages_(std::move(half_messages)), channels_(channels) {}

  // A connection to one of the address's endpoints: one that is there, else the first that can be made, each with its
  // share of the time left. TRANSIENT connect_failed, or not_trusted where a stranger answers at a guarded Unix
  // socket: then other Unix sockets alone are tried. TIMEOUT deadline_passed, BAD_INV_ORDER orb_destroyed.
  Expected<ConnectionPtr> acquire(transport::Transport& transport, const Address& address, Time deadline);
  // A connection that somebody has for himself: it is closed with the others. BAD_INV_ORDER orb_destroyed.
  Expected<void> adopt(const ConnectionPtr& connection);
  // Closes all; calls under way fail with COMM_FAILURE, later ones too.
  void close();
  std::size_t size() const;
  // Threads that wait for another's attempt.
  std::size_t waiting() const;

 private:
  // One thread's connect, which others may wait for. Guarded by the cache's mutex.
  struct Attempt {
    std::optional<Expected<ConnectionPtr>> outcome;
    std::vector<os::Parker*> waiting;
  };
  // Guarded by the cache's mutex.
  struct Entry {
    ConnectionPtr connection;
    std::shared_ptr<Attempt> attempt;  // while one is under way
  };
  // What a thread finds at an endpoint: a connection, or an attempt, which may be its own to make.
  struct Place {
    ConnectionPtr known;
    std::shared_ptr<Attempt> attempt;
    bool leads = false;
  };
  class Lead;
  struct Before {
    bool operator()(const transport::Endpoint& a, const transport::Endpoint& b) const noexcept {
      return std::tie(a.port, a.host, a.path, a.kind) < std::tie(b.port, b.host, b.path, b.kind);
    }
  };

  bool takes(const transport::Endpoint& endpoint) const noexcept {
    return channels_ || endpoint.kind != transport::EndpointKind::channel;
  }
  ConnectionPtr usable_at(const transport::Endpoint& endpoint);
  Expected<ConnectionPtr> acquire_one(transport::Transport& transport, const transport::Endpoint& endpoint,
                                      Time deadline);
  std::vector<ConnectionPtr> take_broken();  // with mutex_ held
  Expected<Place> enter(const transport::Endpoint& endpoint, const ConnectionPtr& broken, os::Parker& parker);
  Expected<ConnectionPtr> lead(transport::Transport& transport, const transport::Endpoint& endpoint,
                               const std::shared_ptr<Attempt>& attempt, Time deadline);
  std::optional<Expected<ConnectionPtr>> join(Attempt& attempt, os::Parker& parker, Time deadline);
  void announce(const transport::Endpoint& endpoint, const std::string& why);
  static void finish(Attempt& attempt, Expected<ConnectionPtr> outcome);

  const giop::Limits limits_;
  const std::shared_ptr<HalfMessages> half_messages_;
  const bool channels_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<transport::Endpoint, Entry, Before> entries_;
  std::set<transport::Endpoint, Before> announced_;
  std::vector<std::weak_ptr<ClientConnection>> adopted_;
  bool closed_ = false;
};

// Why a call goes over this endpoint of the address, as a line of the log. Those before it were not to be had, or,
// being channels, not tried.
std::string way_text(const transport::Endpoint& endpoint, const Address& address, bool channels = true);
// The part of it behind the endpoint.
std::string why_text(const transport::Endpoint& endpoint, const Address& address, bool channels = true);

}  // namespace corelane::core
