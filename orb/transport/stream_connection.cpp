#include "orb/transport/detail/stream_connection.h"

#include <poll.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <mutex>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/transport/detail/link_handlers.h"
#include "orb/transport/detail/read_gate.h"

namespace corelane::transport {
namespace {

constexpr Error comm_failure(std::uint32_t minor) { return {.kind = ErrorKind::comm_failure, .minor = minor}; }
constexpr Error lost = comm_failure(minor::connection_lost);
constexpr Error misused{.kind = ErrorKind::bad_inv_order, .minor = minor::connection_lost};
using errors::no_memory;
constexpr Error backlog_full{.kind = ErrorKind::transient, .minor = minor::send_backlog};
constexpr Error backlogs_full{.kind = ErrorKind::transient, .minor = minor::send_backlogs};
constexpr Error stalled{.kind = ErrorKind::transient, .minor = minor::send_stalled};
constexpr Error no_room{.kind = ErrorKind::timeout, .minor = minor::no_send_room};

// Of one connection, until the reactor serves the others.
constexpr int reads_per_turn = 4;
constexpr int writes_per_turn = 8;
constexpr std::chrono::milliseconds between_tries{1};  // to send to a peer who does not tell that there is room

PeerId next_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  // relaxed: only uniqueness counts
  return PeerId{last.fetch_add(1, std::memory_order_relaxed) + 1};
}

}  // namespace

StreamConnection::StreamConnection(std::unique_ptr<Link> link, std::shared_ptr<Reactor::Impl> reactor,
                                   const ConnectionLimits& limits, std::optional<ConnectionCensus::Ticket> ticket)
    : link_(std::move(link)),
      reactor_(std::move(reactor)),
      backlog_limit_(limits.backlog),
      backlog_timeout_(limits.backlog_timeout),
      idle_timeout_(limits.idle_timeout),
      local_(link_->local()),
      peer_(link_->peer()),
      credentials_(link_->credentials()),
      id_(next_id()),
      last_traffic_(os::now()),
      backlog_(limits.backlogs),
      ticket_(std::move(ticket)) {}

void StreamConnection::take_seat() {
  if (ticket_) ticket_->belongs_to(weak_from_this());
}

bool StreamConnection::begin_receiving() noexcept {
  Mode expected = Mode::free;
  // PAIR connection.mode: acquire here <- release where a reader leaves: end_receiving() and
  // detach/finish_on_reactor(). relaxed on failure: the caller's bug, answered without touching the stream
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
  return {.kind = ErrorKind::timeout, .minor = minor::deadline_passed};
}

Expected<std::size_t> StreamConnection::receive_into(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                                     Lent* lent) noexcept {
  if (!begin_receiving()) return misused;
  const IoResult result = link_->receive_until(buffer, deadline, strategy, lent);
  end_receiving();
  if (!is_open() || result.outcome != Io::done) return why_not_received(result.outcome);
  return result.count;
}

Expected<std::size_t> StreamConnection::glance_into(MutableBytes buffer, Lent* lent) noexcept {
  if (!begin_receiving()) return misused;
  const IoResult result = link_->glance(buffer, lent);
  end_receiving();
  if (!is_open() || result.outcome != Io::done) return why_not_received(result.outcome);
  return result.count;
}

Expected<Arrival> StreamConnection::take_into(MutableBytes buffer, Lent* lent) noexcept {
  if (!begin_receiving()) return misused;
  Arrival arrival;
  const IoResult result = link_->take(buffer, arrival.at, lent);
  end_receiving();
  if (!is_open() || result.outcome != Io::done) return why_not_received(result.outcome);
  arrival.count = result.count;
  return arrival;
}

void StreamConnection::renew() noexcept {
  // relaxed: a time stamp for the idle time-out, which no other data depends on
  if (idle_timeout_ > Duration::zero()) last_traffic_.store(os::now(), std::memory_order_relaxed);
}

