// What the reactor does for a StreamConnection: it reads for a watcher, drains the backlog and handles timeouts.
// Thread: the reactor's.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/transport/detail/link_handlers.h"
#include "orb/transport/detail/read_gate.h"
#include "orb/transport/detail/stream_connection.h"

namespace corelane::transport {
namespace {

// The reads or writes for one connection, until the reactor serves the others.
constexpr int reads_per_turn = 4;
constexpr int writes_per_turn = 8;
// Between two attempts to send over a link that does not report room.
constexpr std::chrono::milliseconds between_tries{1};
// Between two checks whether everything has arrived that was sent before the end.
constexpr std::chrono::milliseconds between_arrivals{1};

}  // namespace

// Makes what the reactor does for this connection match what it should do.
void StreamConnection::update_on_reactor() noexcept try {
  bool write = false, monitored = false;
  {
    const std::lock_guard lock(mutex_);
    active_watcher_ = watcher_;
    monitored = monitored_;
    write = !drains_apart() && !outbox_.empty();
    if (!write && !drains_apart()) draining_ = false;
  }
  if (!is_open()) return finish_on_reactor();
  if (monitored && !monitor_on_reactor()) {
    close_for(reactor_->is_stopping() ? ended_by(minor::shutting_down) : ended_by(minor::connection_lost));
    return finish_on_reactor();
  }
  if (monitored && !write && !active_watcher_) return;
  if (!active_watcher_ && !write) return release_on_reactor();
  if (!watch_on_reactor(write) || (active_watcher_ && is_paused() && !watch_end_on_reactor())) {
    close_for(reactor_->is_stopping() ? ended_by(minor::shutting_down) : ended_by(minor::connection_lost));
    return finish_on_reactor();
  }
  if (active_watcher_ && is_paused()) look_at_end_on_reactor();
  if (active_watcher_ && !is_paused()) arm_read_on_reactor();
  if (write) arm_write_on_reactor();
  if (active_watcher_) update_timer_on_reactor();
} catch (const std::bad_alloc&) {
  give_up_on_reactor();
}

// Makes the reactor report the peer's end from now on, and handle the idle time. Returns false if the system refuses.
bool StreamConnection::monitor_on_reactor() {
  const bool is_watched = watch_end_on_reactor();
  if (is_watched && idle_timeout_ > Duration::zero()) update_timer_on_reactor();
  return is_watched;
}

// Makes the reactor report the peer's end. Returns false if the system refuses.
bool StreamConnection::watch_end_on_reactor() {
  constexpr auto end = Reactor::Impl::Interest::end;
  std::unique_ptr<Readiness>& told = link_->hang_up_descriptor() == link_->bytes_descriptor() ? readiness_ : hang_up_;
  if (!told) told = reactor_->watch(link_->hang_up_descriptor(), shared_from_this(), end);
  return told != nullptr;
}

// Checks a paused connection for the peer's end. If nothing is left to read, reading resumes to find the end.
void StreamConnection::look_at_end_on_reactor() noexcept {
  const PeerEnd end = peer_end();
  if (end == PeerEnd::none) return;
  if (!has_unread()) {
    paused_.store(false, std::memory_order_relaxed);  // relaxed: see resume_reading()
  } else if (end == PeerEnd::both_directions) {
    const std::shared_ptr<Watcher> watcher = active_watcher_;
    watcher->on_peer_gone();
  }
}

std::shared_ptr<ConnectionMonitor> StreamConnection::monitor_of_open() noexcept {
  const std::lock_guard lock(mutex_);
  return is_open() ? monitor_.lock() : nullptr;
}

void StreamConnection::on_hang_up() noexcept {
  if (active_watcher_ && is_paused()) return update_on_reactor();
  if (const auto monitor = monitor_of_open()) monitor->on_peer_end();
}

// Waits until the peer's system has everything that was sent, and then closes.
void StreamConnection::close_when_sent_on_reactor(Time deadline) noexcept try {
  bool all_sent = false;
  {
    const std::lock_guard lock(mutex_);
    if (!is_open()) return;
    all_sent = outbox_.empty();
    if (all_sent) link_->finish_sending();
  }
  const Time now = os::now();
  if ((all_sent && link_->has_arrived()) || now >= deadline || drainer_->is_stopping()) return close();
  drainer_->schedule(std::min(deadline, now + between_arrivals),
                     [self = shared_from_this(), deadline] { self->close_when_sent_on_reactor(deadline); });
} catch (const std::bad_alloc&) {
  give_up_on_reactor();
}

// Watches the link's descriptors. Returns false if the system refuses.
bool StreamConnection::watch_on_reactor(bool room) {
  if (!readiness_) readiness_ = reactor_->watch(link_->bytes_descriptor(), shared_from_this());
  if (!end_ && link_->end_descriptor() >= 0) {
    end_ =
        reactor_->watch(link_->end_descriptor(), std::make_shared<EndHandler>(shared_from_this(), *link_, end_told_));
    if (!end_) return false;
    end_->arm_read();
  }
  if (room && !room_ && link_->write_readiness() == Link::WriteReadiness::readable)
    room_ = reactor_->watch(link_->room_descriptor(), std::make_shared<WritableHandler>(shared_from_this()));
  return readiness_ && (!room || link_->write_readiness() != Link::WriteReadiness::readable || room_);
}

void StreamConnection::arm_read_on_reactor(Readiness::Rest rest) {
  if (std::exchange(read_armed_, true)) return;
  if (!link_->await_bytes() || end_told_) link_->make_readable();
  readiness_->arm_read(rest);
}

void StreamConnection::try_again_on_reactor() {
  drainer_->schedule(os::now() + between_tries, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && self->write_armed_) self->on_writable();
  });
}

