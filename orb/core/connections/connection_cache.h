// ConnectionCache holds the client connections of one ORB: a pool for each endpoint and kind of traffic, made at the
// first call.
//
// Threads: any, but not real-time ones if a connection must be made; see ConnectionPool.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/core/connections/address.h"
#include "orb/core/connections/connection_pool.h"
#include "orb/os/mutex.h"
#include "orb/transport/transport.h"
#include "orb/transport/transport_kind.h"

namespace corelane::core {

// Calls of admitted tasks and other calls use separate connections, so that neither kind delays the other.
enum class Traffic : std::uint8_t { plain, contract };

class ConnectionCache {
 public:
  using ConnectionPtr = ConnectionPool::ConnectionPtr;

  struct Options {
    bool channels = true;         // use the channels that an address names
    std::size_t connections = 1;  // at most, to one endpoint, for plain traffic
    // Ends the transport's connection attempts early; null if nothing does.
    std::shared_ptr<transport::ConnectStop> connect_stop{};
  };
  ConnectionCache(const giop::Limits& limits, Options options) : limits_(limits), options_(std::move(options)) {}

  // The least time that a call must have left to make a channel first. Making one takes some milliseconds.
  static constexpr Duration time_for_channel = std::chrono::milliseconds{40};

  // What a call requires of its connection.
  struct Requirements {
    Traffic traffic = Traffic::plain;
    CallOrder order = CallOrder::free;
    bool may_make_channel = true;                          // false: the call has less than time_for_channel
    std::span<const transport::Endpoint> tried_last = {};  // endpoints that come after all others
  };
  // The connection that a call uses.
  struct Found {
    ConnectionPtr connection;
    std::shared_ptr<ConnectionPool> pool;  // that the connection belongs to
    const Address* address;                // the address that was used
    bool is_fallback;                      // the address names a channel, but the call had no time to make it
  };
  // Returns the calling thread's connection to one of the addresses. A connection over which the
  // thread has sent oneways comes first; see ConnectionPool::keeps_thread(). Otherwise tries the addresses in order. Of
  // an address, endpoints with a connection come first, together with channels that have not failed. Its other
  // endpoints follow. After all these come endpoints that gave no answer lately, and channels that the call has no time
  // to make. Each attempt may take its share of the time left. Errors: TRANSIENT connect_failed; not_trusted if a
  // stranger answers at a guarded Unix socket, after which TCP is not tried; TIMEOUT deadline_passed; BAD_INV_ORDER
  // orb_destroyed.
  Expected<Found> acquire(transport::Transport& transport, std::span<const Address> addresses, Time deadline,
                          const Requirements& required);
  // Registers a connection that only one task uses, so that close() closes it, too. Fails with BAD_INV_ORDER
  // orb_destroyed.
  Expected<void> adopt(const ConnectionPtr& connection);
  // Refuses calls from now on. Closes each connection when it has sent its backlog, at the latest at `deadline`, and
  // waits for that. Connection attempts in progress end at once. Calls in progress, and later calls over these
  // connections, fail with COMM_FAILURE.
  void close(Time deadline);
  std::size_t size() const;
  // Returns the number of threads that wait for another thread's attempt to connect.
  std::size_t waiting() const;

 private:
  using Pool = std::shared_ptr<ConnectionPool>;
  using Pools = std::array<Pool, 2>;  // indexed by Traffic
  struct Before {
    bool operator()(const transport::Endpoint& a, const transport::Endpoint& b) const noexcept {
      return std::tie(a.port, a.host, a.path, a.kind->name, a.user) <
             std::tie(b.port, b.host, b.path, b.kind->name, b.user);
    }
  };
  struct Candidate {
    Pool pool;
    const Address* address;
  };

  bool takes(const transport::Endpoint& endpoint) const noexcept {
    return options_.channels || !endpoint.kind->shares_memory;
  }
  std::vector<Candidate> candidates(std::span<const Address> addresses, const Requirements& required);
  Pool pool_of(const transport::Endpoint& endpoint, Traffic traffic);
  Pool make_pool(const transport::Endpoint& endpoint, Traffic traffic) const;
  void sweep() CORELANE_REQUIRES(mutex_);
  std::vector<Pool> pools() const;
  void announce(const Found& found);

  const giop::Limits limits_;
  const Options options_;
  mutable os::Mutex mutex_;
  std::map<transport::Endpoint, Pools, Before> pools_ CORELANE_GUARDED_BY(mutex_);
  std::set<transport::Endpoint, Before> announced_ CORELANE_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<ClientConnection>> adopted_ CORELANE_GUARDED_BY(mutex_);
  bool closed_ CORELANE_GUARDED_BY(mutex_) = false;
};

// Says whether channels are tried. off: client.channel is off. no_time: the call had less than time_for_channel.
enum class Channels : std::uint8_t { on, off, no_time };
Channels channels_for(bool setting, bool is_fallback) noexcept;
// Returns a line for the log that says why a call uses this endpoint of the address. The endpoints before it could not
// be used, or were channels that were not tried.
std::string route_text(const transport::Endpoint& endpoint, const Address& address, Channels channels = Channels::on);
// Returns the part of that line after the endpoint.
std::string why_text(const transport::Endpoint& endpoint, const Address& address, Channels channels = Channels::on);

}  // namespace corelane::core
