#include "orb/core/client_connection.h"

#include <algorithm>
#include <new>

#include "orb/base/minor.h"
#include "orb/dispatch/current.h"
#include "orb/giop/headers.h"
#include "orb/os/clock.h"
#include "orb/os/thread.h"
#include "orb/os/wait_loop.h"

namespace corelane::core {
namespace {

constexpr std::size_t buffer_size = 64 * 1024;
constexpr Error lost{ErrorKind::comm_failure, Completion::maybe, minor::connection_lost};
constexpr Error late{ErrorKind::timeout, Completion::maybe, minor::deadline_passed};

std::optional<std::uint32_t> request_id_of(const giop::Message& message, const giop::Limits& limits) noexcept {
  if (message.header.version == giop::giop_1_2) {  // comes first; the caller of the reply parses all of it
    std::uint32_t id = 0;
    return message.body().read(id) ? std::optional(id) : std::nullopt;
  }
  if (message.header.type == giop::MessageType::reply) {
    const auto reply = giop::parse_reply(message, limits);
    return reply ? std::optional(reply->header.request_id) : std::nullopt;
  }
  const auto reply = giop::parse_locate_reply(message);
  return reply ? std::optional(reply->header.request_id) : std::nullopt;
}

}  // namespace

ClientConnection::ClientConnection(std::shared_ptr<transport::Connection> stream, const giop::Limits& limits,
                                   std::unique_ptr<giop::HalfRoom> room)
    : stream_(std::move(stream)),
      limits_(limits),
      assembler_(limits, giop::Role::client, std::move(room)),
      buffer_(buffer_size),
      last_used_(os::now()) {
  waiting_.reserve(64);
}

ClientConnection::~ClientConnection() { stream_->close(); }

bool ClientConnection::call(PendingReply& pending, std::uint32_t request_id, Bytes request, Time deadline,
                            os::WaitStrategy strategy) {
  if (!start(pending, request_id, request, deadline)) return false;
  wait(pending, deadline, strategy);
  return pending.answered();
}

bool ClientConnection::start(PendingReply& pending, std::uint32_t request_id, Bytes request, Time deadline) {
  pending.id_ = request_id;
  pending.state_ = PendingReply::State::waiting;
  pending.group_ = nullptr;
  pending.away_ = false;
  pending.lent_.reset();
  {
    const Lock lock(mutex_);
    waiting_.push_back(&pending);
  }
  // It waits for the reply anyhow, whatever thread this is.
  const auto sent = send_by(deadline, request, true, pending.sent_at_);
  if (!sent) not_sent(pending, sent.error());
  return sent.has_value();
}

// Beyond its share of the backlog who may wait does. Others, such as a task's thread that sends a oneway, do not.
Expected<void> ClientConnection::send_by(Time deadline, Bytes request, bool may_wait,
                                         std::uint64_t& position) noexcept {
  const std::span parts{&request, 1};
  const auto sent = stream_->send_by(Time{}, parts, position);
  if (sent || sent.error().minor != minor::no_send_room) return sent;
  if (!may_wait && os::is_real_time()) return stream_->send(parts, position);
  const dispatch::SuspensionScope waits;
  return stream_->send_by(deadline, parts, position);
}

// The server has not got all of it, so it cannot run it. What it said before it went may still be there to be read.
void ClientConnection::not_sent(PendingReply& pending, const Error& error) {
  const bool is_lost = error.minor != minor::no_send_room;
  if (is_lost) broken_.store(true, std::memory_order_relaxed);  // relaxed: a hint; the stream itself refuses
  Lock lock(mutex_);
  if (is_lost && !std::exchange(led_, true)) {
    lock.unlock();
    read_some(Time{}, {});
    lock.lock();
    led_ = false;
  }
  const bool told = pending.state_ == PendingReply::State::failed && pending.error_.completed == Completion::no;
  if (!told) pending.error_ = {error.kind, Completion::no, error.minor};
  pending.state_ = PendingReply::State::failed;
  remove(pending);
}

// While the request is written the call is this thread's, even if it has ended by then. What fails a connection fails
// all that wait at that time: after it nobody is let in.
bool ClientConnection::post(PendingReply& pending, std::uint32_t request_id, Bytes request, Time deadline,
                            ReplyGroup& group) {
  pending.id_ = request_id;
  pending.state_ = PendingReply::State::waiting;
  pending.group_ = &group;
  pending.away_ = false;
  pending.lent_.reset();
  pending.next_ = nullptr;
  pending.deadline_ = deadline;
  pending.posting_ = true;
  pending.error_ = {lost.kind, Completion::no, lost.minor};
  {
    const Lock lock(mutex_);
    if (!open()) return false;
    waiting_.push_back(&pending);
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

PendingReply* ClientConnection::attend(ReplyGroup& group) {
  Lock lock(mutex_);
  if (group.first_ == nullptr) {
    lead_or_sleep(lock, may_lead(group), group.parker_, earliest_deadline(group));
    expire(group);
  }
  PendingReply* const ended = std::exchange(group.first_, nullptr);
  group.last_ = nullptr;
  for (const PendingReply* p = ended; p != nullptr; p = p->next_) std::erase(waiting_, p);
  last_used_ = os::now();
  wake_successor();
  lock.unlock();
  for (const PendingReply* p = ended; p != nullptr; p = p->next_)
    if (p->state_ == PendingReply::State::failed && p->error_ == late) cancel(p->id_);
  return ended;
}

Expected<void> ClientConnection::send(Bytes request, Time deadline) noexcept {
  std::uint64_t position = 0;
  auto sent = send_by(deadline, request, false, position);
  if (!sent && sent.error().minor != minor::no_send_room)
    broken_.store(true, std::memory_order_relaxed);  // relaxed: as above
  return sent;
}

// The caller leads when nobody does; otherwise it sleeps until its reply is there or the leader has gone.
bool ClientConnection::wait(PendingReply& pending, Time deadline, os::WaitStrategy strategy, Interruption* beside) {
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
  if (pending.state_ == PendingReply::State::failed && pending.error_ == late) cancel(pending.id_);
  return true;
}

// One round of a thread that waits, without the lock: it reads for all when nobody does and it may, else it sleeps.
void ClientConnection::lead_or_sleep(Lock& lock, bool may_lead, os::Parker& parker, Time deadline,
                                     os::WaitStrategy strategy, Interruption* beside) {
  const bool leads = may_lead && !std::exchange(led_, true);
  lock.unlock();
  if (!leads) {
    parker.park(deadline, strategy);
  } else if (beside != nullptr) {
    read_beside(deadline, strategy, *beside);
  } else {
    read_some(deadline, strategy);
  }
  lock.lock();
  if (leads) led_ = false;
}

// Takes a call off the list; somebody who waits becomes the leader.
void ClientConnection::remove(PendingReply& pending) noexcept {
  std::erase(waiting_, &pending);
  last_used_ = os::now();
  wake_successor();
}

// Who waits for himself comes first: a collector may be busy with a handler.
void ClientConnection::wake_successor() noexcept {
  if (led_ || waiting_.empty()) return;
  const auto first = [&](auto&& may) {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), may);
    return found != waiting_.end() ? *found : nullptr;
  };
  if (auto* waits = first([](auto* p) { return p->group_ == nullptr && !p->away_; })) return waits->parker_.unpark();
  if (auto* posted = first([](auto* p) { return p->group_ != nullptr; })) posted->group_->wake();
}

void ClientConnection::settle(PendingReply& pending, PendingReply::State state) noexcept {
  pending.state_ = state;
  if (pending.group_ == nullptr) return pending.parker_.unpark();
  if (!pending.posting_) hand_over(pending);
}

void ClientConnection::hand_over(PendingReply& pending) noexcept {
  ReplyGroup& group = *pending.group_;
  (group.last_ == nullptr ? group.first_ : group.last_->next_) = &pending;
  group.last_ = &pending;
  group.wake();
}

// Whether its collector has something to read for. Not while a call that has ended is still being posted: the poster
// hands it over soon, and would not be heard.
bool ClientConnection::may_lead(const ReplyGroup& group) const noexcept {
  bool has_calls = false;
  for (const PendingReply* p : waiting_) {
    if (p->group_ != &group) continue;
    if (p->state_ != PendingReply::State::waiting) return false;
    has_calls = true;
  }
  return has_calls;
}

Time ClientConnection::earliest_deadline(const ReplyGroup& group) const noexcept {
  Time earliest = never;
  for (const PendingReply* p : waiting_)
    if (p->group_ == &group) earliest = std::min(earliest, p->deadline_);
  return earliest;
}

void ClientConnection::expire(const ReplyGroup& group) noexcept {
  const Time now = os::now();
  for (PendingReply* p : waiting_) {
    const bool is_late = p->deadline_ != never && now >= p->deadline_;
    if (p->group_ != &group || p->state_ != PendingReply::State::waiting || !is_late) continue;
    p->error_ = late;
    settle(*p, PendingReply::State::failed);
  }
}

// False: nothing came.
bool ClientConnection::read_some(Time deadline, os::WaitStrategy strategy) {
  transport::Lent lent;
  const auto got = stream_->receive(buffer_, deadline, strategy, lent);
  return took(got, lent);
}

bool ClientConnection::took(const Expected<std::size_t>& got, const transport::Lent& lent) {
  if (!got && got.error().kind == ErrorKind::timeout) return false;
  if (!got || *got == 0) return lose_all(got ? lost : got.error()), true;
  take(lent.keeper ? lent.bytes : Bytes(buffer_).first(*got), lent);
  return true;
}

bool ClientConnection::glance() {
  transport::Lent lent;
  const auto got = stream_->glance(buffer_, lent);
  return took(got, lent);
}

void ClientConnection::read_beside(Time deadline, os::WaitStrategy strategy, Interruption& beside) {
  const auto poll = [&] { return beside.is_called() || glance(); };
  const auto sleep = [&](Time until) {
    if (read_some(Time{}, {})) return true;  // from here on the descriptor tells of more
    beside.bell().wait_beside(stream_->descriptor(), until);
    return beside.is_called() || read_some(Time{}, {});
  };
  os::wait_for(deadline, strategy, learnt_, poll, sleep, [] { return no_core; });
}

void ClientConnection::take(Bytes bytes, const transport::Lent& lent) {
  const Time now = os::now();
  // Bound: each round consumes bytes or ends.
  for (;;) {
    const auto message = assembler_.next(bytes, now);
    if (!message) {
      fail_all({ErrorKind::comm_failure, Completion::maybe, message.error().minor});
      return stream_->close();
    }
    if (!*message) return;
    deliver(**message, lent);
  }
}

void ClientConnection::deliver(const giop::Message& message, const transport::Lent& lent) noexcept {
  if (message.header.type == giop::MessageType::close_connection) {
    // Orderly: what has no reply by now was not and will not be run. CORBA 3.3 part 2, 9.5.1.1.
    return fail_all({ErrorKind::transient, Completion::no, minor::peer_closed});
  }
  if (message.header.type == giop::MessageType::message_error)
    return fail_all({ErrorKind::comm_failure, Completion::maybe, minor::message_error});
  const auto id = request_id_of(message, limits_);
  if (!id) return fail_all({ErrorKind::marshal, Completion::maybe, minor::truncated});
  const Lock lock(mutex_);
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const PendingReply* p) { return p->id_ == *id; });
  // Nobody waits any more (timeout, cancelled), or the reply is doubled.
  if (found == waiting_.end() || (*found)->state_ != PendingReply::State::waiting) return;
  PendingReply& pending = **found;
  if (message.refusal != 0) {  // too large; it ran
    pending.error_ = {ErrorKind::imp_limit, Completion::yes, message.refusal};
    return settle(pending, PendingReply::State::failed);
  }
  pending.header_ = message.header;
  if ((pending.lent_ = lent.keeper_of(message.bytes))) {
    pending.lies_at_ = message.bytes;
    return settle(pending, PendingReply::State::answered);
  }
  try {
    if (!assembler_.hand_over(message.bytes, pending.bytes_))
      pending.bytes_.assign(message.bytes.begin(), message.bytes.end());
    settle(pending, PendingReply::State::answered);
  } catch (const std::bad_alloc&) {
    pending.error_ = {ErrorKind::no_memory, Completion::maybe, minor::out_of_memory};
    settle(pending, PendingReply::State::failed);
  }
}

