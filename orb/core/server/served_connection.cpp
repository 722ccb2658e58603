#include "orb/core/server/served_connection.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/core/server/server_connection.h"
#include "orb/core/server/server_job.h"
#include "orb/dispatch/current.h"
#include "orb/giop/message.h"
#include "orb/os/clock.h"

namespace corelane::core {
namespace {

// Finished replies wait while a servant runs that took less than `quick` when it last ran. They are sent before they
// have waited for `longest_kept`, unless a servant takes longer this time.
constexpr Duration quick = std::chrono::microseconds{10};
constexpr Duration longest_kept = std::chrono::microseconds{20};

// QuickOperations remembers which operations of this process were quick. Several operations share one slot. The slot
// holds the one that was noted last, if it was quick, and otherwise none. An operation that is in no slot counts as
// slow.
class QuickOperations {
 public:
  static bool has(const Upcall& upcall) noexcept {
    return slot(upcall).load(std::memory_order_relaxed) == &upcall;  // relaxed: a hint
  }
  static void note(const Upcall& upcall, bool is_quick) noexcept {
    const void* const wanted = is_quick ? &upcall : nullptr;
    // relaxed: as above
    if (slot(upcall).load(std::memory_order_relaxed) != wanted) slot(upcall).store(wanted, std::memory_order_relaxed);
  }

