// ClientEnd knows how a client's connection ends: whether it carries calls, why not, and who was told so.
// Threads: any. All accesses but those of the peer's end are relaxed: they are hints, or change once, and the stream
// itself refuses what comes too late. LeaderState and the lock of WaitingCalls order ClientConnection::on_idle().
#pragma once

#include <atomic>

#include "orb/base/error.h"
#include "orb/base/minor.h"

namespace corelane::core {

class ClientEnd {
 public:
  static constexpr Error lost{ErrorKind::comm_failure, Completion::maybe, minor::connection_lost};
  static constexpr Error dismissed{ErrorKind::transient, Completion::no, minor::peer_closed};

  // Returns false if the connection will carry nothing any more.
  bool is_open() const noexcept { return !broken_.load(std::memory_order_relaxed); }  // relaxed: as said above
  void break_up() noexcept { broken_.store(true, std::memory_order_relaxed); }        // relaxed: as said above
  // Notes that the stream has ended, or must, and that the calls in progress have failed. Returns whether that is so.
  void lose() noexcept {
    break_up();
    lost_.store(true, std::memory_order_relaxed);  // relaxed: as said above
  }
  bool is_lost() const noexcept { return lost_.load(std::memory_order_relaxed); }  // relaxed: as said above
  // Return true the first time: then the owner must be told, or the loss of oneways logged.
  bool tells_owner() noexcept {
    return !told_owner_.exchange(true, std::memory_order_relaxed);  // relaxed: as said above
  }
  bool tells_loss() noexcept {
    return !told_loss_.exchange(true, std::memory_order_relaxed);  // relaxed: as said above
  }

  // Notes that a reply has come, and returns whether one has.
  void note_answered() noexcept {
    // relaxed: as said above
    if (!is_answered()) answered_.store(true, std::memory_order_relaxed);
  }
  bool is_answered() const noexcept { return answered_.load(std::memory_order_relaxed); }  // relaxed: as said above

  // Notes that CloseConnection has come: calls without a reply have not run and will not.
  void dismiss() noexcept { dismissed_.store(true, std::memory_order_relaxed); }  // relaxed: as said above
  // Returns the error for calls that have no reply when the peer ends.
  Error why_lost() const noexcept {
    return dismissed_.load(std::memory_order_relaxed) ? dismissed : lost;  // relaxed: as said above
  }

  // Note that the peer has ended, and return whether it has. seq_cst: see ClientConnection::on_peer_end().
  void note_peer_end() noexcept { peer_ended_.store(true, std::memory_order_seq_cst); }
  bool has_peer_ended() const noexcept { return peer_ended_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<bool> broken_{false}, lost_{false};
  std::atomic<bool> told_owner_{false}, told_loss_{false};
  std::atomic<bool> answered_{false};
  std::atomic<bool> dismissed_{false};
  std::atomic<bool> peer_ended_{false};
};

}  // namespace corelane::core
