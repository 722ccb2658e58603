#include "orb/core/connections/client_connection.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "orb/base/minor.h"
#include "orb/dispatch/current.h"
#include "orb/giop/headers.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"
#include "orb/os/wait/wait_loop.h"
#include "orb/transport/transport_kind.h"

namespace corelane::core {
namespace {

constexpr Error late{ErrorKind::timeout, Completion::maybe, minor::deadline_passed};

// Returns a batch for kinds of transport over which batching oneways saves much.
std::shared_ptr<OnewayBatch> batch_for(const std::shared_ptr<transport::Connection>& stream) {
  return stream->peer().kind->batches_oneways ? std::make_shared<OnewayBatch>(stream) : nullptr;
}

}  // namespace

void PendingReply::begin(std::uint32_t id, ReplyGroup* group, Time deadline) noexcept {
  id_ = id;
  state_ = State::waiting;
  storage_.reset();
  group_ = group;
  next_ = nullptr;
  deadline_ = deadline;
  alone_ = false;
  posting_ = group != nullptr;
  away_ = false;
}

void PendingList::push_back(PendingReply& added) noexcept {
  added.before_ = last_;
  added.after_ = nullptr;
  (last_ == nullptr ? first_ : last_->after_) = &added;
  last_ = &added;
}

void PendingList::erase(PendingReply& removed) noexcept {
  (removed.before_ == nullptr ? first_ : removed.before_->after_) = removed.after_;
  (removed.after_ == nullptr ? last_ : removed.after_->before_) = removed.before_;
}

ClientConnection::ClientConnection(std::shared_ptr<transport::Connection> stream, const giop::Limits& limits)
    : stream_(std::move(stream)),
      batch_(batch_for(stream_)),
      limits_(limits),
      last_used_(os::now()),
      assembler_(limits, giop::Role::client),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(buffer_size)) {}

ClientConnection::~ClientConnection() {
  if (batch_) batch_->end(Time{});
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

bool ClientConnection::call(PendingReply& pending, std::uint32_t request_id, Parts request, Time deadline,
                            os::WaitStrategy strategy) {
  if (!start(pending, request_id, request, deadline)) return false;
  wait(pending, deadline, strategy);
  return pending.answered();
}

bool ClientConnection::start(PendingReply& pending, std::uint32_t request_id, Parts request, Time deadline) {
  pending.begin(request_id, nullptr, deadline);
  if (!enter_alone(pending)) enter(pending);
  if (!open()) return not_sent(pending, lost), false;  // it was closed after usable()
  auto sent = send_behind_batch(Time{}, request, pending.sent_at_);
  if (!sent && sent.error().minor == minor::no_send_room) {
    step_away(pending);
    sent = send_when_room(deadline, request, pending.sent_at_);
  }
  if (!sent) not_sent(pending, sent.error());
  return sent.has_value();
}

bool ClientConnection::enter_alone(PendingReply& pending) noexcept {
  pending.alone_ = lead_unlisted();
  if (pending.alone_) alone_ = &pending;
  return pending.alone_;
}

// Tries to lead alone. Returns false if another thread leads, or calls are in the list.
bool ClientConnection::lead_unlisted() noexcept {
  std::uint32_t nobody = 0;
  // PAIR client_connection.use: acquire here <- release in leave_alone() and stop_leading(). This thread sees
  // what the leader before it has read. relaxed on failure: the call goes to the list, under the mutex
  return use_.compare_exchange_strong(nobody, led, std::memory_order_acquire, std::memory_order_relaxed);
}

void ClientConnection::enter(PendingReply& pending) noexcept {
  const Lock lock(mutex_);
  waiting_.push_back(pending);
  set_listed();
}

// With mutex_ held.
void ClientConnection::set_listed() noexcept {
  // PAIR client_connection.listed: release here -> acquire in deliver().
  use_.fetch_or(listed, std::memory_order_release);
}

// Moves a call that was alone to the list. Then another call of the list leads.
void ClientConnection::share(PendingReply& pending) noexcept {
  const Lock lock(mutex_);
  waiting_.push_back(pending);
  alone_ = nullptr;
  pending.alone_ = false;
  set_listed();
  stop_leading();
}

// Ends a call that was alone.
void ClientConnection::leave_alone(PendingReply& pending) noexcept {
  alone_ = nullptr;
  pending.alone_ = false;
  std::uint32_t own = led;
  // PAIR client_connection.use: release here -> acquire in lead_unlisted() and lead(). seq_cst: before
  // peer_ended_ is read, see on_peer_end(). relaxed on failure: a call has come to the list; the mutex orders the rest
  if (!use_.compare_exchange_strong(own, 0, std::memory_order_seq_cst, std::memory_order_relaxed)) {
    const Lock lock(mutex_);
    stop_leading();
  }
  settle_end();
}

// Tries to lead. Returns false if another thread leads.
bool ClientConnection::lead() noexcept {
  // seq_cst: as in leave_alone(), for on_peer_end()
  return (use_.fetch_or(led, std::memory_order_seq_cst) & led) == 0;
}

// With mutex_ held.
void ClientConnection::stop_leading() noexcept {
  // seq_cst: before peer_ended_ is read, see on_peer_end()
  use_.fetch_and(~led, std::memory_order_seq_cst);
  wake_successor();
}

// Sends. A thread that may wait, or is not real-time, waits for room until the deadline. Such threads may fill only
// their share of the backlog. A real-time thread, such as a task's thread that sends a oneway, does not wait and may
// use all of it.
Expected<void> ClientConnection::send_by(Time deadline, Parts request, bool may_wait,
                                         std::uint64_t& position) noexcept {
  const auto sent = send_behind_batch(Time{}, request, position);
  if (sent || sent.error().minor != minor::no_send_room) return sent;
  if (!may_wait && os::is_real_time()) return stream_->send(request, position);
  return send_when_room(deadline, request, position);
}

// Lets other threads lead while the call's own thread waits for room.
void ClientConnection::step_away(PendingReply& pending) noexcept {
  if (pending.alone_) {
    pending.away_ = true;
    return share(pending);
  }
  const Lock lock(mutex_);
  pending.away_ = true;
  wake_successor();  // this thread may have been woken to lead
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
    const auto sent = send_behind_batch(until, request, position);
    if (sent || sent.error().minor != minor::no_send_room || until == deadline) return sent;
    stream_->close_if_stalled(since);
  }
}

