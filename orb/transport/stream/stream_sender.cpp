#include "orb/transport/stream/stream_sender.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/thread.h"
#include "orb/transport/detail/read_gate.h"

namespace corelane::transport {
namespace {

constexpr Error backlog_full{.kind = ErrorKind::transient, .minor = minor::send_backlog};
constexpr Error backlogs_full{.kind = ErrorKind::transient, .minor = minor::send_backlogs};
constexpr std::size_t worth_watching = 4096;      // bytes of a send; a channel takes no memory for less
constexpr std::size_t worth_waiting = 64 * 1024;  // bytes of a rest
// Between two checks whether everything has arrived that was sent before the end.
constexpr std::chrono::milliseconds between_arrivals{1};

}  // namespace

StreamSender::StreamSender(Link& link, std::shared_ptr<Reactor::Impl> reactor, TrafficTimes& times,
                           const ConnectionLimits& limits, std::shared_ptr<MemoryAccount> account)
    : link_(link),
      reactor_(std::move(reactor)),
      drainer_(reactor_->ordinary()),
      account_(std::move(account)),
      times_(times),
      memory_(link.channel(), account_, reactor_, mutex_, end_),
      outbox_(limits.backlog, limits.backlog_timeout, account_) {}

Expected<void> StreamSender::send(std::span<const Bytes> parts, std::uint64_t& position) noexcept try {
  times_.renew();
  os::UniqueLock lock(mutex_);
  if (!end_.takes_more()) return end_.why_refused();
  const std::size_t bytes = length_of(parts);
  const bool fits = outbox_.has_room(bytes);
  if (fits && outbox_.has_memory(bytes)) return put(parts, position, Time{});
  lock.unlock();
  return close_for(fits ? backlogs_full : backlog_full);
} catch (const std::bad_alloc&) {
  return close_for(errors::no_memory);
}

// Sends or queues the parts. The connection is open, and there is room. Releases the lock for what needs none.
// `rest_by`: the caller may wait for the peer until then; a time in the past: it may not wait.
[[gnu::hot]] Expected<void> StreamSender::put(std::span<const Bytes> parts, std::uint64_t& position, Time rest_by) {
  position = link_.position();
  const IoResult sent = outbox_.empty() ? link_.send_some(parts) : IoResult{Io::would_block};
  if (sent.outcome == Io::done) {
    if (sent.count < worth_watching || !memory_.has_grown()) return {};
    const os::ReleasedLock released(mutex_);
    memory_.watch(work_);
    return {};
  }
  if (sent.outcome == Io::begun) return finish_begun(), Expected<void>{};
  // The stream stays readable: what the peer sent before it ended is still there, and reading will find the end.
  if (sent.outcome == Io::failed) return ended_by(minor::connection_lost);
  if (const Time end = end_of_wait(length_of(parts) - sent.count, rest_by); end != Time{}) {
    send_rest(parts, sent.count, end);
  } else {
    outbox_.append(parts, sent.count);
  }
  return leave_to_drainer();
}

// Returns until when the calling thread waits for the peer to take the rest of a message; Time{}: it does not wait.
Time StreamSender::end_of_wait(std::size_t rest, Time by) const noexcept {
  if (by == Time{}) return by;
  const bool may_wait = rest >= worth_waiting && outbox_.empty() &&
                        link_.write_readiness() == Link::WriteReadiness::writable && !os::is_real_time();
  return may_wait ? rest_wait_.end(os::now(), by) : Time{};
}

// Sends the rest of a long message from where it lies, while the peer takes it. That costs less than a copy which
// another thread sends. What other threads send meanwhile waits behind it. If the peer makes a long pause, copies what
// is left. Releases the lock while it waits.
void StreamSender::send_rest(std::span<const Bytes> parts, std::size_t sent, Time end) {
  const os::CancellationDelay delay;  // the callers are noexcept, and wait_writable() is a cancellation point
  outbox_.lend(parts, sent);
  notice_.set_backlogged(true);
  const Time begun = os::now();
  const std::size_t rest = outbox_.lent(parts);
  std::size_t left = rest;
  bool paused = false;
  // Bound: the time; each turn sends something, or is the last one.
  while (left > 0 && !paused && os::now() < end) {
    {
      const os::ReleasedLock released(mutex_);
      if (link_.wait_writable(std::min(end, os::now() + RestWait::longest_pause))) drain_some(false);
    }
    paused = outbox_.lent(parts) == left;
    left = outbox_.lent(parts);
  }
  rest_wait_.note_end(begun, os::now(), rest, left, paused);
  outbox_.end_loan(parts);
}

// Makes the thread that drains send what waits, if anything does.
Expected<void> StreamSender::leave_to_drainer() {
  if (outbox_.empty()) {
    const os::ReleasedLock released(mutex_);
    return tell_if_drained(), Expected<void>{};
  }
  notice_.set_backlogged(true);
  if (std::exchange(draining_, true)) return {};
  const os::ReleasedLock released(mutex_);
  if (!ask_for_drain()) return close_for(ended_by(minor::shutting_down));
  return {};
}

// Copies the rest of a message that the peer already reads. Other threads send meanwhile.
void StreamSender::finish_begun() {
  {
    const os::ReleasedLock released(mutex_);
    link_.write_rest();
  }
  link_.end_rest();
  if (!memory_.has_grown()) return;
  const os::ReleasedLock released(mutex_);
  memory_.watch(work_);
}

[[gnu::hot]] Expected<void> StreamSender::send_waiting(Time room_by, Time rest_by, std::span<const Bytes> parts,
                                                       std::uint64_t& position) noexcept try {
  times_.renew();
  os::UniqueLock lock(mutex_);
  if (const auto in_vain = outbox_.await_room(mutex_, length_of(parts), room_by)) {
    lock.unlock();
    return *in_vain == Outbox::stalled ? close_for(Outbox::stalled) : *in_vain;
  }
  if (!end_.takes_more()) return end_.why_refused();
  return put(parts, position, rest_by);
} catch (const std::bad_alloc&) {
  return close_for(errors::no_memory);
}

void StreamSender::close_if_stalled(Time since) noexcept {
  os::UniqueLock lock(mutex_);
  if (!outbox_.has_stalled(since)) return;
  lock.unlock();
  close_for(Outbox::stalled);
}

// ChannelSendBuffer is a part of the link's memory, until it is sent or given back.
class StreamSender::ChannelSendBuffer final : public ReservedSendBuffer {
 public:
  // `owner` keeps the sender.
  ChannelSendBuffer(StreamSender& sender, std::shared_ptr<const void> owner) noexcept
      : sender_(sender), owner_(std::move(owner)) {}
  ChannelSendBuffer(const ChannelSendBuffer&) = delete;
  ChannelSendBuffer& operator=(const ChannelSendBuffer&) = delete;
  ~ChannelSendBuffer() override {
    const os::LockGuard lock(sender_.mutex_);
    sender_.link_.give_back(lent_.number);
  }
  MutableBytes bytes() const noexcept override { return lent_.bytes; }
  // Call it under the connection's lock. Returns false if there is no memory.
  bool take(std::size_t bytes) {
    lent_ = sender_.link_.lend(bytes);
    return !lent_.bytes.empty();
  }