Expected<void> StreamConnection::send(std::span<const Bytes> parts, std::uint64_t& position) noexcept try {
  renew();
  Lock lock(mutex_);
  if (!is_open()) return reason_;
  if (backlog_.empty() || backlog_.has_room(length_of(parts), backlog_limit_))
    return put(parts, position, std::move(lock));
  lock.unlock();
  return close_for(backlog_full);
} catch (const std::bad_alloc&) {
  return close_for(no_memory);
}

// Of an open connection, and there is room.
Expected<void> StreamConnection::put(std::span<const Bytes> parts, std::uint64_t& position, Lock lock) {
  position = link_->position();
  const IoResult sent = backlog_.empty() ? link_->send_some(parts) : IoResult{Io::would_block};
  if (sent.outcome == Io::done) return {};
  // The stream stays readable: what the peer said before it went is still there, and its end will be seen.
  if (sent.outcome == Io::failed) return lost;
  if (backlog_.empty()) last_taken_ = os::now();
  if (!backlog_.append(parts, sent.count)) {
    lock.unlock();
    return close_for(backlogs_full);
  }
  if (std::exchange(draining_, true)) return {};
  lock.unlock();
  if (!ask_for_update()) return close_for(comm_failure(minor::shutting_down));
  return {};
}

// On the stack of a thread that waits for room.
struct StreamConnection::WaitingSender {
  const std::size_t bytes;
  const Time since = os::now();
  os::Parker parker{};
};

Expected<void> StreamConnection::send_by(Time until, std::span<const Bytes> parts, std::uint64_t& position) noexcept
    try {
  renew();
  Lock lock(mutex_);
  if (const auto in_vain = await_room(lock, length_of(parts), until)) {
    lock.unlock();
    return *in_vain == stalled ? close_for(stalled) : *in_vain;
  }
  if (!is_open()) return reason_;
  return put(parts, position, std::move(lock));
} catch (const std::bad_alloc&) {
  return close_for(no_memory);
}

// Nothing: there is room, or the connection has ended.
std::optional<Error> StreamConnection::await_room(Lock& lock, std::size_t bytes, Time until) {
  if (senders_.empty() && has_room_for(bytes)) return std::nullopt;
  WaitingSender self{bytes};
  senders_.push_back(&self);
  std::optional<Error> in_vain;
  // Bound: `until`, or that the peer takes nothing.
  while (is_open() && (senders_.front() != &self || !has_room_for(bytes)) && !(in_vain = why_in_vain(self, until))) {
    const Time wake_at = std::min(until, stalls_at(self));
    lock.unlock();
    self.parker.park(wake_at);
    lock.lock();
  }
  std::erase(senders_, &self);
  call_next_sender();
  return in_vain;
}

// For who may wait.
bool StreamConnection::has_room_for(std::size_t bytes) const noexcept {
  return backlog_.has_room(bytes, backlog_limit_ / 2);
}

// An empty backlog waits for the sender who is next, not for the peer.
Time StreamConnection::stalls_at(const WaitingSender& sender) const noexcept {
  return backlog_.empty() ? never : std::max(last_taken_, sender.since) + backlog_timeout_;
}

std::optional<Error> StreamConnection::why_in_vain(const WaitingSender& sender, Time until) const noexcept {
  const Time now = os::now();
  if (now >= stalls_at(sender)) return stalled;
  if (now >= until) return no_room;
  return std::nullopt;
}

// Under the lock, which who waits needs before he goes.
void StreamConnection::call_next_sender() noexcept {
  if (!senders_.empty() && has_room_for(senders_.front()->bytes)) senders_.front()->parker.unpark();
}

// A part of the link's memory, until it is sent or let go.
class StreamConnection::OwnBerth final : public Berth {
 public:
  explicit OwnBerth(std::shared_ptr<StreamConnection> connection) noexcept : connection_(std::move(connection)) {}
  OwnBerth(const OwnBerth&) = delete;
  OwnBerth& operator=(const OwnBerth&) = delete;
  ~OwnBerth() override {
    const std::lock_guard lock(connection_->mutex_);
    connection_->link_->give_back(berthed_.number);
  }
  MutableBytes bytes() const noexcept override { return berthed_.bytes; }
  // Under the connection's lock. False: there is none.
  bool take(std::size_t bytes) {
    berthed_ = connection_->link_->lend(bytes);
    return !berthed_.bytes.empty();
  }