void StreamConnection::arm_write_on_reactor() {
  if (std::exchange(write_armed_, true)) return;
  if (link_->write_readiness() == Link::WriteReadiness::unknown) return try_again_on_reactor();
  if (!room_) {
    // Not one expression, because then the compiler would read the reactor's readiness_ here, too.
    if (drains_apart()) return writable_->arm_write();
    return readiness_->arm_write();
  }
  {
    const std::lock_guard lock(mutex_);
    link_->await_room(outbox_.front().size());
  }
  room_->arm_read();
}

// Closes a connection that the reactor has no memory to wait for.
void StreamConnection::give_up_on_reactor() noexcept {
  close_for(errors::no_memory);
  finish_on_reactor();
}

void StreamConnection::release_on_reactor() {
  if (!readiness_ && !hang_up_) return;
  readiness_.reset();
  hang_up_.reset();
  end_.reset();
  read_armed_ = read_waits_ = write_waits_ = false;
  if (!drains_apart()) let_backlog_go();
}

// Drainer tells the ordinary thread that more of the backlog can be sent. It is told by the link's descriptor for room,
// or when the descriptor of the bytes is writable.
class StreamConnection::Drainer final : public ReadinessHandler {
 public:
  explicit Drainer(std::shared_ptr<StreamConnection> connection) noexcept : connection_(std::move(connection)) {}
  void on_readable() noexcept override { connection_->on_writable(); }
  void on_writable() noexcept override { connection_->on_writable(); }
  void on_stopping() noexcept override {
    connection_->close_for(ended_by(minor::shutting_down));
    connection_->let_backlog_go();
  }

 private:
  const std::shared_ptr<StreamConnection> connection_;
};

// Makes what the ordinary thread does for this connection match what waits.
void StreamConnection::drain_on_ordinary() noexcept try {
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    waits = is_open() && !outbox_.empty();
    if (!waits) draining_ = false;
  }
  if (!waits) return let_backlog_go();
  constexpr auto end = Reactor::Impl::Interest::end;
  const Link::WriteReadiness room = link_->write_readiness();
  if (room == Link::WriteReadiness::readable) {
    if (!room_) room_ = drainer_->watch(link_->room_descriptor(), std::make_shared<Drainer>(shared_from_this()));
  } else if (room == Link::WriteReadiness::writable && !writable_) {
    writable_ = drainer_->watch(link_->bytes_descriptor(), std::make_shared<Drainer>(shared_from_this()), end);
  }
  if (room_ || writable_ || room == Link::WriteReadiness::unknown) return arm_write_on_reactor();
  close_for(drainer_->is_stopping() ? ended_by(minor::shutting_down) : ended_by(minor::connection_lost));
} catch (const std::bad_alloc&) {
  close_for(errors::no_memory);
  let_backlog_go();
}

void StreamConnection::let_backlog_go() noexcept {
  room_.reset();
  writable_.reset();
  write_armed_ = false;
}

// Ends the reactor's work for the connection, and calls on_closed() once.
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
  std::shared_ptr<Watcher> watcher;  // destroyed after the lock
  {
    const std::lock_guard lock(mutex_);
    watcher = std::move(watcher_);
  }
  if (!watcher) return;
  update_on_reactor();
  // PAIR connection.mode: release here -> acquire in begin_receiving() and watch(). The reactor reads no more.
  mode_.store(Mode::free, std::memory_order_release);
}

