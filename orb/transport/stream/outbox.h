// Outbox holds the bytes that a connection has to send and that its link has not taken yet. First comes the rest of one
// message that still lies in its sender's memory (a loan), then the backlog. Outbox also has the queue of the senders
// that wait for room. "Something waits" means bytes, not senders.
//
// Threads: any, with the connection's mutex, which await_room() releases while it waits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/error.h"
#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/memory_budget.h"
#include "orb/transport/stream/backlog.h"

namespace corelane::transport {

class Outbox {
 public:
  static constexpr Error stalled{.kind = ErrorKind::transient, .minor = minor::send_stalled};
  static constexpr Error no_room{.kind = ErrorKind::timeout, .minor = minor::no_send_room};

  // `limit`: how many bytes may wait. Senders that may wait leave half of it to those that may not. `patience`: how
  // long a peer may take nothing while a sender waits. `account`: that of the connection; null: none. std::bad_alloc.
  Outbox(std::size_t limit, Duration patience, std::shared_ptr<MemoryAccount> account);

  bool empty() const noexcept { return size() == 0; }
  // Returns whether there is room for a sender that may not wait. If nothing waits, a message may be longer than the
  // limit.
  bool has_room(std::size_t bytes) const noexcept { return fits(bytes, limit_); }
  // Returns whether the connection's account allows so many more bytes for the peer. While nothing waits here, a sender
  // that may wait does not ask this.
  bool has_memory(std::size_t bytes) const noexcept { return account_ == nullptr || account_->has_room(bytes); }

  // Returns when the peer last took something, or the backlog began to fill.
  Time last_taken() const noexcept { return last_taken_; }

  // Returns whether something waits, and the peer has taken nothing for `patience`. That time begins at `since`, or
  // later: when the peer last took something, or when something began to wait.
  bool has_stalled(Time since) const noexcept;

  // Copies what follows the first `skip` bytes of the parts. std::bad_alloc: some of it may have been copied, so close
  // the connection.
  void append(std::span<const Bytes> parts, std::size_t skip);
  // Makes what follows the first `skip` bytes of the parts wait where it lies, without a copy. The bytes and the span
  // of parts must last until end_loan(). Call it while nothing waits. What is appended meanwhile waits behind it.
  void lend(std::span<const Bytes> parts, std::size_t skip) noexcept;
  // Returns how many bytes of these parts still wait. It is 0 if all of them were taken, also if another sender has
  // lent its message meanwhile.
  std::size_t lent(std::span<const Bytes> parts) const noexcept {
    return lent_.parts.data() == parts.data() ? lent_.bytes : 0;
  }
  // Copies the bytes that lent() counts to the beginning of the backlog. std::bad_alloc: everything that waited is
  // lost, so close the connection.
  void end_loan(std::span<const Bytes> parts);
  // Returns the oldest contiguous bytes; empty if there are none.
  Bytes front() const noexcept;
  // Removes `bytes` bytes of front() that the peer took; may be 0.
  void consume(std::size_t bytes) noexcept;
  // Call it when the link takes nothing any more. Drops what waits to be sent.
  void discard() noexcept;
  // Refuses new senders, and makes senders that wait for room return. What waits to be sent stays.
  void refuse() noexcept;
  // Call it when the connection has ended. Drops what waits to be sent, and makes all senders return.
  void close() noexcept;

  // Waits for room, after the senders that wait already. Returns nothing if there is room, or if close() or refuse()
  // was called, so the caller checks StreamEnd::takes_more(). Otherwise returns `stalled` (the peer took nothing for
  // too long) or `no_room` (`until` has come). std::bad_alloc.
  std::optional<Error> await_room(os::PiMutex& mutex, std::size_t bytes, Time until) CORELANE_REQUIRES(mutex);

 private:
  struct Sender;
  // The rest of a message in its sender's memory.
  struct Loan {
    std::span<const Bytes> parts{};
    std::size_t skip = 0;   // bytes of the parts that the link has taken
    std::size_t bytes = 0;  // bytes that still wait
  };
  std::size_t size() const noexcept { return lent_.bytes + backlog_.size(); }
  bool fits(std::size_t bytes, std::size_t limit) const noexcept {
    return empty() || bytes <= limit - std::min(size(), limit);
  }
  bool has_room_for_waiting(std::size_t bytes) const noexcept;
  Time stalls_at(Time since) const noexcept;
  std::optional<Error> why_in_vain(const Sender& sender, Time until) const noexcept;
  void call_next() noexcept;

  const std::size_t limit_;
  const Duration patience_;
  const std::shared_ptr<MemoryAccount> account_;
  Loan lent_;
  Backlog backlog_;
  Time last_taken_{};             // when the peer last took something, or the backlog began to fill
  std::vector<Sender*> senders_;  // waiting for room, in order
  bool closed_ = false;
};

}  // namespace corelane::transport
