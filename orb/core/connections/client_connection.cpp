#include "orb/core/connections/client_connection.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "orb/base/bytes.h"
#include "orb/base/minor.h"
#include "orb/dispatch/current.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"

namespace corelane::core {
namespace {

constexpr Error late{ErrorKind::timeout, Completion::maybe, minor::deadline_passed};

// Returns until when the first attempt to send may wait with the rest of a long request. A task's job does not wait
// there: it waits only in a SuspensionScope, so that the wait counts as suspension.
Time rest_until(Time deadline) noexcept { return dispatch::current_job() == nullptr ? deadline : Time{}; }

}  // namespace

ClientConnection::ClientConnection(std::shared_ptr<transport::Connection> stream, const giop::Limits& limits)
    : stream_(std::move(stream)),
      sender_(stream_),
      last_used_(os::now()),
      reader_(*stream_, limits, end_, leader_, calls_) {}

ClientConnection::~ClientConnection() {
  sender_.end_batch();
  stream_->close();
}

std::shared_ptr<ClientConnection> ClientConnection::make(std::shared_ptr<transport::Connection> stream,
                                                         const giop::Limits& limits,
                                                         std::weak_ptr<ConnectionOwner> owner) {
  auto made = std::make_shared<ClientConnection>(std::move(stream), limits);
  made->owner_ = std::move(owner);
  made->stream_->set_monitor(made);
  return made;
}

[[gnu::hot]] bool ClientConnection::call(PendingReply& pending, std::uint32_t request_id, Parts request, Time deadline,
                                         os::WaitStrategy strategy) {
  if (!start(pending, request_id, request, deadline)) return false;
  wait(pending, deadline, strategy);
  return pending.answered();
}

[[gnu::hot]] bool ClientConnection::start(PendingReply& pending, std::uint32_t request_id, Parts request,
                                          Time deadline) {
  pending.begin(request_id, nullptr, deadline);
  enter(pending);
  if (!open()) return not_sent(pending, ClientEnd::lost), false;  // it was closed after usable()
  CallState& state = pending.call();
  auto sent = sender_.send_if_room(rest_until(deadline), request, state.sent_at);
  if (!sent && sent.error().minor == minor::no_send_room) {
    {
      const os::LockGuard lock(calls_);
      step_away(pending);
    }
    sent = send_when_room(deadline, request, state.sent_at);
  }
  if (!sent) not_sent(pending, sent.error());
  return sent.has_value();
}

// Begins a call. It has the connection for itself if no other call is in progress. Otherwise it comes to the list.
void ClientConnection::enter(PendingReply& pending) noexcept {
  pending.call().alone = leader_.lead_unlisted();
  if (pending.call().alone) {
    reader_.set_alone(&pending);
  } else {
    const os::LockGuard lock(calls_);
    calls_.add(pending);
  }
}

// Lets another thread lead while the call's own thread does something else. A call that was alone comes to the list.
void ClientConnection::step_away(PendingReply& pending) noexcept {
  CallState& state = pending.call();
  state.away = true;
  if (!state.alone) return calls_.wake_successor();  // this thread may have been woken to lead
  calls_.add(pending);
  reader_.set_alone(nullptr);
  state.alone = false;
  calls_.stop_leading();
}

// Ends a call that was alone.
void ClientConnection::leave_alone(PendingReply& pending) noexcept {
  reader_.set_alone(nullptr);
  pending.call().alone = false;
  if (!leader_.stop_unlisted()) {
    const os::LockGuard lock(calls_);
    calls_.stop_leading();
  }
  settle_end();
}

// Sends. A thread that is not real-time waits for room until the deadline. Such threads may fill only their share of
// the backlog. A real-time thread, such as a task's thread that sends a oneway, does not wait and may use all of it.
Expected<void> ClientConnection::send_by_class(Time deadline, Parts request, std::uint64_t& position) noexcept {
  const auto sent = sender_.send_if_room(rest_until(deadline), request, position);
  if (sent || sent.error().minor != minor::no_send_room) return sent;
  if (os::is_real_time()) return sender_.send_at_once(request, position);
  return send_when_room(deadline, request, position);
}

// Waits for room and sends. The server may wait for room for its replies, too, and then reads nothing. So replies must
// be read meanwhile: by another thread, or by this one between its attempts.
// An attempt that finds no room in time ends this thread's place among the senders that wait.
Expected<void> ClientConnection::send_when_room(Time deadline, Parts request, std::uint64_t& position) noexcept {
  constexpr std::chrono::milliseconds while_reading{1};  // nobody else reads
  constexpr std::chrono::milliseconds while_led{100};    // the leader may stop, and all other threads may be sending
  const dispatch::SuspensionScope waits;
  const Time since = os::now();
  // Bound: the deadline, or the time for which a peer may take nothing.
  for (;;) {
    const Duration pause = read_if_nobody_does() ? while_reading : while_led;
    const Time until = std::min(deadline, os::now() + pause);
    const auto sent = sender_.send(until, request, position);
    if (sent || sent.error().minor != minor::no_send_room || until == deadline) return sent;
    stream_->close_if_stalled(since);
  }
}

// Reads once, without waiting, if no thread leads. Returns whether it did.
bool ClientConnection::read_if_nobody_does() noexcept {
  if (!leader_.lead()) return false;
  read_and_stop();
  return true;
}

// Fails a call whose request was not sent. The server has not received all of it, so it cannot run it. What the server
// sent before it closed may still be unread.
void ClientConnection::not_sent(PendingReply& pending, const Error& error) {
  const bool is_lost = error.minor != minor::no_send_room;
  if (is_lost) end_.break_up();
  if (is_lost) read_last_words(pending);
  if (pending.call().alone) {
    fail_unsent(pending, error, is_lost);
    leave_alone(pending);
  } else {
    const os::LockGuard lock(calls_);
    fail_unsent(pending, error, is_lost);
    calls_.remove(pending);
  }
  if (is_lost) break_up();
}

void ClientConnection::fail_unsent(PendingReply& pending, const Error& error, bool is_lost) noexcept {
  CallState& state = pending.call();
  const bool told = state.phase == CallState::Phase::failed && state.error.completed == Completion::no;
  const bool is_dismissed = is_lost && end_.why_lost() == ClientEnd::dismissed;
  if (!told) state.error = is_dismissed ? ClientEnd::dismissed : Error{error.kind, Completion::no, error.minor};
  state.phase = CallState::Phase::failed;
}

// While it writes the request, this thread owns the call, even if the call has already ended. A failure of the
// connection fails the calls that are in the list by then; a later one is refused here.
bool ClientConnection::post(PendingReply& pending, std::uint32_t request_id, Parts request, Time deadline,
                            ReplyGroup& group) {
  pending.begin(request_id, &group, deadline);
  CallState& state = pending.call();
  state.error = {end_.why_lost().kind, Completion::no, end_.why_lost().minor};
  {
    const os::LockGuard lock(calls_);
    if (!open()) return false;
    calls_.add(pending);
  }
  const auto sent = send_by_class(deadline, request, state.sent_at);
  if (!sent) not_sent(pending, sent.error());
  const os::LockGuard lock(calls_);
  state.posting = false;
  if (!sent) return false;
  if (!state.is_waiting()) group.add_ended(pending);
  group.wake();
  return true;
}

PendingReply* ClientConnection::attend(ReplyGroup& group, Time until, Time latest) {
  os::UniqueLock lock(calls_);
  if (!group.has_ended()) {
    const Time end = std::min(latest, calls_.earliest_deadline(group, until));
    lead_or_sleep(calls_.may_lead(group), group.parker(), end);
    calls_.expire(group, late);
  }
  PendingReply* const ended = calls_.take_ended(group);
  lock.unlock();
  settle_end();
  for (const PendingReply* p = ended; p != nullptr; p = p->next()) cancel_if_late(*p);
  return ended;
}

void ClientConnection::cancel_if_late(const PendingReply& pending) noexcept {
  const CallState& state = pending.call();
  if (state.phase == CallState::Phase::failed && state.error == late) sender_.cancel(state.id);
}

Expected<void> ClientConnection::send(Parts request, Time deadline, bool may_batch) noexcept {
  const auto taken = may_batch ? sender_.batch(request, deadline) : Expected<bool>(false);
  if (taken && *taken) return {};
  std::uint64_t position = 0;
  const auto sent = taken ? send_by_class(deadline, request, position) : Expected<void>(taken.error());
  if (sent || sent.error().minor == minor::no_send_room) return sent;
  warn_of_loss(sent.error());
  break_up();
  return sent;
}

// Logs once that oneways were lost. A connection that was closed because its peer takes nothing leaves oneways unsent,
// and no caller learns of it.
void ClientConnection::warn_of_loss(const Error& error) noexcept try {
  const bool waited =
      error.minor == minor::send_stalled || error.minor == minor::send_backlog || error.minor == minor::send_backlogs;
  if (!waited || os::is_real_time() || !end_.tells_loss()) return;
  os::log::warn("oneways to " + to_string(peer()) + " were lost: " + std::string(minor::text(error.minor)));
} catch (const std::bad_alloc&) {
}

// The caller leads if no thread does. Otherwise it sleeps until its reply is there or the leader has stopped.
[[gnu::hot]] bool ClientConnection::wait(PendingReply& pending, Time deadline, os::WaitStrategy strategy,
                                         Interruption* beside) {
  const bool has_ended = pending.call().alone ? wait_alone(pending, deadline, strategy, beside)
                                              : wait_listed(pending, deadline, strategy, beside);
  if (has_ended) cancel_if_late(pending);
  return has_ended;
}

// Waits for the reply of a call that has the connection for itself.
[[gnu::hot]] inline bool ClientConnection::wait_alone(PendingReply& pending, Time deadline, os::WaitStrategy strategy,
                                                      Interruption* beside) {
  CallState& state = pending.call();
  // Bound: the deadline; each round takes bytes or sleeps.
  while (state.is_waiting()) {
    if (beside != nullptr && beside->is_called()) {
      const os::LockGuard lock(calls_);
      return step_away(pending), false;
    }
    const bool came = read(deadline, strategy, beside);
    if (!came && state.is_waiting() && deadline != never && os::now() >= deadline) state.fail(late);
  }
  leave_alone(pending);
  return true;
}

bool ClientConnection::wait_listed(PendingReply& pending, Time deadline, os::WaitStrategy strategy,
                                   Interruption* beside) {
  CallState& state = pending.call();
  os::UniqueLock lock(calls_);
  state.away = false;
  // Bound: the deadline; each round takes bytes or sleeps.
  while (state.is_waiting()) {
    if (beside != nullptr && beside->is_called()) return step_away(pending), false;
    lead_or_sleep(true, state.parker, deadline, strategy, beside);
    if (state.is_waiting() && deadline != never && os::now() >= deadline) state.fail(late);
  }
  calls_.remove(pending);
  lock.unlock();
  settle_end();
  return true;
}

// Does one round of waiting, with the lock released. The thread reads for all if it may lead and no other does;
// otherwise it sleeps.
void ClientConnection::lead_or_sleep(bool may_lead, os::Parker& parker, Time deadline, os::WaitStrategy strategy,
                                     Interruption* beside) {
  const bool leads = may_lead && leader_.lead();
  {
    const os::ReleasedLock released(calls_);
    if (!leads) {
      parker.park(deadline, strategy);
    } else {
      read(deadline, strategy, beside);
    }
  }
  if (leads) leader_.stop();
}

// Reads once, as the leader. Returns false if nothing came by the deadline.
[[gnu::hot]] bool ClientConnection::read(Time deadline, os::WaitStrategy strategy, Interruption* beside) {
  const bool came =
      beside != nullptr ? reader_.read_beside(deadline, strategy, *beside) : reader_.read(deadline, strategy);
  tell_owner_if_lost();
  return came;
}

// Reads once, without waiting, and stops leading.
void ClientConnection::read_and_stop() {
  read(Time{}, {});
  {
    const os::LockGuard lock(calls_);
    calls_.stop_leading();
  }
  settle_end();
}

// Reads what the peer sent before its end. If another thread leads, it may be reading the same; then this thread waits
// until that is done.
void ClientConnection::read_last_words(PendingReply& pending) {
  if (pending.call().alone) {
    read(Time{}, {});
    return;
  }
  constexpr std::chrono::seconds longest{1};  // the stream has ended, so reading it does not take long
  constexpr std::chrono::milliseconds pause{1};
  os::UniqueLock lock(calls_);
  const Time until = os::now() + longest;
  bool has_read = false;
  while (!has_read && pending.call().is_waiting() && os::now() < until) {  // bound: the time
    has_read = leader_.lead();
    lock.unlock();
    if (has_read) {
      read(Time{}, {});
    } else {
      pending.call().parker.park(os::now() + pause, {});
    }
    lock.lock();
    if (has_read) calls_.stop_leading();
  }
}

// The leader reads what is left; without a leader, this thread does. This thread notes the peer's end and then asks
// LeaderState. A leader that stops changes LeaderState and then asks for the peer's end. All these are seq_cst, so at
// least one of the two sees the other's write.
void ClientConnection::on_peer_end() noexcept {
  end_.note_peer_end();
  settle_end();
}

[[gnu::hot]] void ClientConnection::settle_end() noexcept {
  if (!end_.has_peer_ended() || !open() || !leader_.lead()) return;
  reader_.read_to_end();
  tell_owner_if_lost();
  const os::LockGuard lock(calls_);
  calls_.stop_leading();
}

// The monitor notices a server that ends an idle connection. A thread that calls just after that may be faster than the
// monitor. So after a long idle time the stream is checked before the call, which would otherwise fail.
[[gnu::hot]] bool ClientConnection::usable(Time now) noexcept {
  if (!open()) return false;
  if (!stream_->is_open()) return break_up(), false;
  // relaxed: a time stamp that no other data depends on
  const Time before = last_used_.load(std::memory_order_relaxed);
  last_used_.store(now, std::memory_order_relaxed);
  if (now - before < long_idle) return true;
  if (!leader_.lead_unlisted()) return true;
  read_and_stop();
  return open();
}

void ClientConnection::close() noexcept {
  end_.break_up();
  stream_->close();
}

void ClientConnection::close_when_sent(Time deadline) noexcept {
  end_.break_up();
  sender_.close_when_sent(deadline);
}

// Ends the use of the connection, and tells the owner so once.
void ClientConnection::break_up() noexcept {
  end_.break_up();
  if (!end_.tells_owner()) return;
  if (const auto owner = owner_.lock()) owner->on_broken(*this, end_.is_answered());
}

// Closes the connection unless a call uses it. A call that comes at the same time either has entered before, and keeps
// the connection, or finds after entering that it is not open. LeaderState orders that for a call that comes alone, and
// the lock for a call of the list.
void ClientConnection::on_idle() noexcept {
  {
    const os::LockGuard lock(calls_);
    // relaxed: a task that is added now has just used the connection, so it is not idle
    if (tasks_.load(std::memory_order_relaxed) > 0 || !leader_.lead_unlisted()) return;
    end_.break_up();
    calls_.stop_leading();
  }
  close();
  break_up();
}

}  // namespace corelane::core
