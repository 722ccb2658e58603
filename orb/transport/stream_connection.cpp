// The functions of StreamConnection that callers use. stream_on_reactor.cpp has what the reactor does for it.
#include "orb/transport/detail/stream_connection.h"

#include <poll.h>

#include <cassert>
#include <mutex>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/base/peer.h"
#include "orb/channel/channel.h"
#include "orb/channel/growth_meter.h"
#include "orb/os/clock.h"
#include "orb/os/own_user.h"
#include "orb/transport/transport_kind.h"

namespace corelane::transport {
namespace {

constexpr Error misused{.kind = ErrorKind::bad_inv_order, .minor = minor::connection_lost};
constexpr Error closed_here = ended_by(minor::closed_here);
constexpr Error backlog_full{.kind = ErrorKind::transient, .minor = minor::send_backlog};
constexpr std::size_t worth_watching = 4096;  // bytes of a send; a channel takes no memory for less
constexpr Error backlogs_full{.kind = ErrorKind::transient, .minor = minor::send_backlogs};

PeerId next_id(const std::optional<ConnectionLimiter::Ticket>& ticket,
               const std::optional<PeerCredentials>& peer) noexcept {
  static std::atomic<std::uint64_t> last{0};
  const bool of_own_user = peer && (peer->user == 0 || os::is_own_user(peer->user));
  // relaxed: only uniqueness counts
  return peer_of(last.fetch_add(1, std::memory_order_relaxed) + 1, ticket ? ticket->holder().number() : 0, of_own_user);
}

}  // namespace

// ChannelMeter makes the peer's account count what its channel takes.
class StreamConnection::ChannelMeter final : public channel::GrowthMeter {
 public:
  explicit ChannelMeter(std::shared_ptr<MemoryAccount> account) noexcept : account_(std::move(account)) {}
  bool take(std::size_t bytes, bool is_promised) noexcept override {
    return account_->grow_channel(bytes, is_promised);
  }
  void give_back(std::size_t bytes) noexcept override { account_->shrink_channel(bytes); }

