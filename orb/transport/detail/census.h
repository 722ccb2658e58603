// ConnectionCensus: counts accepted connections against the limits, in total and for each peer: an address, or a user
// of this host. Threads: any; one lock. A Ticket is one counted connection and may outlive the transport.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

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

  // Nothing when a limit is reached.
  std::optional<Ticket> enter(const std::string& host) {
    const std::lock_guard lock(mutex_);
    if (total_ >= total_limit_) return std::nullopt;
    std::size_t& of_peer = by_host_[host];
    if (of_peer >= peer_limit_) return std::nullopt;
    ++of_peer, ++total_;
    return Ticket(shared_from_this(), host);
  }

 private:
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
