#include "orb/transport/stream/stream_reading.h"

#include <cassert>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/transport/detail/read_gate.h"
#include "orb/transport/stream/stream_receiver.h"

namespace corelane::transport {
namespace {

// The reads for one connection, until the reactor serves the others.
constexpr int reads_per_turn = 4;

}  // namespace

StreamReading::StreamReading(Link& link, std::shared_ptr<Reactor::Impl> reactor, ReadMode& mode, TrafficTimes& times,
                             StreamSender& sender, PeerId peer)
    : link_(link),
      reactor_(std::move(reactor)),
      mode_(mode),
      times_(times),
      sender_(sender),
      account_(peer),
      readiness_(link, *reactor_),
      drain_(link, sender) {}

void StreamReading::watch(std::shared_ptr<Watcher> watcher) {
  const bool mine = mode_.begin_watching();
  assert(mine && "watch() while another reads");
  if (!mine) return watcher->on_closed(StreamReceiver::misused);
  times_.note(os::now());
  paused_.store(false, std::memory_order_relaxed);  // relaxed: see resume()
  observers_.set_watcher(std::move(watcher));
  try {
    if (sender_.ask_for_update()) return;
  } catch (const std::bad_alloc&) {
    observers_.set_watcher(nullptr);  // it may keep this connection, which keeps it
    mode_.end();
    throw;
  }
  const auto stop = [this] { on_stopping(); };
  if (!reactor_->run_and_wait(stop)) stop();  // the reactor's thread has ended, so this one does it
}

void StreamReading::unwatch() {
  if (!reactor_->run_and_wait([this] { detach(); })) detach();  // as in watch()
}

void StreamReading::resume() noexcept try {
  paused_.store(false, std::memory_order_relaxed);  // relaxed: the update is ordered by the reactor's queue
  sender_.ask_for_update();                         // refused: the connection is closed with the reactor
} catch (const std::bad_alloc&) {
  sender_.close_for(errors::no_memory);
}

void StreamReading::expect_by(Time deadline) noexcept try {
  if (!times_.expect_by(deadline)) return;
  if (!reactor_->on_reactor_thread()) {
    sender_.ask_for_update();  // refused: the connection is closed with the reactor
  } else if (active_watcher_) {
    update_timer();
  }
} catch (const std::bad_alloc&) {
  sender_.close_for(errors::no_memory);
}

void StreamReading::set_monitor(std::weak_ptr<ConnectionMonitor> monitor) {
  times_.note(os::now());
  observers_.set_monitor(std::move(monitor));
  sender_.ask_for_update();  // refused: the reactor stops, and the connection with it
}

// Makes what the reactor does for this connection match what it should do.
void StreamReading::update() noexcept try {
  active_watcher_ = observers_.watcher();
  const bool is_monitored = observers_.is_monitored();
  const bool writes = !sender_.drains_apart() && sender_.goes_on_draining();
  if (!sender_.is_open()) return finish();
  if (is_monitored && !watch_for_monitor()) return refused_by_system();
  if (!active_watcher_ && !writes) {
    if (!is_monitored) release();
    return;
  }
  if (!watch_descriptors(writes)) return refused_by_system();
  if (active_watcher_ && is_paused()) check_for_end();
  if (active_watcher_ && !is_paused()) readiness_.arm_read();
  if (writes) drain_.arm(readiness_.bytes(), self_);
  if (active_watcher_) update_timer();
} catch (const std::bad_alloc&) {
  give_up(errors::no_memory);
}

// Makes the reactor report the peer's end from now on, and handle the idle time. Returns false if the system refuses.
bool StreamReading::watch_for_monitor() {
  const bool is_watched = readiness_.watch_peer_end(self_);
  if (is_watched && times_.has_idle_timeout()) update_timer();
  return is_watched;
}

// Watches the descriptors that the connection needs now. Returns false if the system refuses.
bool StreamReading::watch_descriptors(bool to_write) {
  if (!readiness_.watch(self_) || (to_write && !drain_.watch_room(*reactor_, self_))) return false;
  return !active_watcher_ || !is_paused() || readiness_.watch_peer_end(self_);
}

// Checks a paused connection for the peer's end. If nothing is left to read, reading resumes to find the end.
void StreamReading::check_for_end() noexcept {
  const Connection::PeerEnd end = link_.peer_end();
  if (end == Connection::PeerEnd::none) return;
  if (!link_.has_unread()) {
    paused_.store(false, std::memory_order_relaxed);  // relaxed: see resume()
  } else if (end == Connection::PeerEnd::both_directions) {
    const std::shared_ptr<Watcher> watcher = active_watcher_;
    watcher->on_peer_gone();
  }
}

std::shared_ptr<ConnectionMonitor> StreamReading::monitor_of_open() const noexcept {
  return sender_.is_open() ? observers_.monitor() : nullptr;
}

void StreamReading::on_hang_up() noexcept {
  if (active_watcher_ && is_paused()) return update();
  if (const auto monitor = monitor_of_open()) monitor->on_peer_end();
}

// Closes a connection that the reactor cannot serve any more.
void StreamReading::give_up(Error why) noexcept {
  sender_.close_for(why);
  finish();
}

void StreamReading::refused_by_system() noexcept {
  give_up(ended_by(reactor_->is_stopping() ? minor::shutting_down : minor::connection_lost));
}

void StreamReading::release() noexcept {
  if (!readiness_.release()) return;
  read_waits_ = false;
  if (!sender_.drains_apart()) drain_.stop();
}

// Ends the reactor's work for the connection, and calls on_closed() once.
void StreamReading::finish() noexcept {
  release();
  active_watcher_.reset();
  const std::shared_ptr<Watcher> watcher = observers_.take_watcher();
  if (!watcher) return;
  mode_.end();
  watcher->on_closed(sender_.reason());
}

void StreamReading::detach() noexcept {
  const std::shared_ptr<Watcher> watcher = observers_.take_watcher();
  if (!watcher) return;
  update();
  mode_.end();  // the reactor reads no more
}

// Returns whether the read has to wait. A read that waits counts as armed: its turn comes without another readiness.
bool StreamReading::defer_read() {
  ReadGate& gate = reactor_->reads();
  read_waits_ = false;
  if (!active_watcher_ || !sender_.is_open()) return false;
  if (gate.has_to_wait(account_.account())) {
    const std::shared_ptr<Watcher> watcher = active_watcher_;
    if (watcher->read_elsewhere()) return true;
  }
  const bool is_limited = gate.limits(ReadLimit::everything) || gate.limits(ReadLimit::unforeseen);
  read_waits_ = active_watcher_ && sender_.is_open() && is_limited &&
                gate.defers(account_.account_for_turn(), self_, ReadinessHandler::Turn::read);
  if (read_waits_) readiness_.set_armed(true);
  return read_waits_;
}

void StreamReading::on_readable() noexcept try {
  readiness_.set_armed(false);
  if (is_paused()) return;
  if (defer_read()) return;
  if (active_watcher_) link_.stop_awaiting();
  account_.begin_turn();
  bool has_all = false;
  for (int turn = 0; turn < reads_per_turn && sender_.is_open() && !is_paused(); ++turn) {
    const std::shared_ptr<Watcher> watcher = active_watcher_;
    if (!watcher) break;  // the last on_bytes() may have ended the watching
    const MutableBytes buffer = reactor_->read_buffer(watcher->rest_of_message());
    BorrowedBytes borrowed;
    const IoResult result = link_.receive_some(buffer, &borrowed);
    has_all = result.count < buffer.size();
    if (result.outcome == Io::would_block) break;
    if (result.outcome == Io::failed || result.count == 0) {
      sender_.close_for(result.outcome == Io::failed ? link_.failure() : ended_by(minor::peer_closed));
      break;
    }
    const Time received = os::now();
    account_.add(result.count);
    times_.note(received);
    borrowed.storage ? watcher->on_borrowed(std::move(borrowed), received)
                     : watcher->on_bytes(buffer.first(result.count), received);
    if (reactor_->reads().is_over(account_.account(), account_.turn(!sender_.is_open()))) break;
    // Tries one more read before the descriptor is armed: a peer that gets a reply at once often sends the next request
    // at once.
    if (has_all && (!active_watcher_ || is_paused() || link_.await_bytes())) break;
  }
  reactor_->reads().charge(account_.account(), account_.turn(!sender_.is_open()));
  // Only the next read has to be prepared, so this takes no lock. A sender that was preempted in its system call may
  // hold the lock.
  if (!is_read()) return update();
  readiness_.arm_read(has_all && link_.tells_of_more() ? Readiness::Rest::none : Readiness::Rest::unknown);
  update_timer();
} catch (const std::bad_alloc&) {
  give_up(errors::no_memory);
}

// Runs a deferred turn, unless it was cancelled meanwhile. After that the connection may have been watched again.
void StreamReading::on_turn(ReadinessHandler::Turn turn) noexcept {
  if (turn == ReadinessHandler::Turn::read && read_waits_) on_readable();
  if (turn == ReadinessHandler::Turn::write && drain_.waits_for_turn()) on_writable();
}

void StreamReading::on_writable() noexcept try {
  if (drain_.send_turn(reactor_->reads(), account_, self_)) update();
} catch (const std::bad_alloc&) {
  give_up(errors::no_memory);
}

void StreamReading::on_stopping() noexcept { give_up(ended_by(minor::shutting_down)); }

bool StreamReading::is_idle() const noexcept {
  return active_watcher_ && sender_.is_open() && !read_waits_ && active_watcher_->is_idle() && !sender_.has_backlog();
}

// Sets the timer for the time limit. A later limit than the current timer's is found when that timer fires.
void StreamReading::update_timer() {
  const Time limit = times_.limit();
  if (limit >= timer_at_) return;
  reactor_->cancel(timer_);
  timer_at_ = limit;
  timer_ = reactor_->schedule(limit, [this, self = self_] {
    if (const auto kept = self.lock()) on_timer();
  });
}

void StreamReading::on_timer() noexcept try {
  timer_at_ = never;
  const Time now = os::now();
  if (const auto monitor = monitor_of_open()) {
    const bool is_idle_now = now >= times_.limit();
    if (is_idle_now) times_.note(now);
    if (is_idle_now) monitor->on_idle();
    if (sender_.is_open()) update_timer();
  } else if (active_watcher_ && sender_.is_open()) {
    on_quiet(now);
  }
} catch (const std::bad_alloc&) {
  give_up(errors::no_memory);
}

// Ends a watched connection over which nothing has come for too long.
void StreamReading::on_quiet(Time now) {
  if (times_.is_overdue(now)) return (void)sender_.close_for(errors::deadline_passed);
  if (now < times_.limit()) return update_timer();
  if (active_watcher_->owes_answer()) {
    times_.note(now);
    return update_timer();
  }
  active_watcher_->on_evict();  // with a closing message, if its protocol has one
  sender_.close_for(ended_by(minor::idle_timeout));
}

}  // namespace corelane::transport
