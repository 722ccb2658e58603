// Outbox: what a connection was given to send and its link has not taken: the backlog, and the senders who wait until
// there is room in it, in order.
//
// Threads: any, with the connection's lock, which await_room() gives up while it waits.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/error.h"
#include "orb/base/minor.h"
#include "orb/base/time.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/detail/backlog.h"
#include "orb/transport/memory_budget.h"

namespace corelane::transport {

class Outbox {
 public:
  using Lock = std::unique_lock<os::PiMutex>;

  static constexpr Error stalled{.kind = ErrorKind::transient, .minor = minor::send_stalled};
  static constexpr Error no_room{.kind = ErrorKind::timeout, .minor = minor::no_send_room};

  // `limit`: bytes of the backlog; those who may wait leave half of it to those who may not. `patience`: so long a peer
  // may take nothing while somebody waits. `account`: of the connection; null: none. std::bad_alloc.
  Outbox(std::size_t limit, Duration patience, std::shared_ptr<MemoryAccount> account);

  bool empty() const noexcept { return backlog_.empty(); }
  // Room for a sender that may not wait. A message that finds the backlog empty may be longer than the limit.
  bool has_room(std::size_t bytes) const noexcept { return backlog_.has_room(bytes, limit_); }
  // Whether the peer's account has room, too. A thread that may wait does so only behind what waits for the same peer.
  bool has_memory(std::size_t bytes) const noexcept { return account_ == nullptr || account_->has_room(bytes); }

  // When the peer last took something, or the backlog began to fill.
  Time last_taken() const noexcept { return last_taken_; }

  // Whether the peer has taken nothing for `patience`, though something has waited for it since then.
  bool has_stalled(Time since) const noexcept;

  // Copies what follows the first `skip` bytes of the parts. std::bad_alloc: some of it may have been copied, so the
  // connection is to be closed.
  void append(std::span<const Bytes> parts, std::size_t skip);
  // The oldest bytes that lie together; empty when there are none.
  Bytes front() const noexcept { return backlog_.front(); }
  // Removes `bytes` of front(), which the peer took; may be 0.
  void consume(std::size_t bytes) noexcept;
  // The link takes nothing any more.
  void discard() noexcept;
  // Lets nobody in any more: senders that wait for room return. What waits to be sent stays.
  void refuse() noexcept;
  // The connection has ended. Nobody waits any more.
  void close() noexcept;

  // Waits for room, behind those who wait already. Nothing: there is room, or close() or refuse() was called;
  // `stalled`: the peer took nothing for too long; `no_room`: `until` has come. std::bad_alloc.
  std::optional<Error> await_room(Lock& lock, std::size_t bytes, Time until);

 private:
  struct Sender;
  bool has_room_for_waiting(std::size_t bytes) const noexcept;
  Time stalls_at(Time since) const noexcept;
  std::optional<Error> why_in_vain(const Sender& sender, Time until) const noexcept;
  void call_next() noexcept;

  const std::size_t limit_;
  const Duration patience_;
  const std::shared_ptr<MemoryAccount> account_;
  Backlog backlog_;
  Time last_taken_{};             // when the peer last took something, or the backlog began to fill
  std::vector<Sender*> senders_;  // who wait for room, in order
  bool closed_ = false;
};

}  // namespace corelane::transport