// Reads once, without waiting, if no thread leads. Returns whether it did.
bool ClientConnection::read_if_nobody_does() noexcept {
  if (!lead()) return false;
  read_some(Time{}, {});
  {
    const Lock lock(mutex_);
    stop_leading();
  }
  settle_end();
  return true;
}

// Sends the request after the oneways that this thread has in the batch.
Expected<void> ClientConnection::send_behind_batch(Time deadline, Parts request, std::uint64_t& position) noexcept {
  if (batch_)
    if (const auto sent = batch_->flush(deadline); !sent) return sent;
  return stream_->send_by(deadline, request, position);
}

// Fails a call whose request was not sent. The server has not received all of it, so it cannot run it. What the server
// sent before it closed may still be unread.
void ClientConnection::not_sent(PendingReply& pending, const Error& error) {
  const bool is_lost = error.minor != minor::no_send_room;
  if (is_lost) broken_.store(true, std::memory_order_relaxed);  // relaxed: a hint; the stream itself refuses
  if (is_lost) read_last_words(pending);
  const auto fail = [&] {
    const bool told = pending.state_ == PendingReply::State::failed && pending.error_.completed == Completion::no;
    if (!told)
      pending.error_ = is_lost && why_lost() == dismissed ? dismissed : Error{error.kind, Completion::no, error.minor};
    pending.state_ = PendingReply::State::failed;
  };
  if (pending.alone_) {
    fail();
    leave_alone(pending);
  } else {
    const Lock lock(mutex_);
    fail();
    remove(pending);
  }
  if (is_lost) break_up();
}

// Reads what the peer sent before its end. If another thread leads, it may be reading the same; then this thread waits
// until that is done.
void ClientConnection::read_last_words(PendingReply& pending) {
  if (pending.alone_) {
    read_some(Time{}, {});
    return;
  }
  constexpr std::chrono::seconds longest{1};  // the stream has ended, so reading it does not take long
  constexpr std::chrono::milliseconds pause{1};
  Lock lock(mutex_);
  const Time until = os::now() + longest;
  bool has_read = false;
  while (!has_read && pending.state_ == PendingReply::State::waiting && os::now() < until) {  // bound: the time
    has_read = lead();
    lock.unlock();
    if (has_read) {
      read_some(Time{}, {});
    } else {
      pending.parker_.park(os::now() + pause, {});
    }
    lock.lock();
    if (has_read) stop_leading();
  }
}

