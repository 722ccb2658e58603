// TurnAccount is a connection's account with the read budget, and collects what the reactor's current turn has read.
// Threads: the reactor's; read_for_tasks() any; note_message() the thread that reads.
#pragma once

#include <atomic>
#include <cstddef>

#include "orb/base/ids.h"
#include "orb/transport/detail/read_budget.h"

namespace corelane::transport {

class TurnAccount {
 public:
  explicit TurnAccount(PeerId peer) noexcept : reads_{.peer = peer} {}

  // Makes the budget of tasks pay from now on. Returns whether it did not before.
  bool read_for_tasks() noexcept {
    // relaxed: the next reader may or may not find it
    return !for_tasks_.load(std::memory_order_relaxed) && !for_tasks_.exchange(true, std::memory_order_relaxed);
  }
  // Notes that a message is complete, and whether a contract foresees it.
  void note_message(bool is_foreseen) noexcept {
    // relaxed: the thread that reads is the one that asks; if another thread has taken over, a note more or less does
    // no harm
    (is_foreseen ? message_ : unforeseen_).store(true, std::memory_order_relaxed);
  }

  void begin_turn() noexcept {
    message_.store(false, std::memory_order_relaxed);     // relaxed: see note_message()
    unforeseen_.store(false, std::memory_order_relaxed);  // relaxed: see note_message()
    bytes_ = 0;
  }
  void add(std::size_t bytes) noexcept { bytes_ += bytes; }
  // Returns what the turn has read, and what was noted about it. The end of the connection counts as unforeseen.
  ReadTurn turn(bool has_ended) const noexcept {
    const bool unforeseen = unforeseen_.load(std::memory_order_relaxed) || has_ended;  // relaxed: see note_message()
    return {.bytes = bytes_,
            .messages = unforeseen || message_.load(std::memory_order_relaxed),  // relaxed: as above
            .unforeseen = unforeseen};
  }

  // Returns the account, which also pays for sending the backlog.
  ReadAccount& account() noexcept { return reads_; }
  // Returns it for a new turn, with the share of the budget that pays from then on.
  ReadAccount& account_for_turn() noexcept {
    // relaxed: see read_for_tasks()
    if (for_tasks_.load(std::memory_order_relaxed)) reads_.share = ReadShare::with_tasks;
    return reads_;
  }

 private:
  ReadAccount reads_;
  std::size_t bytes_ = 0;
  std::atomic<bool> for_tasks_{false}, message_{false}, unforeseen_{false};
};

}  // namespace corelane::transport
