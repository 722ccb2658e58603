// HalfMessages: what half received messages take in all connections of an ORB together, and whose connection ends where
// that becomes too much: not that of the newcomer but the largest one of the peer that holds most. A peer decides how
// many connections it opens and which part of its messages it sends, so what it holds must not keep others out.
//
// The first bytes of each connection are free and cost no lock: most messages need no more.
//
// Threads: HalfMessages any, by one lock; what share() returns its owner's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "orb/giop/half_room.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

class HalfMessages : public std::enable_shared_from_this<HalfMessages> {
 public:
  struct Bounds {
    std::size_t all = 0;
    std::size_t of_peer = 0;             // of what the connections of one peer hold
    std::size_t free = free_by_default;  // of each connection; counts nowhere
  };
  static constexpr std::size_t free_by_default = 64 * 1024;
  // A peer gets a quarter, but one whole message at least.
  static Bounds bounds_of(std::size_t all, std::size_t message_size) noexcept {
    return {.all = all, .of_peer = std::min(all, std::max(all / 4, message_size))};
  }
  // Ends the connection, for the sake of another; that request was the one under way, where it is known. Called on the
  // other's thread.
  using GiveUp = std::function<void(const std::optional<giop::HalfRequest>&)>;

  explicit HalfMessages(const Bounds& bounds) : bounds_(bounds) {}

  // Of a connection that a peer opened: it gives way, and bounds.of_peer holds for it.
  std::unique_ptr<giop::HalfRoom> share(const std::string& peer, GiveUp give_up);
  // Of one that this process opened: it counts in all and never gives way.
  std::unique_ptr<giop::HalfRoom> share();

  // What all hold beyond what is free.
  std::size_t used() const noexcept;

 private:
  class Share;
  struct Peer {
    std::size_t shares = 0;
    std::size_t held = 0;
  };
  struct Account {
    std::map<std::string, Peer>::iterator peer;
    std::shared_ptr<const GiveUp> give_up{};  // null: nobody's who gives way
    std::size_t held = 0;
    bool gave_way = false;  // and holds nothing ever after
    std::optional<giop::HalfRequest> request{};
  };
  using Accounts = std::list<Account>;

  std::unique_ptr<giop::HalfRoom> open(const std::string& peer, std::shared_ptr<const GiveUp> give_up);
  void close(Accounts::iterator account) noexcept;
  bool grow(Account& account, std::size_t goal, const std::optional<giop::HalfRequest>& request, bool insists) noexcept;
  void shrink(Account& account, std::size_t goal) noexcept;
  bool peer_is_full(const Account& account, std::size_t goal) const noexcept;
  Account* who_gives_way(const Account& asking, std::size_t goal) noexcept;
  void set(Account& account, std::size_t goal) noexcept;

  const Bounds bounds_;
  mutable os::PiMutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, Peer> peers_;
  Accounts accounts_;  // oldest first
  std::size_t used_ = 0;
};

}  // namespace corelane::core