// While it writes the request, this thread owns the call, even if the call has already ended. A failure of the
// connection fails the calls that are in the list by then; a later one is refused here.
bool ClientConnection::post(PendingReply& pending, std::uint32_t request_id, Parts request, Time deadline,
                            ReplyGroup& group) {
  pending.begin(request_id, &group, deadline);
  pending.error_ = {why_lost().kind, Completion::no, why_lost().minor};
  {
    const Lock lock(mutex_);
    if (!open()) return false;
    waiting_.push_back(pending);
    set_listed();
  }
  const auto sent = send_by(deadline, request, false, pending.sent_at_);
  if (!sent) not_sent(pending, sent.error());
  const Lock lock(mutex_);
  pending.posting_ = false;
  if (!sent) return false;
  if (pending.state_ != PendingReply::State::waiting) hand_over(pending);
  group.wake();
  return true;
}

PendingReply* ClientConnection::attend(ReplyGroup& group, Time until) {
  Lock lock(mutex_);
  if (group.first_ == nullptr) {
    lead_or_sleep(lock, may_lead(group), group.parker_, earliest_deadline(group, until));
    expire(group);
  }
  PendingReply* const ended = std::exchange(group.first_, nullptr);
  group.last_ = nullptr;
  for (PendingReply* p = ended; p != nullptr; p = p->next_) waiting_.erase(*p);
  update_listed();
  wake_successor();
  lock.unlock();
  settle_end();
  for (const PendingReply* p = ended; p != nullptr; p = p->next_)
    if (p->state_ == PendingReply::State::failed && p->error_ == late) cancel(p->id_);
  return ended;
}

Expected<void> ClientConnection::send(Parts request, Time deadline, bool may_batch) noexcept {
  const auto taken = may_batch && batch_ ? batch_->take(request, deadline) : Expected<bool>(false);
  if (taken && *taken) return {};
  std::uint64_t position = 0;
  const auto sent = taken ? send_by(deadline, request, false, position) : Expected<void>(taken.error());
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
  // relaxed: only the first exchange matters
  if (!waited || os::is_real_time() || told_loss_.exchange(true, std::memory_order_relaxed)) return;
  os::log::warn("oneways to " + to_string(peer()) + " were lost: " + std::string(minor::text(error.minor)));
} catch (const std::bad_alloc&) {
}

// Waits for the reply of a call that has the connection for itself.
bool ClientConnection::wait_alone(PendingReply& pending, Time deadline, os::WaitStrategy strategy,
                                  Interruption* beside) {
  // Bound: the deadline; each round takes bytes or sleeps.
  while (pending.state_ == PendingReply::State::waiting) {
    if (beside != nullptr && beside->is_called()) {
      pending.away_ = true;
      share(pending);
      return false;
    }
    const bool came = beside != nullptr ? read_beside(deadline, strategy, *beside) : read_some(deadline, strategy);
    if (came || pending.state_ != PendingReply::State::waiting || deadline == never || os::now() < deadline) continue;
    pending.state_ = PendingReply::State::failed;
    pending.error_ = late;
  }
  leave_alone(pending);
  return true;
}

// The caller leads if no thread does. Otherwise it sleeps until its reply is there or the leader has stopped.
bool ClientConnection::wait(PendingReply& pending, Time deadline, os::WaitStrategy strategy, Interruption* beside) {
  if (pending.alone_) {
    if (!wait_alone(pending, deadline, strategy, beside)) return false;
    if (pending.state_ == PendingReply::State::failed && pending.error_ == late) cancel(pending.id_);
    return true;
  }
  Lock lock(mutex_);
  pending.away_ = false;
  // Bound: the deadline; each round takes bytes or sleeps.
  while (pending.state_ == PendingReply::State::waiting) {
    if (beside != nullptr && beside->is_called()) {
      pending.away_ = true;
      wake_successor();
      return false;
    }
    lead_or_sleep(lock, true, pending.parker_, deadline, strategy, beside);
    if (pending.state_ == PendingReply::State::waiting && deadline != never && os::now() >= deadline) {
      pending.state_ = PendingReply::State::failed;
      pending.error_ = late;
    }
  }
  remove(pending);
  lock.unlock();
  settle_end();
  if (pending.state_ == PendingReply::State::failed && pending.error_ == late) cancel(pending.id_);
  return true;
}

// Does one round of waiting, with the lock released. The thread reads for all if it may lead and no other does;
// otherwise it sleeps.
void ClientConnection::lead_or_sleep(Lock& lock, bool may_lead, os::Parker& parker, Time deadline,
                                     os::WaitStrategy strategy, Interruption* beside) {
  const bool leads = may_lead && lead();
  lock.unlock();
  if (!leads) {
    parker.park(deadline, strategy);
  } else if (beside != nullptr) {
    read_beside(deadline, strategy, *beside);
  } else {
    read_some(deadline, strategy);
  }
  lock.lock();
  // seq_cst: as in stop_leading()
  if (leads) use_.fetch_and(~led, std::memory_order_seq_cst);
}