 private:
  const std::shared_ptr<StreamConnection> connection_;
  Link::Berthed berthed_;
};

std::unique_ptr<Berth> StreamConnection::berth(std::size_t bytes) noexcept try {
  auto made = std::make_unique<OwnBerth>(shared_from_this());
  bool taken = false;
  {
    const std::lock_guard lock(mutex_);
    taken = is_open() && backlog_.empty() && made->take(bytes);  // what waits behind other bytes is copied anyhow
  }
  return taken ? std::move(made) : nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void StreamConnection::watch(std::shared_ptr<Watcher> watcher) {
  Mode expected = Mode::free;
  // PAIR connection.mode: acquire here <- release in end_receiving(). The reactor reads after that caller.
  // relaxed on failure: the caller's bug
  const bool mine =
      mode_.compare_exchange_strong(expected, Mode::watched, std::memory_order_acquire, std::memory_order_relaxed);
  assert(mine && "watch() while another reads");
  if (!mine) return watcher->on_closed(misused);
  // relaxed: see renew()
  last_traffic_.store(os::now(), std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    watcher_ = std::move(watcher);
  }
  try {
    if (ask_for_update()) return;
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    watcher_.reset();  // which may keep this connection, as this one keeps it
    // PAIR connection.mode: release here -> acquire in begin_receiving() and watch(). Nobody reads.
    mode_.store(Mode::free, std::memory_order_release);
    throw;
  }
  const auto finish = [this] { on_stopping(); };
  if (!reactor_->run_and_wait(finish)) finish();  // the reactor's thread has ended: this one stands in for it
}

void StreamConnection::unwatch() {
  if (!reactor_->run_and_wait([this] { detach_on_reactor(); })) detach_on_reactor();  // as in watch()
}

void StreamConnection::expect_by(Time deadline) noexcept try {
  // relaxed: the update that follows is ordered by the reactor's queue, or by being the same thread
  expected_by_.store(deadline, std::memory_order_relaxed);
  if (!reactor_->on_reactor_thread()) {
    ask_for_update();  // refused: the connection is closed with the reactor
  } else if (active_watcher_) {
    update_timer_on_reactor();
  }
} catch (const std::bad_alloc&) {
  close_for(no_memory);
}

// relaxed: whoever reads next finds it or not
void StreamConnection::read_for_tasks() noexcept { for_tasks_.store(true, std::memory_order_relaxed); }

void StreamConnection::close() noexcept { close_for(comm_failure(minor::closed_here)); }

bool StreamConnection::is_open() const noexcept {
  // PAIR connection.closed: acquire here <- release in close_for().
  return !closed_.load(std::memory_order_acquire);
}

Error StreamConnection::reason() noexcept {
  const std::lock_guard lock(mutex_);
  return reason_;
}

Error StreamConnection::close_for(Error why) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!is_open()) return reason_;
    reason_ = why;
    backlog_.clear();
    // PAIR connection.closed: release here -> acquire in is_open(). After it a woken receiver knows why it woke.
    closed_.store(true, std::memory_order_release);
    for (WaitingSender* sender : senders_) sender->parker.unpark();
  }
  link_->shut();
  try {
    ask_for_update();  // refused: the reactor stops, which finishes every connection that it still knows
  } catch (const std::bad_alloc&) {
    // A connection that the reactor looks after is one whose socket it waits for: it finds the end there.
  }
  return why;
}

bool StreamConnection::ask_for_update() {
  return reactor_->post([self = shared_from_this()] { self->update_on_reactor(); });
}

// Makes what the reactor does for this connection agree with what it should do.
void StreamConnection::update_on_reactor() noexcept try {
  bool write = false;
  {
    const std::lock_guard lock(mutex_);
    active_watcher_ = watcher_;
    write = !backlog_.empty();
    if (!write) draining_ = false;
  }
  if (!is_open()) return finish_on_reactor();
  if (!active_watcher_ && !write) return release_on_reactor();
  if (!watch_on_reactor(write)) {
    close_for(reactor_->is_stopping() ? comm_failure(minor::shutting_down) : lost);
    return finish_on_reactor();
  }
  if (active_watcher_) arm_read_on_reactor();
  if (write) arm_write_on_reactor();
  if (active_watcher_) update_timer_on_reactor();
} catch (const std::bad_alloc&) {
  give_up_on_reactor();
}

