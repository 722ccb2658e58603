// ConnectionCensus: counts accepted connections against the limits, in total and for each peer: an address, or a user
// of this host. Threads: any; one lock. A Ticket is one counted connection and may outlive the transport.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "orb/base/expected.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

class ConnectionCensus : public std::enable_shared_from_this<ConnectionCensus> {
 public:
  class Ticket {
   public:
    Ticket(std::shared_ptr<ConnectionCensus> census, std::string host)
        : census_(std::move(census)), host_(std::move(host)) {}
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
      if (census_) census_->leave(host_);
    }

   private:
    std::shared_ptr<ConnectionCensus> census_;
    std::string host_;
  };

  explicit ConnectionCensus(const ConnectionLimits& limits)
      : total_limit_(limits.connections), peer_limit_(limits.connections_per_peer) {}

  // When a limit is reached: which, and how to mend it, for the log.
  Expected<Ticket, std::string> enter(const std::string& host) {
    const std::lock_guard lock(mutex_);
    if (total_ >= total_limit_) return reached("limits.connections", "LimitsConnections", total_limit_);
    const auto known = by_host_.find(host);
    if (known != by_host_.end() && known->second >= peer_limit_)
      return reached("limits.connections_per_peer", "LimitsConnectionsPerPeer", peer_limit_);
    ++by_host_[host], ++total_;
    return Ticket(shared_from_this(), host);
  }

 private:
  static std::string reached(const std::string& limit, const std::string& option, std::size_t most) {
    return limit + " = " + std::to_string(most) + " is reached; close some, or raise it (-ORB" + option + ")";
  }
  void leave(const std::string& host) {
    const std::lock_guard lock(mutex_);
    --total_;
    const auto entry = by_host_.find(host);
    if (--entry->second == 0) by_host_.erase(entry);
  }

  const std::size_t total_limit_, peer_limit_;
  os::PiMutex mutex_;
  std::size_t total_ = 0;
  std::unordered_map<std::string, std::size_t> by_host_;
};

}  // namespace corelane::transport
