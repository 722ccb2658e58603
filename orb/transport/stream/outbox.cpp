#include "orb/transport/stream/outbox.h"

#include <algorithm>
#include <new>
#include <utility>

#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/wait/wait.h"

namespace corelane::transport {

// A thread that waits for room; the object is on its stack.
struct Outbox::Sender {
  const std::size_t bytes;
  const Time since = os::now();
  os::Parker parker{};
};

Outbox::Outbox(std::size_t limit, Duration patience, std::shared_ptr<MemoryAccount> account)
    : limit_(limit), patience_(patience), account_(account), backlog_(std::move(account)) {}

void Outbox::append(std::span<const Bytes> parts, std::size_t skip) {
  if (empty()) last_taken_ = os::now();
  backlog_.append(parts, skip);
}

void Outbox::lend(std::span<const Bytes> parts, std::size_t skip) noexcept {
  lent_ = {parts, skip, length_of(parts) - skip};
  last_taken_ = os::now();
}

void Outbox::end_loan(std::span<const Bytes> parts) {
  if (lent(parts) == 0) return;
  try {
    backlog_.prepend(lent_.parts, lent_.skip);
  } catch (const std::bad_alloc&) {
    discard();
    throw;
  }
  lent_ = {};
}

Bytes Outbox::front() const noexcept {
  if (lent_.bytes == 0) return backlog_.front();
  std::size_t skip = lent_.skip;
  for (const Bytes part : lent_.parts) {
    if (skip < part.size()) return part.subspan(skip);
    skip -= part.size();
  }
  return {};
}

void Outbox::consume(std::size_t bytes) noexcept {
  if (lent_.bytes == 0) {
    backlog_.consume(bytes);
  } else {
    lent_.skip += bytes;
    lent_.bytes -= bytes;
  }
  if (bytes > 0) last_taken_ = os::now();
  call_next();
}

void Outbox::discard() noexcept {
  lent_ = {};
  backlog_.clear();
  call_next();
}

void Outbox::refuse() noexcept {
  closed_ = true;
  for (Sender* sender : senders_) sender->parker.unpark();
}

void Outbox::close() noexcept {
  lent_ = {};
  backlog_.clear();
  refuse();
}

[[gnu::hot]] std::optional<Error> Outbox::await_room(os::PiMutex& mutex, std::size_t bytes, Time until) {
  if (senders_.empty() && has_room_for_waiting(bytes)) return std::nullopt;
  Sender self{bytes};
  senders_.push_back(&self);
  std::optional<Error> in_vain;
  // Bound: `until`, or the time for which a peer may take nothing.
  while (!closed_ && (senders_.front() != &self || !has_room_for_waiting(bytes)) &&
         !(in_vain = why_in_vain(self, until))) {
    const Time wake_at = std::min(until, stalls_at(self.since));
    const os::ReleasedLock released(mutex);
    self.parker.park(wake_at);
  }
  std::erase(senders_, &self);
  call_next();
  return in_vain;
}

[[gnu::hot]] bool Outbox::has_room_for_waiting(std::size_t bytes) const noexcept {
  return empty() || (fits(bytes, limit_ / 2) && has_memory(bytes));
}

// Returns when the peer counts as stalled, for a sender that waits since `since`. If nothing waits to be sent, the
// sender waits for the one before it, not for the peer.
Time Outbox::stalls_at(Time since) const noexcept { return empty() ? never : std::max(last_taken_, since) + patience_; }

bool Outbox::has_stalled(Time since) const noexcept { return os::now() >= stalls_at(since); }

std::optional<Error> Outbox::why_in_vain(const Sender& sender, Time until) const noexcept {
  const Time now = os::now();
  if (now >= stalls_at(sender.since)) return stalled;
  if (now >= until) return no_room;
  return std::nullopt;
}

// Wakes the next sender that has room. Call it with the lock held: the woken sender needs the lock before it can
// return, so it still exists.
void Outbox::call_next() noexcept {
  if (!senders_.empty() && has_room_for_waiting(senders_.front()->bytes)) senders_.front()->parker.unpark();
}

}  // namespace corelane::transport