 private:
  StreamSender& sender_;
  const std::shared_ptr<const void> owner_;
  Link::LentBytes lent_;
};

std::unique_ptr<ReservedSendBuffer> StreamSender::send_buffer(std::size_t bytes) noexcept try {
  auto made = std::make_unique<ChannelSendBuffer>(*this, work());
  bool taken = false, grown = false;
  {
    const os::LockGuard lock(mutex_);
    taken = is_open() && outbox_.empty() && made->take(bytes);  // what waits behind other bytes is copied anyway
    grown = taken && memory_.has_grown();
  }
  if (grown) memory_.watch(work_);
  return taken ? std::move(made) : nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

bool StreamSender::sends_arriving(std::size_t bytes) noexcept {
  const os::LockGuard lock(mutex_);
  return is_open() && outbox_.empty() && link_.sends_arriving(bytes);
}

bool StreamSender::await_drained() noexcept {
  if (!notice_.may_be_backlogged()) return true;
  const os::LockGuard lock(mutex_);
  return !notice_.ask(!outbox_.empty() && is_open());
}

Time StreamSender::backlog_taken_at() const noexcept {
  const os::LockGuard lock(mutex_);
  return outbox_.empty() ? never : outbox_.last_taken();
}

void StreamSender::read_by(std::weak_ptr<Reader> reader) noexcept {
  const os::LockGuard lock(mutex_);
  notice_.swap_reader(reader);
}

std::shared_ptr<Reader> StreamSender::reader_without_backlog() const noexcept {
  const os::LockGuard lock(mutex_);
  return is_open() && outbox_.empty() ? notice_.reader() : nullptr;
}

bool StreamSender::has_backlog() const noexcept {
  const os::LockGuard lock(mutex_);
  return !outbox_.empty();
}

void StreamSender::tell_if_drained() noexcept {
  if (account_) account_->tell_others();
  std::shared_ptr<Reader> reader;
  {
    const os::LockGuard lock(mutex_);
    notice_.set_backlogged(!outbox_.empty());
    reader = notice_.take_due(!outbox_.empty() && is_open());
  }
  if (reader) reader->on_drained();
}

bool StreamSender::goes_on_draining() noexcept {
  const os::LockGuard lock(mutex_);
  return draining_ = is_open() && !outbox_.empty();
}

bool StreamSender::drain_some(bool in_pieces) noexcept {
  os::UniqueLock lock(mutex_);
  Bytes next = outbox_.front();
  if (next.empty()) return false;
  if (in_pieces) next = next.first(std::min(next.size(), ReadGate::bytes_per_turn));
  const IoResult result = link_.send_some(std::span<const Bytes>{&next, 1});
  outbox_.consume(result.count);
  if (result.outcome == Io::failed) outbox_.discard();  // the reader finds the end of the stream
  const bool grown = memory_.has_grown();
  lock.unlock();
  if (grown) memory_.watch(work_);
  return result.outcome == Io::done;
}

void StreamSender::await_room() noexcept {
  const os::LockGuard lock(mutex_);
  link_.await_room(outbox_.front().size());
}

void StreamSender::close_when_sent(Time deadline) noexcept {
  bool nothing_waits = false;
  {
    const os::LockGuard lock(mutex_);
    if (!end_.takes_more()) return;
    end_.refuse_more();
    outbox_.refuse();
    nothing_waits = outbox_.empty() && link_.has_arrived();
  }
  try {
    if (!nothing_waits && drainer_->post([this, kept = work(), deadline] { close_once_sent(deadline); })) return;
  } catch (const std::bad_alloc&) {
    // Then the connection ends without the rest, as when the reactor has stopped.
  }
  close_for(StreamEnd::closed_here);
}

// Waits until the peer's system has everything that was sent, and then closes. Thread: the one that drains.
void StreamSender::close_once_sent(Time deadline) noexcept try {
  bool all_sent = false;
  {
    const os::LockGuard lock(mutex_);
    if (!is_open()) return;
    all_sent = outbox_.empty();
    if (all_sent) link_.finish_sending();
  }
  const Time now = os::now();
  if ((all_sent && link_.has_arrived()) || now >= deadline || drainer_->is_stopping())
    return (void)close_for(StreamEnd::closed_here);
  drainer_->schedule(std::min(deadline, now + between_arrivals),
                     [this, kept = work(), deadline] { close_once_sent(deadline); });
} catch (const std::bad_alloc&) {
  close_for(errors::no_memory);
}

bool StreamSender::wait_until_closed(Time deadline) noexcept {
  const os::LockGuard lock(mutex_);
  return end_.await(mutex_, deadline);
}

Error StreamSender::reason() const noexcept {
  const os::LockGuard lock(mutex_);
  return end_.reason();
}

Error StreamSender::close_for(Error why) noexcept {
  bool drains = false;
  {
    const os::LockGuard lock(mutex_);
    if (!is_open()) return end_.reason();
    outbox_.close();
    drains = draining_ && drains_apart();
    end_.close(why);
  }
  link_.shut();
  tell_if_drained();
  try {
    ask_for_update();  // refused: the reactor stops, and finishes every connection that it still knows
    if (drains) ask_for_drain();
  } catch (const std::bad_alloc&) {
    // If the reactor takes care of a connection, it waits for its socket: it finds the end there.
  }
  return why;
}

bool StreamSender::ask_for_drain() {
  if (!drains_apart()) return ask_for_update();
  return drainer_->post([self = work()] { self->drain(); });
}

bool StreamSender::ask_for_update() {
  return reactor_->post([self = work()] { self->update(); });
}

}  // namespace corelane::transport