 private:
  static std::atomic<const void*>& slot(const Upcall& upcall) noexcept {
    static std::array<std::atomic<const void*>, 256> slots;
    return slots[reinterpret_cast<std::uintptr_t>(&upcall) / sizeof(Upcall) % slots.size()];
  }
};

RequestOrder::Key key_of(const ServerJob& job) noexcept {
  return {.object = &job.object(), .oneway = !job.to().expected, .bytes = job.held_bytes()};
}

}  // namespace

ServedConnection::ServedConnection(std::shared_ptr<ServerConnection> connection, const RequestOrder::Limits& limits,
                                   os::WaitStrategy wait, Time half_by)
    : connection_(std::move(connection)),
      wait_(wait),
      idle_timeout_(connection_->server().settings().connections.idle_timeout),
      backlog_timeout_(connection_->server().settings().connections.backlog_timeout),
      header_timeout_(connection_->server().settings().connections.header_timeout),
      memory_patience_(memory_bounds_of(connection_->server().settings()).patience),
      order_(limits),
      half_by_(half_by) {
  note_quiet(os::now());
}

int ServedConnection::descriptor() const noexcept { return connection_->stream().descriptor(); }

void ServedConnection::close() noexcept { connection_->stream().close(); }

bool ServedConnection::arm() noexcept {
  drained_ = false;
  if (!rest_.empty()) return false;
  // An idle connection frees its memory, because there may be many of them.
  rest_copy_ = std::vector<std::byte>();
  connection_->replies().free_kept(longest_kept_reply);
  return connection_->stream().await_bytes();
}

// Returns whether it is certain that may_go_on() is true and lacks_bytes() is false. Costs less than these two, and is
// usually true.
[[gnu::hot, gnu::always_inline]] inline bool ServedConnection::is_unhindered() noexcept {
  const transport::MemoryAccount* const memory = connection_->memory();
  return connection_->stream().await_drained() && (memory == nullptr || !memory->is_tight());
}

[[gnu::hot]] dispatch::RequestSource::Found ServedConnection::next(dispatch::JobPtr& job, MutableBytes buffer,
                                                                   Time until) noexcept {
  current_ = nullptr;
  for (;;) {  // bound: ends with a request, after the bytes of one read, or with the connection
    if (!is_unhindered()) {
      if (lacks_bytes()) return send_kept(), Found::nothing;
      if (!may_go_on() && !has_nothing_left()) {
        blocked_ = true;
        send_kept();
        copy_rest();
        return note_quiet(os::now()), Found::blocked;
      }
    }
    if (blocked_) go_on(os::now());
    const Found found = rest_.empty() ? read(buffer, until) : parse(job);
    if (found != Found::again || rest_.empty()) return found;
  }
}

// Reads once: the rest of a long request to where it belongs, anything else into the buffer.
[[gnu::hot]] dispatch::RequestSource::Found ServedConnection::read(MutableBytes buffer, Time until) noexcept {
  send_kept();
  if (const MutableBytes room = connection_->reader().room(buffer.size()); !room.empty()) buffer = room;
  const bool waits = until != Time{};
  if (!waits && std::exchange(drained_, false)) return Found::nothing;
  const Time latest = waits ? std::min(until, expires_at()) : until;
  const bool may_end = waits && connection_->is_surely_idle() && order_.idle();
  if (may_end) turn.begin_wait();
  transport::BorrowedBytes borrowed;  // not in the reader's memory: another thread may end the reader during the wait
  const auto got = connection_->stream().receive(buffer, latest, wait_, borrowed);
  if (may_end && !turn.end_wait()) return Found::gone;
  const Bytes bytes = !got ? Bytes{} : borrowed.storage ? borrowed.bytes : Bytes(buffer).first(*got);
  // The reader's memory holds no borrowed bytes from before, because everything that was read was parsed.
  if (borrowed.storage) {
    // What is not one whole request is read when all of it is there, like bytes of any other stream.
    if (borrowed.arriving != nullptr && !connection_->reader().may_begin(borrowed)) {
      if (!connection_->await_rest(*borrowed.arriving, bytes.size(), os::now())) return end(why_closed());
      borrowed.arriving = nullptr;
    }
    connection_->reader().memory().borrow(std::move(borrowed));
  }
  if (!got && got.error().kind == ErrorKind::timeout) return Found::nothing;
  if (!got) return end(got.error());
  if (bytes.empty()) {
    // The client may have ended only its own direction, and still wait for replies.
    note_end(PeerEnd::sends_nothing);
    connection_->leave_tasks();
    if (order_.wait_until_idle()) return Found::full;
    return end(transport::ended_by(minor::peer_closed));
  }
  rest_ = bytes;
  received_ = last_finish_ = os::now();
  drained_ = rest_.size() < buffer.size();
  if (idle_timeout_ > Duration::zero()) note_quiet(received_);
  return Found::again;
}

void ServedConnection::note_quiet(Time since) noexcept {
  const Time idle = idle_timeout_ > Duration::zero() ? since + idle_timeout_ : never;
  const Time stalls = blocked_ ? since + std::min(backlog_timeout_, memory_patience_) : never;
  const Time half_by = blocked_ ? never : half_by_;  // a message that is not read cannot become complete
  expires_at_.store(std::min({idle, half_by, stalls}), std::memory_order_relaxed);  // relaxed: see expires_at()
}

// Returns why the connection has closed, whichever thread has closed it.
Error ServedConnection::why_closed() noexcept {
  std::array<std::byte, 1> nothing;
  transport::BorrowedBytes borrowed;
  const auto got = connection_->stream().receive(nothing, Time{}, wait_, borrowed);
  return got ? transport::ended_by(minor::closed_here) : got.error();
}

// Gives the request to the calling thread, unless it has to wait for others of its connection.
[[gnu::hot, gnu::always_inline]] inline dispatch::RequestSource::Found ServedConnection::give(
    dispatch::JobPtr& job) noexcept {
  auto& request = static_cast<ServerJob&>(*job);
  if (!order_.idle()) try {
      request.keep();
      // Before enter(), because another thread may read on after the decision full.
      if (connection_->replies().kept_bytes() > 0 && order_.may_become_full(request.held_bytes())) send_kept();
      copy_rest();
      const bool has_place = connection_->requests().add(request.pending());
      if (!has_place) connection_->replies().send_exception(request.to(), errors::queue_full);
      const auto decision = has_place ? order_.enter(job, key_of(request)) : RequestOrder::Decision::waits;
      if (decision != RequestOrder::Decision::run) job.reset();  // order_ has it, or it was refused
      if (decision == RequestOrder::Decision::full) return Found::full;
      if (decision == RequestOrder::Decision::waits) return Found::again;
    } catch (const std::bad_alloc&) {
      connection_->replies().send_exception(request.to(), errors::no_memory);
      return job.reset(), Found::again;
    }
  if (connection_->replies().kept_bytes() > 0 && !QuickOperations::has(request.upcall())) send_kept();
  current_ = &request;
  current_key_ = key_of(request);  // copied, since the request belongs to its thread while it runs
  return Found::job;
}

// Takes one message.
[[gnu::hot]] dispatch::RequestSource::Found ServedConnection::parse(dispatch::JobPtr& job) noexcept {
  using Step = ServerConnection::Step;
  const Step step = connection_->next_request(rest_, !is_copied(), received_, job);
  if (const auto half_by = connection_->reader().update_deadline(received_)) {
    half_by_ = *half_by;
    note_quiet(received_);
  }
  switch (step) {
    case Step::request:
      return give(job);
    case Step::other:
      return Found::again;
    case Step::tasks:
      return send_kept(), Found::leaves;
    case Step::end:
      break;
  }
  return end(why_closed());
}

// Sends the reply, or keeps it if more requests of the same read follow, to send their replies together.
[[gnu::hot]] void ServedConnection::finish(dispatch::JobPtr job) noexcept {
  auto& request = static_cast<ServerJob&>(*job);
  current_ = nullptr;
  const bool more = rest_.size() >= giop::header_size;
  ServerReplies& replies = connection_->replies();
  if (!more && replies.kept_bytes() == 0) return job->finish();
  const Time now = os::now();
  QuickOperations::note(request.upcall(), now - std::exchange(last_finish_, now) < quick);
  if (replies.kept_bytes() == 0) kept_since_ = now;
  const auto reply = request.take_reply();
  if (!reply) return replies.send_kept(), replies.cut_off(reply.error());
  keep_reply(*reply);
  if (!more || now - kept_since_ >= longest_kept - quick) replies.send_kept();
}

void ServedConnection::keep_reply(Bytes reply) noexcept {
  ServerReplies& replies = connection_->replies();
  if (reply.size() > longest_kept_reply || replies.kept_bytes() + reply.size() > most_kept_replies) replies.send_kept();
  if (reply.size() <= longest_kept_reply) try {
      return replies.keep(reply);
    } catch (const std::bad_alloc&) {
      replies.send_kept();
    }
  replies.send_patiently(reply);
}

void ServedConnection::send_kept() noexcept { connection_->replies().send_kept(); }

bool ServedConnection::detach() noexcept {
  send_kept();
  current_->detach();
  if (!connection_->requests().add_running(current_->pending()) || !order_.detach(*current_, current_key_))
    connection_->stream().close();
  current_ = nullptr;
  copy_rest();
  return !rest_.empty();
}

// Returns whether the unparsed bytes lie in rest_copy_.
bool ServedConnection::is_copied() const noexcept {
  return std::less_equal{}(rest_copy_.data(), rest_.data()) &&
         std::less{}(rest_.data(), rest_copy_.data() + rest_copy_.size());
}

// Copies the unparsed bytes, because their buffer goes back to its thread.
void ServedConnection::copy_rest() noexcept {
  if (rest_.empty() || is_copied() || connection_->reader().memory().is_shared(rest_)) return;
  try {
    std::vector<std::byte> copy(rest_.begin(), rest_.end());
    rest_copy_.swap(copy);
    rest_ = rest_copy_;
  } catch (const std::bad_alloc&) {
    rest_ = {};
    connection_->replies().close();
  }
}

dispatch::RequestSource::Next ServedConnection::finish_detached(dispatch::JobPtr job) noexcept {
  job->finish();
  // The end of both directions is noticed only after something was sent to the peer.
  if (peer_end() != PeerEnd::none && connection_->stream().peer_end() == PeerEnd::both_directions)
    connection_->requests().give_up();
  return order_.ended(*job);
}

void ServedConnection::leave() noexcept { connection_->read_by_reactor(std::exchange(rest_, {}), received_, half_by_); }

// Ends the connection. If it was closed meanwhile, kept replies cannot be sent any more.
dispatch::RequestSource::Found ServedConnection::end(const Error& reason) noexcept {
  rest_ = {};
  connection_->replies().close();
  connection_->on_closed(reason);
  return Found::gone;
}

// Returns whether the peer has taken none of its replies for too long.
bool ServedConnection::has_stalled(Time now) noexcept {
  const Time taken = connection_->stream().backlog_taken_at();
  return taken != never && taken + backlog_timeout_ <= now;
}

bool ServedConnection::may_go_on() noexcept {
  transport::MemoryAccount* const memory = connection_->memory();
  return connection_->stream().await_drained() && (memory == nullptr || memory->may_read());
}

// Returns whether memory is short, but no bytes are there to be read. If so, ends the connection's wait for memory.
bool ServedConnection::lacks_bytes() noexcept {
  transport::MemoryAccount* const memory = connection_->memory();
  transport::Connection& stream = connection_->stream();
  if (memory == nullptr || !memory->is_tight() || !rest_.empty() || !stream.await_drained()) return false;
  if (!stream.await_bytes() || stream.has_bytes()) return false;
  memory->stop_waiting();
  if (blocked_) go_on(os::now());
  return true;
}

// Resumes reading. The connection was not read until now, so the rest of an incomplete message gets a new deadline.
void ServedConnection::go_on(Time now) noexcept {
  blocked_ = false;
  if (half_by_ != never) half_by_ = now + header_timeout_;
  note_quiet(now);
}

// Returns whether next() can read on, or has to handle the end of the connection.
bool ServedConnection::unblocked() noexcept {
  transport::Connection& stream = connection_->stream();
  if (may_go_on() || stream.peer_end() > peer_end()) return true;
  return only_end_left_.load(std::memory_order_relaxed) && stream.await_drained();  // relaxed: never false again
}

// Until now the connection may have waited for bytes, without being blocked. Then it becomes blocked here, if it has to
// be, as in next().
bool ServedConnection::block() noexcept {
  const Time now = os::now();
  if (may_go_on()) {
    if (blocked_) go_on(now);
    return false;
  }
  if (!std::exchange(blocked_, true)) note_quiet(now);
  return true;
}

int ServedConnection::hang_up_descriptor() const noexcept { return connection_->stream().hang_up_descriptor(); }

std::optional<std::uint32_t> ServedConnection::end_events() const noexcept {
  if (peer_end() == PeerEnd::both_directions) return std::nullopt;
  return peer_end() == PeerEnd::none ? std::uint32_t{EPOLLRDHUP} : 0;
}

void ServedConnection::note_end(PeerEnd end) noexcept {
  if (end > peer_end()) peer_end_.store(end, std::memory_order_relaxed);  // relaxed: see peer_end()
}

// Returns whether the peer has ended at least its own direction, everything before that end was read, and no reply
// waits that the peer would still take. If the peer takes no replies any more, this cancels its requests.
bool ServedConnection::has_nothing_left() noexcept {
  note_end(connection_->stream().peer_end());
  const bool is_gone = peer_end() == PeerEnd::both_directions;
  if (is_gone) connection_->requests().give_up();
  if (peer_end() == PeerEnd::none || !rest_.empty() || connection_->stream().has_unread()) return false;
  only_end_left_.store(true, std::memory_order_relaxed);  // relaxed: unblocked() is then called by this thread, too
  return is_gone || connection_->stream().await_drained();
}

// If the thread waits for the peer to take replies, no further request begins: each would block one more thread.
bool ServedConnection::begin_wait(dispatch::WaitsFor what) noexcept {
  if (what == dispatch::WaitsFor::peer) return order_.hold(), false;
  ServerJob::note_wait();
  if (auto* const memory = connection_->memory()) memory->begin_wait();
  return order_.begin_wait();
}

bool ServedConnection::end_wait(dispatch::WaitsFor what) noexcept {
  if (what == dispatch::WaitsFor::peer) return order_.let_go();
  if (auto* const memory = connection_->memory()) memory->end_wait();
  order_.end_wait();
  return false;
}

void ServedConnection::on_drained() noexcept { connection_->server().executive().resume(shared_from_this()); }

bool ServedConnection::expire(Time now) noexcept {
  if (expires_at() > now) return false;
  if (blocked_) {
    constexpr Error took_nothing{.kind = ErrorKind::transient, .minor = minor::send_stalled};
    if (has_stalled(now)) return end(took_nothing), true;
    note_quiet(now);  // block() follows, and checks whether it may go on
    return false;
  }
  if (half_by_ <= now) return end(errors::deadline_passed), true;
  if (const Time last = connection_->stream().last_traffic(); last + idle_timeout_ > now) {
    note_quiet(last);
    return false;
  }
  if (connection_->stream().has_bytes() || !order_.idle() || connection_->owes_answer()) {
    note_quiet(now);
    return false;
  }
  connection_->replies().close_orderly();
  return end(transport::ended_by(minor::idle_timeout)), true;
}

bool ServedConnection::evict(bool surely) noexcept {
  const bool unread = connection_->reader().has_sent_message() && connection_->stream().has_bytes();
  if (!surely && (unread || !connection_->is_idle())) return false;
  connection_->replies().close_orderly();
  return end(transport::ended_by(minor::closed_here)), true;
}

bool ServedConnection::try_evict() noexcept { return connection_->server().executive().evict(shared_from_this()); }

}  // namespace corelane::core
