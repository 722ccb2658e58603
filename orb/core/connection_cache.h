// ConnectionCache: the client connections of one ORB, one for each endpoint, made when first called.
//
// Threads: any but real-time ones when a connection has to be made. Two threads that call a new server at once wait for
// one connection.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "orb/core/client_connection.h"
#include "orb/transport/transport.h"

namespace corelane::core {

class ConnectionCache {
 public:
  explicit ConnectionCache(const giop::Limits& limits) : limits_(limits) {}

  // The connection to the first endpoint that answers. TRANSIENT connect_failed, BAD_INV_ORDER orb_destroyed.
  Expected<std::shared_ptr<ClientConnection>> acquire(transport::Transport& transport,
                                                      const std::vector<transport::Endpoint>& endpoints, Time deadline);
  // Closes all; calls under way fail with COMM_FAILURE, later ones too.
  void close();
  std::size_t size() const;

 private:
  struct Entry {
    // Guarded by the cache's mutex.
    std::shared_ptr<ClientConnection> connection;
    bool connecting = false;
    std::condition_variable freed;  // `connecting` ended
  };
  class Turn;
  struct Before {
    bool operator()(const transport::Endpoint& a, const transport::Endpoint& b) const noexcept {
      return std::tie(a.port, a.host) < std::tie(b.port, b.host);
    }
  };
  Expected<std::shared_ptr<ClientConnection>> acquire_one(transport::Transport& transport,
                                                          const transport::Endpoint& endpoint, Time deadline);

  const giop::Limits limits_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<transport::Endpoint, std::shared_ptr<Entry>, Before> entries_;
  bool closed_ = false;
};

}  // namespace corelane::core