bool StreamConnection::defer(ReadinessHandler::Turn turn) {
  const bool of_all = reactor_->reads().limits(ReadLimit::everything);
  if (!of_all && (turn == ReadinessHandler::Turn::write || !reactor_->reads().limits(ReadLimit::unforeseen)))
    return false;
  // relaxed: see read_for_tasks()
  if (for_tasks_.load(std::memory_order_relaxed)) reads_.share = ReadShare::with_tasks;
  return reactor_->reads().defers(reads_, weak_from_this(), turn);
}

// Returns whether the read has to wait. A read that waits counts as armed: its turn comes without another readiness.
bool StreamConnection::defer_read() {
  if (active_watcher_ && is_open() && reactor_->reads().has_to_wait(reads_)) {
    const std::shared_ptr<Watcher> watcher = active_watcher_;
    if (watcher->read_elsewhere()) return true;
  }
  read_waits_ = active_watcher_ && is_open() && defer(ReadinessHandler::Turn::read);
  read_armed_ = read_armed_ || read_waits_;
  return read_waits_;
}

// Does the same for sending what waits.
bool StreamConnection::defer_write() {
  write_waits_ = is_open() && defer(ReadinessHandler::Turn::write);
  write_armed_ = write_armed_ || write_waits_;
  return write_waits_;
}

// Returns what the turn has read, and what the watcher has reported about it.
ReadTurn StreamConnection::read_so_far() noexcept {
  // relaxed: see charge_message()
  const bool unforeseen = noted_unforeseen_.load(std::memory_order_relaxed) || !is_open();
  return {.bytes = turn_bytes_,
          .messages = unforeseen || noted_message_.load(std::memory_order_relaxed),  // relaxed: as above
          .unforeseen = unforeseen};
}

void StreamConnection::on_readable() noexcept try {
  read_armed_ = false;
  if (is_paused()) return;
  if (defer_read()) return;
  if (active_watcher_) link_->stop_awaiting();
  // relaxed: see charge_message()
  noted_message_.store(false, std::memory_order_relaxed);
  noted_unforeseen_.store(false, std::memory_order_relaxed);  // relaxed: as above
  bool has_all = false;
  turn_bytes_ = 0;
  for (int turn = 0; turn < reads_per_turn && is_open() && !is_paused(); ++turn) {
    const std::shared_ptr<Watcher> watcher = active_watcher_;
    if (!watcher) break;  // the last on_bytes() may have ended the watching
    const MutableBytes buffer = reactor_->read_buffer(watcher->rest_of_message());
    BorrowedBytes borrowed;
    const IoResult result = link_->receive_some(buffer, &borrowed);
    has_all = result.count < buffer.size();
    if (result.outcome == Io::would_block) break;
    if (result.outcome == Io::failed || result.count == 0) {
      close_for(result.outcome == Io::failed ? link_->failure() : ended_by(minor::peer_closed));
      break;
    }
    const Time received = os::now();
    turn_bytes_ += result.count;
    // relaxed: see renew()
    last_traffic_.store(received, std::memory_order_relaxed);
    borrowed.storage ? watcher->on_borrowed(std::move(borrowed), received)
                     : watcher->on_bytes(buffer.first(result.count), received);
    if (reactor_->reads().is_over(reads_, read_so_far())) break;
    // Tries one more read before the descriptor is armed: a peer that gets a reply at once often sends the next request
    // at once.
    if (has_all && (!active_watcher_ || is_paused() || link_->await_bytes())) break;
  }
  reactor_->reads().charge(reads_, read_so_far());
  // Only the next read has to be prepared, so this takes no lock. A sender that was preempted in its system call may
  // hold the lock.
  if (!active_watcher_ || !is_open() || is_paused()) return update_on_reactor();
  arm_read_on_reactor(has_all && link_->tells_of_more() ? Readiness::Rest::none : Readiness::Rest::unknown);
  update_timer_on_reactor();
} catch (const std::bad_alloc&) {
  give_up_on_reactor();
}

// Runs a deferred turn, unless it was cancelled meanwhile. After that the connection may have been watched again.
void StreamConnection::on_turn(ReadinessHandler::Turn turn) noexcept {
  if (turn == ReadinessHandler::Turn::read && read_waits_) on_readable();
  if (turn == ReadinessHandler::Turn::write && write_waits_) on_writable();
}