// Removes a call from the list; another waiting call becomes the leader.
void ClientConnection::remove(PendingReply& pending) noexcept {
  waiting_.erase(pending);
  update_listed();
  wake_successor();
}

// With mutex_ held.
void ClientConnection::update_listed() noexcept {
  if (waiting_.empty())
    use_.fetch_and(~listed, std::memory_order_relaxed);  // relaxed: it only says that the list is empty
}

// Wakes a thread to lead, if none does. A thread that waits for its own call comes first, because a collector may be
// busy with a handler.
void ClientConnection::wake_successor() noexcept {
  // relaxed: a leader wakes a successor under the mutex when it stops
  if (waiting_.empty() || (use_.load(std::memory_order_relaxed) & led) != 0) return;
  const auto waits = [](const PendingReply& p) { return p.group_ == nullptr && !p.away_; };
  if (auto* found = waiting_.find(waits)) return found->parker_.unpark();
  if (auto* posted = waiting_.find([](const PendingReply& p) { return p.group_ != nullptr; })) posted->group_->wake();
}

void ClientConnection::settle(PendingReply& pending, PendingReply::State state) noexcept {
  pending.state_ = state;
  if (pending.alone_) return;
  if (pending.group_ == nullptr) return pending.parker_.unpark();
  if (!pending.posting_) hand_over(pending);
}

void ClientConnection::hand_over(PendingReply& pending) noexcept {
  ReplyGroup& group = *pending.group_;
  (group.last_ == nullptr ? group.first_ : group.last_->next_) = &pending;
  group.last_ = &pending;
  group.wake();
}

// Returns whether the group's collector has calls to read for. Returns false while an ended call is still being posted:
// its poster hands it over soon, and a collector that reads would not notice.
bool ClientConnection::may_lead(const ReplyGroup& group) const noexcept {
  const auto is_of_group = [&](const PendingReply& p) { return p.group_ == &group; };
  const auto has_ended = [&](const PendingReply& p) {
    return is_of_group(p) && p.state_ != PendingReply::State::waiting;
  };
  return waiting_.find(is_of_group) != nullptr && waiting_.find(has_ended) == nullptr;
}

Time ClientConnection::earliest_deadline(const ReplyGroup& group, Time without_calls) const noexcept {
  Time earliest = never;
  bool has_calls = false;
  waiting_.for_each([&](const PendingReply& p) {
    if (p.group_ != &group) return;
    earliest = std::min(earliest, p.deadline_);
    has_calls = true;
  });
  return has_calls ? earliest : without_calls;
}

void ClientConnection::expire(const ReplyGroup& group) noexcept {
  const Time now = os::now();
  waiting_.for_each([&](PendingReply& p) {
    const bool is_late = p.deadline_ != never && now >= p.deadline_;
    if (p.group_ != &group || p.state_ != PendingReply::State::waiting || !is_late) return;
    p.error_ = late;
    settle(p, PendingReply::State::failed);
  });
}

void ClientConnection::cancel(std::uint32_t request_id) noexcept {
  cdr::Writer writer;
  giop::write_cancel_request(writer, request_id);
  (void)stream_->send(writer.bytes());  // best effort: the caller has its answer already
}

// The monitor notices a server that ends an idle connection. A thread that calls just after that may be faster than the
// monitor. So after a long idle time the stream is checked before the call, which would otherwise fail.
bool ClientConnection::usable(Time now) noexcept {
  if (!open()) return false;
  if (!stream_->is_open()) return break_up(), false;
  // relaxed: a time stamp that no other data depends on
  const Time before = last_used_.load(std::memory_order_relaxed);
  last_used_.store(now, std::memory_order_relaxed);
  if (now - before < long_idle) return true;
  if (!lead_unlisted()) return true;
  read_some(Time{}, {});
  {
    const Lock lock(mutex_);
    stop_leading();
  }
  settle_end();
  return open();
}

void ClientConnection::close() noexcept {
  broken_.store(true, std::memory_order_relaxed);  // relaxed: a hint
  stream_->close();
}

void ClientConnection::close_when_sent(Time deadline) noexcept {
  broken_.store(true, std::memory_order_relaxed);  // relaxed: a hint
  if (batch_) batch_->end(deadline);
  stream_->close_when_sent(deadline);
}

}  // namespace corelane::core