 private:
  const std::shared_ptr<MemoryAccount> account_;
};

StreamConnection::~StreamConnection() = default;

StreamConnection::StreamConnection(std::unique_ptr<Link> link, std::shared_ptr<Reactor::Impl> reactor,
                                   const ConnectionLimits& limits, std::optional<ConnectionLimiter::Ticket> ticket)
    : link_(std::move(link)),
      reactor_(std::move(reactor)),
      drainer_(reactor_->ordinary()),
      idle_timeout_(limits.idle_timeout),
      local_(link_->local()),
      peer_(link_->peer()),
      credentials_(link_->credentials()),
      id_(next_id(ticket, credentials_)),
      memory_(ticket && limits.memory
                  ? limits.memory->open(ticket->holder().number(), credentials_ ? credentials_->process : 0)
                  : nullptr),
      channel_meter_(memory_ && link_->channel() != nullptr ? std::make_unique<ChannelMeter>(memory_) : nullptr),
      last_traffic_(os::now()),
      outbox_(limits.backlog, limits.backlog_timeout, memory_),
      reads_{.peer = id_},
      ticket_(std::move(ticket)) {
  if (channel_meter_) link_->channel()->measure_growth(channel_meter_.get());
}

void StreamConnection::register_evictable() {
  if (ticket_) ticket_->belongs_to(weak_from_this());
}

bool StreamConnection::begin_receiving() noexcept {
  Mode expected = Mode::free;
  // PAIR connection.mode: acquire here <- release in end_receiving() and detach/finish_on_reactor(), where a reader
  // leaves. relaxed on failure: this is a bug of the caller, answered without touching the stream
  const bool mine =
      mode_.compare_exchange_strong(expected, Mode::receiving, std::memory_order_acquire, std::memory_order_relaxed);
  assert(mine && "receive() while watched, or two at once");
  return mine;
}

void StreamConnection::end_receiving() noexcept {
  // PAIR connection.mode: release here -> acquire in begin_receiving() and watch(). The next reader reads after this.
  mode_.store(Mode::free, std::memory_order_release);
}

Error StreamConnection::why_not_received(Io outcome) noexcept {
  if (!is_open()) return reason();
  if (outcome == Io::failed) return close_for(link_->failure());
  return errors::deadline_passed;
}

Expected<std::size_t> StreamConnection::receive_into(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                                     BorrowedBytes* borrowed) noexcept {
  if (!begin_receiving()) return misused;
  const IoResult result = link_->receive_until(buffer, deadline, strategy, borrowed);
  end_receiving();
  if (!is_open() || result.outcome != Io::done) return why_not_received(result.outcome);
  return result.count;
}

Expected<std::size_t> StreamConnection::poll_receive_into(MutableBytes buffer, BorrowedBytes* borrowed) noexcept {
  if (!begin_receiving()) return misused;
  const IoResult result = link_->poll_receive(buffer, borrowed);
  end_receiving();
  if (!is_open() || result.outcome != Io::done) return why_not_received(result.outcome);
  return result.count;
}

Expected<Arrival> StreamConnection::take_into(MutableBytes buffer, BorrowedBytes* borrowed) noexcept {
  if (!begin_receiving()) return misused;
  Arrival arrival;
  const IoResult result = link_->take(buffer, arrival.at, borrowed);
  end_receiving();
  if (!is_open() || result.outcome != Io::done) return why_not_received(result.outcome);
  arrival.count = result.count;
  return arrival;
}

void StreamConnection::read_by(std::weak_ptr<Reader> reader) noexcept {
  const std::lock_guard lock(mutex_);
  reader_.swap(reader);
}

bool StreamConnection::await_bytes() noexcept {
  if (!begin_receiving()) return true;
  const bool none = link_->await_bytes();
  end_receiving();
  return none;
}

void StreamConnection::arm_descriptor() noexcept {
  if (!begin_receiving()) return;
  if (!link_->await_bytes()) link_->make_readable();
  end_receiving();
}

bool StreamConnection::await_drained() noexcept {
  // relaxed: this thread has sent the replies after which it asks; it need not know yet of replies that others have
  // sent
  if (!backlogged_.load(std::memory_order_relaxed)) return true;
  const std::lock_guard lock(mutex_);
  tells_when_drained_ = !outbox_.empty() && is_open();
  return !tells_when_drained_;
}

Time StreamConnection::backlog_taken_at() const noexcept {
  const std::lock_guard lock(mutex_);
  return outbox_.empty() ? never : outbox_.last_taken();
}

void StreamConnection::tell_if_drained() noexcept {
  if (memory_) memory_->tell_others();
  std::shared_ptr<Reader> reader;
  {
    const std::lock_guard lock(mutex_);
    backlogged_.store(!outbox_.empty(), std::memory_order_relaxed);  // relaxed: see await_drained()
    if (!tells_when_drained_ || (!outbox_.empty() && is_open())) return;
    tells_when_drained_ = false;
    reader = reader_.lock();
  }
  if (reader) reader->on_drained();
}

bool StreamConnection::is_channel() const noexcept { return local_.kind->shares_memory; }

Connection::PeerEnd StreamConnection::peer_end() const noexcept {
  pollfd end{.fd = link_->hang_up_descriptor(), .events = POLLRDHUP, .revents = 0};
  if (!is_open()) return PeerEnd::both_directions;
  if (poll(&end, 1, 0) <= 0) return PeerEnd::none;
  return (end.revents & (POLLHUP | POLLERR)) != 0 ? PeerEnd::both_directions : PeerEnd::sends_nothing;
}

bool StreamConnection::has_bytes() const noexcept {
  pollfd unread{.fd = link_->descriptor(), .events = POLLIN, .revents = 0};
  return poll(&unread, 1, 0) != 0;
}

void StreamConnection::renew() noexcept {
  // relaxed: a time stamp for the idle timeout; no other data depends on it
  if (idle_timeout_ > Duration::zero()) last_traffic_.store(os::now(), std::memory_order_relaxed);
}

Expected<void> StreamConnection::send(std::span<const Bytes> parts, std::uint64_t& position) noexcept try {
  renew();
  Lock lock(mutex_);
  if (!takes_more()) return why_refused();
  const std::size_t bytes = length_of(parts);
  const bool fits = outbox_.has_room(bytes);
  if (fits && outbox_.has_memory(bytes)) return put(parts, position, std::move(lock));
  lock.unlock();
  return close_for(fits ? backlogs_full : backlog_full);
} catch (const std::bad_alloc&) {
  return close_for(errors::no_memory);
}

// Sends or queues the parts. The connection is open, and there is room.
Expected<void> StreamConnection::put(std::span<const Bytes> parts, std::uint64_t& position, Lock lock) {
  position = link_->position();
  const IoResult sent = outbox_.empty() ? link_->send_some(parts) : IoResult{Io::would_block};
  if (sent.outcome == Io::done) {
    if (sent.count < worth_watching || !has_grown()) return {};
    lock.unlock();
    watch_memory();
    return {};
  }
  // The stream stays readable: what the peer sent before it ended is still there, and reading will find the end.
  if (sent.outcome == Io::failed) return ended_by(minor::connection_lost);
  outbox_.append(parts, sent.count);
  backlogged_.store(true, std::memory_order_relaxed);  // relaxed: see await_drained()
  if (std::exchange(draining_, true)) return {};
  lock.unlock();
  if (!ask_for_drain()) return close_for(ended_by(minor::shutting_down));
  return {};
}

Expected<void> StreamConnection::send_by(Time until, std::span<const Bytes> parts, std::uint64_t& position) noexcept
    try {
  renew();
  Lock lock(mutex_);
  if (const auto in_vain = outbox_.await_room(lock, length_of(parts), until)) {
    lock.unlock();
    return *in_vain == Outbox::stalled ? close_for(Outbox::stalled) : *in_vain;
  }
  if (!takes_more()) return why_refused();
  return put(parts, position, std::move(lock));
} catch (const std::bad_alloc&) {
  return close_for(errors::no_memory);
}

void StreamConnection::close_if_stalled(Time since) noexcept {
  Lock lock(mutex_);
  if (!outbox_.has_stalled(since)) return;
  lock.unlock();
  close_for(Outbox::stalled);
}

// ChannelSendBuffer is a part of the link's memory, until it is sent or given back.
class StreamConnection::ChannelSendBuffer final : public ReservedSendBuffer {
 public:
  explicit ChannelSendBuffer(std::shared_ptr<StreamConnection> connection) noexcept
      : connection_(std::move(connection)) {}
  ChannelSendBuffer(const ChannelSendBuffer&) = delete;
  ChannelSendBuffer& operator=(const ChannelSendBuffer&) = delete;
  ~ChannelSendBuffer() override {
    const std::lock_guard lock(connection_->mutex_);
    connection_->link_->give_back(berthed_.number);
  }
  MutableBytes bytes() const noexcept override { return berthed_.bytes; }
  // Call it under the connection's lock. Returns false if there is no memory.
  bool take(std::size_t bytes) {
    berthed_ = connection_->link_->lend(bytes);
    return !berthed_.bytes.empty();
  }