// False when the system does not let it.
bool StreamConnection::watch_on_reactor(bool room) {
  if (!readiness_) readiness_ = reactor_->watch(link_->bytes_descriptor(), shared_from_this());
  if (!end_ && link_->end_descriptor() >= 0) {
    end_ =
        reactor_->watch(link_->end_descriptor(), std::make_shared<EndHandler>(shared_from_this(), *link_, end_told_));
    if (!end_) return false;
    end_->arm_read();
  }
  if (room && !room_ && link_->room() == Link::Room::readable)
    room_ = reactor_->watch(link_->room_descriptor(), std::make_shared<RoomHandler>(shared_from_this()));
  return readiness_ && (!room || link_->room() != Link::Room::readable || room_);
}

void StreamConnection::arm_read_on_reactor() {
  if (std::exchange(read_armed_, true)) return;
  if (!link_->await_bytes() || end_told_) link_->nudge();
  readiness_->arm_read();
}

void StreamConnection::try_again_on_reactor() {
  reactor_->schedule(os::now() + between_tries, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && self->readiness_) self->on_writable();
  });
}

void StreamConnection::arm_write_on_reactor() {
  if (std::exchange(write_armed_, true)) return;
  if (link_->room() == Link::Room::untold) return try_again_on_reactor();
  if (!room_) return readiness_->arm_write();
  {
    const std::lock_guard lock(mutex_);
    link_->await_room(backlog_.front().size());
  }
  room_->arm_read();
}

// What the reactor cannot wait for, it lets go.
void StreamConnection::give_up_on_reactor() noexcept {
  close_for(no_memory);
  finish_on_reactor();
}

void StreamConnection::release_on_reactor() {
  if (!readiness_) return;
  readiness_.reset();
  end_.reset();
  room_.reset();
  read_armed_ = write_armed_ = read_waits_ = false;
  link_->released();
}

// The last thing that the reactor does for the connection: on_closed, once.
void StreamConnection::finish_on_reactor() {
  release_on_reactor();
  active_watcher_.reset();
  std::shared_ptr<Watcher> watcher;
  Error why;
  {
    const std::lock_guard lock(mutex_);
    watcher = std::move(watcher_);
    why = reason_;
  }
  if (!watcher) return;
  // PAIR connection.mode: release here -> acquire in begin_receiving() and watch().
  mode_.store(Mode::free, std::memory_order_release);
  watcher->on_closed(why);
}

void StreamConnection::detach_on_reactor() {
  std::shared_ptr<Watcher> watcher;  // dies after the lock
  {
    const std::lock_guard lock(mutex_);
    watcher = std::move(watcher_);
  }
  if (!watcher) return;
  update_on_reactor();
  // PAIR connection.mode: release here -> acquire in begin_receiving() and watch(). The reactor reads no more.
  mode_.store(Mode::free, std::memory_order_release);
}

// What waits counts as armed: its turn comes without another readiness.
bool StreamConnection::defer_read() {
  // relaxed: see read_for_tasks()
  if (for_tasks_.load(std::memory_order_relaxed)) reads_.payer = ReadPayer::tasks;
  read_waits_ = active_watcher_ && is_open() && reactor_->reads().defers(reads_, weak_from_this());
  read_armed_ = read_armed_ || read_waits_;
  return read_waits_;
}

