// ConnectionLimiter counts accepted connections against the limits, in total and for each peer. A peer is an address,
// or a user of this host. If a new connection finds no room, the limiter finds one that may end.
//
// Threads: any, unless noted; one lock. A Ticket is one counted connection, and may outlive the transport.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

// Evictable is a counted connection that may end to make room for another.
class Evictable {
 public:
  // Returns when something last came over it. Thread: any.
  virtual Time quiet_since() const noexcept = 0;
  // Returns whether the peer has sent a whole message. Thread: any.
  virtual bool has_sent_message() const noexcept = 0;
  // Returns whether it is a channel, which takes several descriptors, while a socket takes one. Thread: any.
  virtual bool is_channel() const noexcept = 0;
  // Ends the connection and gives its ticket back, unless something is in progress. Thread: the reactor's.
  virtual bool evict() noexcept = 0;

 protected:
  ~Evictable() = default;
};

// Holder identifies the peer that has a set of connections, by a number. The number is valid while this object is kept.
// The process has one Holder for each name, whichever ORBs the connections belong to. Thread: any.
class Holder {
 public:
  static std::shared_ptr<const Holder> of(const std::string& host);
  explicit Holder(std::uint32_t number) noexcept : number_(number) {}
  std::uint32_t number() const noexcept { return number_; }  // in 1 .. most_holders

 private:
  const std::uint32_t number_;
};

class ConnectionLimiter : public std::enable_shared_from_this<ConnectionLimiter> {
 public:
  class Ticket {
   public:
    Ticket(std::shared_ptr<ConnectionLimiter> limiter, std::uint64_t number, std::shared_ptr<const Holder> holder)
        : limiter_(std::move(limiter)), number_(number), holder_(std::move(holder)) {}
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&& other) noexcept {
      std::swap(limiter_, other.limiter_);
      std::swap(number_, other.number_);
      std::swap(holder_, other.holder_);
      return *this;
    }
    ~Ticket() {
      if (limiter_) limiter_->leave(number_);
    }
    const Holder& holder() const noexcept { return *holder_; }
    // Registers the evictable connection: from now on evict_idle() may ask it to end.
    void belongs_to(std::weak_ptr<Evictable> evictable) const {
      limiter_->set_evictable(number_, std::move(evictable));
    }

   private:
    std::shared_ptr<ConnectionLimiter> limiter_;
    std::uint64_t number_;
    std::shared_ptr<const Holder> holder_;
  };

  explicit ConnectionLimiter(const ConnectionLimits& limits)
      : total_limit_(limits.connections), peer_limit_(limits.connections_per_peer) {}

  // Counts a connection. If a limit is reached, returns which one and how to fix it, for the log.
  Expected<Ticket, std::string> enter(const std::string& host);

  // Makes room for a connection that was refused, by ending another one over which nothing is in progress. If the host
  // has all that it may have, that is a connection of the same host. Returns false if there is none. Bound: the
  // connections. Thread: the reactor's.
  //
  // Order: if more than a quarter of the connections have brought no whole message, the oldest of those ends first. So
  // peers that send half a header cannot keep others out. Next, or otherwise, the connection that was quiet for longest
  // ends.
  bool evict_idle(const std::string& host);
  // Does the same for a connection for which no descriptor is left, and may end a connection of any host. The
  // descriptors are free once the reactor has run what was posted to it meanwhile. Thread: the reactor's.
  bool evict_quietest();
  // Does the same among the channels over which nothing has come since `quiet_since`. Thread: the reactor's.
  bool evict_channel(Time quiet_since);

 private:
  struct Place {
    std::string host;
    std::weak_ptr<Evictable> evictable{};
  };
  struct Candidate {
    bool has_sent_message;
    std::uint64_t number;
    Time quiet_since;
    std::shared_ptr<Evictable> evictable;
  };

  static std::string reached(const std::string& limit, const std::string& option, std::size_t most);
  std::size_t count_of(const std::string& host) const noexcept CORELANE_REQUIRES(mutex_);
  template <typename MayGo>
  std::vector<Candidate> candidates(MayGo may_go);
  static bool evict_one_of(std::vector<Candidate> left);
  void set_evictable(std::uint64_t number, std::weak_ptr<Evictable> evictable);
  void leave(std::uint64_t number) noexcept;

  const std::size_t total_limit_, peer_limit_;
  os::PiMutex mutex_;
  std::uint64_t last_number_ CORELANE_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uint64_t, Place> places_ CORELANE_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::size_t> by_host_ CORELANE_GUARDED_BY(mutex_);
};

}  // namespace corelane::transport
