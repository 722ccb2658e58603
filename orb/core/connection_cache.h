// ConnectionCache: the client connections of one ORB: a pool for each endpoint and kind of traffic, made when first
// called.
//
// Threads: any but real-time ones when a connection has to be made; see ConnectionPool.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "orb/core/address.h"
#include "orb/core/connection_pool.h"
#include "orb/transport/transport.h"

namespace corelane::core {

// Calls of admitted tasks have connections apart from all others, so that neither kind delays the other.
enum class Traffic : std::uint8_t { plain, contract };

class ConnectionCache {
 public:
  using ConnectionPtr = ConnectionPool::ConnectionPtr;

  struct Options {
    bool channels = true;         // whether to take those that an address names
    std::size_t connections = 1;  // to one endpoint, for plain traffic
    // What connects of the transport are under; null: nobody ends them early.
    std::shared_ptr<transport::ConnectStop> connect_stop{};
  };
  ConnectionCache(const giop::Limits& limits, Options options) : limits_(limits), options_(std::move(options)) {}

  // How much time a call needs to have to make a channel first, which takes some milliseconds.
  static constexpr Duration time_for_channel = std::chrono::milliseconds{40};

  // What a call wants of its connection.
  struct Wish {
    Traffic traffic = Traffic::plain;
    CallOrder order = CallOrder::free;
    bool may_make_channel = true;                          // false: the call has less than time_for_channel
    std::span<const transport::Endpoint> tried_last = {};  // endpoints that come after all others
  };
  // What a call goes over.
  struct Found {
    ConnectionPtr connection;
    std::shared_ptr<ConnectionPool> pool;  // of which it is
    const Address* address;                // by which of the addresses
    bool is_makeshift;                     // a channel is there, but the call had no time to make one
  };
  // The calling thread's connection to one of the addresses: the one that ConnectionPool::keeps_thread() says, else for
  // each address in turn: to an endpoint that is connected
  // already, else to the first that can be connected, each with its share of the time left. Endpoints that gave no
  // answer lately come after all others. TRANSIENT connect_failed, or not_trusted where a stranger answers at a guarded
  // Unix socket: then other Unix sockets alone are tried. A channel that has not failed is made also where another
  // endpoint of its address is connected. TIMEOUT deadline_passed, BAD_INV_ORDER orb_destroyed.
  Expected<Found> acquire(transport::Transport& transport, std::span<const Address> addresses, Time deadline,
                          const Wish& wish);
  // A connection that one task has for itself: it is closed with the others. BAD_INV_ORDER orb_destroyed.
  Expected<void> adopt(const ConnectionPtr& connection);
  // Refuses calls from here on, and closes all connections as soon as they have sent what waits in their backlogs, at
  // the latest at `deadline`; waits for that. Connects under way end at once. Calls under way fail with COMM_FAILURE,
  // later ones too.
  void close(Time deadline);
  std::size_t size() const;
  // Threads that wait for another thread's attempt to connect.
  std::size_t waiting() const;

 private:
  using Pool = std::shared_ptr<ConnectionPool>;
  using Pools = std::array<Pool, 2>;  // by Traffic
  struct Before {
    bool operator()(const transport::Endpoint& a, const transport::Endpoint& b) const noexcept {
      return std::tie(a.port, a.host, a.path, a.kind) < std::tie(b.port, b.host, b.path, b.kind);
    }
  };
  struct Candidate {
    Pool pool;
    const Address* address;
  };

  bool takes(const transport::Endpoint& endpoint) const noexcept {
    return options_.channels || endpoint.kind != transport::EndpointKind::channel;
  }
  std::vector<Candidate> candidates(std::span<const Address> addresses, const Wish& wish);
  Pool pool_of(const transport::Endpoint& endpoint, Traffic traffic);
  Pool make_pool(const transport::Endpoint& endpoint, Traffic traffic) const;
  void sweep();  // with mutex_ held
  std::vector<Pool> pools() const;
  void announce(const Found& found);

  const giop::Limits limits_;
  const Options options_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<transport::Endpoint, Pools, Before> pools_;
  std::set<transport::Endpoint, Before> announced_;
  std::vector<std::weak_ptr<ClientConnection>> adopted_;
  bool closed_ = false;
};

// Whether channels are tried: on; off by client.channel; no_time: the call had less than time_for_channel.
enum class Channels : std::uint8_t { on, off, no_time };
Channels channels_for(bool setting, bool is_makeshift) noexcept;
// Why a call goes over this endpoint of the address, as a line of the log. Those before it were not to be had, or,
// being channels, not tried.
std::string way_text(const transport::Endpoint& endpoint, const Address& address, Channels channels = Channels::on);
// The part of it behind the endpoint.
std::string why_text(const transport::Endpoint& endpoint, const Address& address, Channels channels = Channels::on);

}  // namespace corelane::core