// With a limit, one turn sends as many bytes as one turn of reading reads. The rest waits for the next turn. If that
// would be a millisecond away, this turn sends several such pieces.
void StreamConnection::on_writable() noexcept try {
  write_armed_ = false;
  if (drains_apart()) {
    for (int turn = 0; turn < writes_per_turn && drain_some(false); ++turn) continue;
    tell_if_drained();
    return drain_on_ordinary();
  }
  if (defer_write()) return;
  const bool once =
      reactor_->reads().limits(ReadLimit::everything) && link_->write_readiness() != Link::WriteReadiness::unknown;
  const bool in_pieces = reactor_->reads().limits(ReadLimit::everything);
  for (int turn = 0; turn < (once ? 1 : writes_per_turn) && drain_some(in_pieces); ++turn) continue;
  if (reactor_->reads().limits(ReadLimit::everything)) reactor_->reads().charge(reads_);
  tell_if_drained();
  update_on_reactor();
} catch (const std::bad_alloc&) {
  give_up_on_reactor();
}

// Returns false if nothing waits, or the link takes no more now.
bool StreamConnection::drain_some(bool in_pieces) {
  Lock lock(mutex_);
  Bytes next = outbox_.front();
  if (next.empty()) return false;
  if (in_pieces) next = next.first(std::min(next.size(), ReadGate::bytes_per_turn));
  const IoResult result = link_->send_some(std::span<const Bytes>{&next, 1});
  outbox_.consume(result.count);
  if (result.outcome == Io::failed) outbox_.discard();  // the reader finds the end of the stream
  const bool grown = has_grown();
  lock.unlock();
  if (grown) watch_memory();
  return result.outcome == Io::done;
}

void StreamConnection::on_stopping() noexcept {
  close_for(ended_by(minor::shutting_down));
  finish_on_reactor();
}

// relaxed: see renew()
Time StreamConnection::quiet_since() const noexcept { return last_traffic_.load(std::memory_order_relaxed); }

bool StreamConnection::evict() noexcept {
  const std::shared_ptr<Watcher> watcher = active_watcher_;
  if (!watcher && !reader_gives_way()) return false;
  if (watcher && !is_idle_on_reactor()) return false;
  if (watcher) watcher->on_evict();
  ticket_.reset();
  return true;
}

bool StreamConnection::reader_gives_way() noexcept {
  std::shared_ptr<Reader> reader;
  {
    const std::lock_guard lock(mutex_);
    if (!is_open() || !outbox_.empty()) return false;
    reader = reader_.lock();
  }
  return reader && reader->try_evict();
}

// Returns whether the connection is idle. Bytes that were not read yet mean that it is not, but only after the first
// whole message.
bool StreamConnection::is_idle_on_reactor() noexcept {
  if (!active_watcher_ || !is_open() || read_waits_ || !active_watcher_->is_idle()) return false;
  {
    const std::lock_guard lock(mutex_);
    if (!outbox_.empty()) return false;
  }
  return !has_sent_message() || !has_bytes();
}

Time StreamConnection::time_limit() const noexcept {
  // relaxed: see expect_by() and renew()
  const Time expected = expected_by_.load(std::memory_order_relaxed);
  if (idle_timeout_ <= Duration::zero()) return expected;
  return std::min(expected, last_traffic_.load(std::memory_order_relaxed) + idle_timeout_);
}

// Sets the timer for the time limit. A later limit than the current timer's is found when that timer fires.
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
  const Time now = os::now();
  if (const auto monitor = monitor_of_open()) {
    const bool idle = now >= time_limit();
    if (idle) last_traffic_.store(now, std::memory_order_relaxed);  // relaxed: see renew()
    if (idle) monitor->on_idle();
    if (is_open()) update_timer_on_reactor();
    return;
  }
  if (!active_watcher_ || !is_open()) return;
  // relaxed: see expect_by()
  if (now >= expected_by_.load(std::memory_order_relaxed)) {
    close_for(errors::deadline_passed);
  } else if (now < time_limit()) {
    update_timer_on_reactor();
  } else if (active_watcher_->owes_answer()) {
    last_traffic_.store(now, std::memory_order_relaxed);  // relaxed: see renew()
    update_timer_on_reactor();
  } else {
    active_watcher_->on_evict();  // with a closing message, if its protocol has one
    close_for(ended_by(minor::idle_timeout));
  }
} catch (const std::bad_alloc&) {
  give_up_on_reactor();
}

}  // namespace corelane::transport