void StreamConnection::on_readable() noexcept try {
  read_armed_ = false;
  if (defer_read()) return;
  if (active_watcher_) link_->stop_awaiting();
  const MutableBytes buffer = reactor_->read_buffer();
  for (int turn = 0; turn < reads_per_turn && is_open(); ++turn) {
    const std::shared_ptr<Watcher> watcher = active_watcher_;
    if (!watcher) break;  // taken back, perhaps by the last on_bytes()
    Lent lent;
    const IoResult result = link_->receive_some(buffer, &lent);
    if (result.outcome == Io::would_block) break;
    if (result.outcome == Io::failed || result.count == 0) {
      close_for(result.outcome == Io::failed ? link_->failure() : comm_failure(minor::peer_closed));
      break;
    }
    const Time received = os::now();
    // relaxed: see renew()
    last_traffic_.store(received, std::memory_order_relaxed);
    lent.keeper ? watcher->on_lent(std::move(lent), received) : watcher->on_bytes(buffer.first(result.count), received);
    if (reactor_->reads().is_limited()) break;
    // Before the descriptor is asked for, one more look: who answers at once is often called at once.
    if (result.count < buffer.size() && (!active_watcher_ || link_->await_bytes())) break;
  }
  reactor_->reads().charge(reads_);
  // Nothing but the next read is to be prepared: no lock, which a sender that was pre-empted in its system call may
  // hold.
  if (!active_watcher_ || !is_open()) return update_on_reactor();
  arm_read_on_reactor();
  update_timer_on_reactor();
} catch (const std::bad_alloc&) {
  give_up_on_reactor();
}

// Unless it was given back meanwhile, and perhaps watched anew.
void StreamConnection::on_read_turn() noexcept {
  if (read_waits_) on_readable();
}

void StreamConnection::on_writable() noexcept {
  write_armed_ = false;
  for (int turn = 0; turn < writes_per_turn; ++turn) {
    const std::lock_guard lock(mutex_);
    const Bytes next = backlog_.front();
    if (next.empty()) break;
    const IoResult result = link_->send_some(std::span<const Bytes>{&next, 1});
    backlog_.consume(result.count);
    if (result.count > 0) last_taken_ = os::now();
    if (result.outcome == Io::failed) backlog_.clear();  // the stream's end is for whoever reads it
    call_next_sender();
    if (result.outcome != Io::done) break;
  }
  update_on_reactor();
}

void StreamConnection::on_stopping() noexcept {
  close_for(comm_failure(minor::shutting_down));
  finish_on_reactor();
}

// relaxed: see renew()
Time StreamConnection::quiet_since() const noexcept { return last_traffic_.load(std::memory_order_relaxed); }

bool StreamConnection::give_way() noexcept {
  if (!is_idle_on_reactor()) return false;
  const std::shared_ptr<Watcher> watcher = active_watcher_;
  watcher->give_way();
  ticket_.reset();
  return true;
}

// Bytes that nobody has read yet are something under way, too.
bool StreamConnection::is_idle_on_reactor() noexcept {
  if (!active_watcher_ || !is_open() || read_waits_ || !active_watcher_->is_idle()) return false;
  {
    const std::lock_guard lock(mutex_);
    if (!backlog_.empty()) return false;
  }
  pollfd unread{.fd = link_->descriptor(), .events = POLLIN, .revents = 0};
  return poll(&unread, 1, 0) == 0;
}

Time StreamConnection::time_limit() const noexcept {
  // relaxed: see expect_by() and renew()
  const Time expected = expected_by_.load(std::memory_order_relaxed);
  if (idle_timeout_ <= Duration::zero()) return expected;
  return std::min(expected, last_traffic_.load(std::memory_order_relaxed) + idle_timeout_);
}

// A later limit than the one waited for is found when that one comes.
void StreamConnection::update_timer_on_reactor() {
  const Time limit = time_limit();
  if (limit >= timer_at_) return;
  reactor_->cancel(timer_);
  timer_at_ = limit;
  timer_ = reactor_->schedule(limit, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_timer();
  });
}

void StreamConnection::on_timer() noexcept try {
  timer_at_ = never;
  if (!active_watcher_ || !is_open()) return;
  const Time now = os::now();
  // relaxed: see expect_by()
  if (now >= expected_by_.load(std::memory_order_relaxed)) {
    close_for({.kind = ErrorKind::timeout, .minor = minor::deadline_passed});
  } else if (now >= time_limit()) {
    close_for(comm_failure(minor::idle_timeout));
  } else {
    update_timer_on_reactor();
  }
} catch (const std::bad_alloc&) {
  give_up_on_reactor();
}

}  // namespace corelane::transport