// The peer is gone. What it has never looked at did not run.
void ClientConnection::lose_all(const Error& reason) noexcept {
  broken_.store(true, std::memory_order_relaxed);  // relaxed: a hint
  const Lock lock(mutex_);
  for (PendingReply* pending : waiting_) {
    if (pending->state_ != PendingReply::State::waiting) continue;
    pending->error_ = lost;
    if (reason.minor == minor::channel_spoiled) pending->error_.minor = reason.minor;
    if (!stream_->may_have_been_read(pending->sent_at_)) pending->error_.completed = Completion::no;
    settle(*pending, PendingReply::State::failed);
  }
}

void ClientConnection::fail_all(Error error) noexcept {
  broken_.store(true, std::memory_order_relaxed);  // relaxed: a hint
  const Lock lock(mutex_);
  for (PendingReply* pending : waiting_) {
    if (pending->state_ != PendingReply::State::waiting) continue;
    pending->error_ = error;
    settle(*pending, PendingReply::State::failed);
  }
}

void ClientConnection::cancel(std::uint32_t request_id) noexcept {
  cdr::Writer writer;
  giop::write_cancel_request(writer, request_id);
  (void)stream_->send(writer.bytes());  // best effort: the caller has its answer already
}

// A server that went away while nobody waited shows only when the stream is read; better before a call than in it.
bool ClientConnection::usable() noexcept {
  if (broken_.load(std::memory_order_relaxed) || !stream_->is_open()) return false;  // relaxed: a hint
  {
    const Lock lock(mutex_);
    if (led_ || !waiting_.empty() || os::now() - last_used_ < long_idle) return true;
    led_ = true;
  }
  read_some(Time{}, {});
  const Lock lock(mutex_);
  led_ = false;
  last_used_ = os::now();
  wake_successor();
  return !broken_.load(std::memory_order_relaxed);  // relaxed: a hint
}

void ClientConnection::close() noexcept {
  broken_.store(true, std::memory_order_relaxed);  // relaxed: a hint
  stream_->close();
}

}  // namespace corelane::core