 private:
  const std::shared_ptr<StreamConnection> connection_;
  Link::Berthed berthed_;
};

std::unique_ptr<ReservedSendBuffer> StreamConnection::send_buffer(std::size_t bytes) noexcept try {
  auto made = std::make_unique<ChannelSendBuffer>(shared_from_this());
  bool taken = false, grown = false;
  {
    const std::lock_guard lock(mutex_);
    taken = is_open() && outbox_.empty() && made->take(bytes);  // what waits behind other bytes is copied anyway
    grown = taken && has_grown();
  }
  if (grown) watch_memory();
  return taken ? std::move(made) : nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void StreamConnection::watch(std::shared_ptr<Watcher> watcher) {
  Mode expected = Mode::free;
  // PAIR connection.mode: acquire here <- release in end_receiving(). The reactor reads after that caller.
  // relaxed on failure: this is a bug of the caller
  const bool mine =
      mode_.compare_exchange_strong(expected, Mode::watched, std::memory_order_acquire, std::memory_order_relaxed);
  assert(mine && "watch() while another reads");
  if (!mine) return watcher->on_closed(misused);
  // relaxed: see renew()
  last_traffic_.store(os::now(), std::memory_order_relaxed);
  paused_.store(false, std::memory_order_relaxed);  // relaxed: see resume_reading()
  {
    const std::lock_guard lock(mutex_);
    watcher_ = std::move(watcher);
  }
  try {
    if (ask_for_update()) return;
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    watcher_.reset();  // it may keep this connection, which keeps it
    // PAIR connection.mode: release here -> acquire in begin_receiving() and watch(). No thread reads.
    mode_.store(Mode::free, std::memory_order_release);
    throw;
  }
  const auto finish = [this] { on_stopping(); };
  if (!reactor_->run_and_wait(finish)) finish();  // the reactor's thread has ended, so this one does it
}

void StreamConnection::unwatch() {
  if (!reactor_->run_and_wait([this] { detach_on_reactor(); })) detach_on_reactor();  // as in watch()
}

void StreamConnection::pause_reading() noexcept {
  paused_.store(true, std::memory_order_relaxed);  // relaxed: only this thread reads it
}

void StreamConnection::resume_reading() noexcept try {
  paused_.store(false, std::memory_order_relaxed);  // relaxed: the update is ordered by the reactor's queue
  ask_for_update();                                 // refused: the connection is closed with the reactor
} catch (const std::bad_alloc&) {
  close_for(errors::no_memory);
}

void StreamConnection::expect_by(Time deadline) noexcept try {
  // relaxed: the reactor's queue orders the update that follows, or it is the same thread
  if (expected_by_.exchange(deadline, std::memory_order_relaxed) == deadline) return;
  if (!reactor_->on_reactor_thread()) {
    ask_for_update();  // refused: the connection is closed with the reactor
  } else if (active_watcher_) {
    update_timer_on_reactor();
  }
} catch (const std::bad_alloc&) {
  close_for(errors::no_memory);
}

// relaxed: the next reader may or may not find it
void StreamConnection::read_for_tasks() noexcept {
  if (for_tasks_.load(std::memory_order_relaxed) || for_tasks_.exchange(true, std::memory_order_relaxed)) return;
  if (link_->channel() != nullptr) do_elsewhere(&StreamConnection::keep_memory);
}

// relaxed: the thread that reads is the one that asks; if another thread has taken over, a note more or less does no
// harm
void StreamConnection::charge_message(bool is_foreseen) noexcept {
  // relaxed: as above
  (is_foreseen ? noted_message_ : noted_unforeseen_).store(true, std::memory_order_relaxed);
}

void StreamConnection::close() noexcept { close_for(closed_here); }

// Call these with the lock.
bool StreamConnection::takes_more() const noexcept { return is_open() && !ending_; }
Error StreamConnection::why_refused() const noexcept { return is_open() ? closed_here : reason_; }

void StreamConnection::close_when_sent(Time deadline) noexcept {
  bool nothing_waits = false;
  {
    const std::lock_guard lock(mutex_);
    if (!takes_more()) return;
    ending_ = true;
    outbox_.refuse();
    nothing_waits = outbox_.empty() && link_->has_arrived();
  }
  if (nothing_waits) return close();
  try {
    if (drainer_->post([self = shared_from_this(), deadline] { self->close_when_sent_on_reactor(deadline); })) return;
  } catch (const std::bad_alloc&) {
    // Then the connection ends without the rest, as when the reactor has stopped.
  }
  close();
}

// A thread that waits for the end; the object is on its stack.
struct StreamConnection::EndWaiter {
  os::Parker parker{};
  EndWaiter* next = nullptr;
};

bool StreamConnection::wait_until_closed(Time deadline) noexcept {
  EndWaiter self;
  Lock lock(mutex_);
  self.next = std::exchange(end_waiters_, &self);
  // Bound: the deadline.
  while (is_open() && os::now() < deadline) {
    lock.unlock();
    self.parker.park(deadline);
    lock.lock();
  }
  EndWaiter** at = &end_waiters_;
  while (*at != &self) at = &(*at)->next;  // bound: the threads that wait
  *at = self.next;
  return !is_open();
}

void StreamConnection::set_monitor(std::weak_ptr<ConnectionMonitor> monitor) {
  // relaxed: see renew()
  last_traffic_.store(os::now(), std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    monitor_ = std::move(monitor);
    monitored_ = true;
  }
  ask_for_update();  // refused: the reactor stops, and the connection with it
}

bool StreamConnection::is_open() const noexcept {
  // PAIR connection.closed: acquire here <- release in close_for().
  return !closed_.load(std::memory_order_acquire);
}

Error StreamConnection::reason() noexcept {
  const std::lock_guard lock(mutex_);
  return reason_;
}

Error StreamConnection::close_for(Error why) noexcept {
  bool drains = false;
  {
    const std::lock_guard lock(mutex_);
    if (!is_open()) return reason_;
    reason_ = why;
    outbox_.close();
    drains = draining_ && drains_apart();
    // PAIR connection.closed: release here -> acquire in is_open(). After it, a receiver that wakes up knows why.
    closed_.store(true, std::memory_order_release);
    for (EndWaiter* waiter = end_waiters_; waiter != nullptr; waiter = waiter->next) waiter->parker.unpark();
  }
  link_->shut();
  tell_if_drained();
  try {
    ask_for_update();  // refused: the reactor stops, and finishes every connection that it still knows
    if (drains) ask_for_drain();
  } catch (const std::bad_alloc&) {
    // If the reactor takes care of a connection, it waits for its socket: it finds the end there.
  }
  return why;
}

// Asks for draining what was put into the outbox, or reports that the outbox is closed.
bool StreamConnection::ask_for_drain() {
  if (!drains_apart()) return ask_for_update();
  return drainer_->post([self = shared_from_this()] { self->drain_on_ordinary(); });
}

bool StreamConnection::ask_for_update() {
  return reactor_->post([self = shared_from_this()] { self->update_on_reactor(); });
}

}  // namespace corelane::transport
