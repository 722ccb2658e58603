// This file is the reading part of ClientConnection: it assembles messages from bytes, delivers them to the waiting
// calls, and handles the peer's end.
// Thread: the leader's, except on_peer_end() and on_idle(), which run on the reactor's thread.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>

#include "orb/base/minor.h"
#include "orb/core/connections/client_connection.h"
#include "orb/giop/headers.h"
#include "orb/os/clock.h"
#include "orb/os/wait/wait_loop.h"

namespace corelane::core {
namespace {

std::optional<std::uint32_t> request_id_of(const giop::Message& message, const giop::Limits& limits) noexcept {
  if (message.header.version == giop::giop_1_2) {  // the id comes first; the call's thread parses the rest
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

// Returns whether the bytes are exactly one message, not fragmented.
bool is_one_message(Bytes bytes) noexcept {
  constexpr std::size_t flags_at = 6, size_at = 8;
  constexpr auto little = std::byte{1}, more_fragments = std::byte{2};
  if (bytes.size() < giop::header_size || (bytes[flags_at] & more_fragments) != std::byte{0}) return false;
  std::uint32_t size = 0;
  std::memcpy(&size, &bytes[size_at], sizeof size);
  const bool is_native = ((bytes[flags_at] & little) != std::byte{0}) == (native_order == ByteOrder::little);
  return (is_native ? size : __builtin_bswap32(size)) == bytes.size() - giop::header_size;
}

}  // namespace

// Reads once. Returns false if nothing came by the deadline.
bool ClientConnection::read_some(Time deadline, os::WaitStrategy strategy) {
  transport::BorrowedBytes borrowed;
  const auto got = stream_->receive({buffer_.get(), buffer_size}, deadline, strategy, borrowed);
  return took(got, borrowed);
}

bool ClientConnection::took(const Expected<std::size_t>& got, const transport::BorrowedBytes& borrowed) {
  if (!got && got.error().kind == ErrorKind::timeout) return false;
  if (!got || *got == 0) return lose_all(got ? lost : got.error()), true;
  take(borrowed.storage ? borrowed.bytes : Bytes{buffer_.get(), *got}, borrowed);
  return true;
}

bool ClientConnection::poll_receive() {
  transport::BorrowedBytes borrowed;
  const auto got = stream_->poll_receive({buffer_.get(), buffer_size}, borrowed);
  return took(got, borrowed);
}

bool ClientConnection::read_beside(Time deadline, os::WaitStrategy strategy, Interruption& beside) {
  const auto poll = [&] { return beside.is_called() || poll_receive(); };
  const auto sleep = [&](Time until) {
    if (read_some(Time{}, {})) return true;  // from here on the descriptor signals further bytes
    beside.bell().wait_beside(stream_->descriptor(), until);
    return beside.is_called() || read_some(Time{}, {});
  };
  return os::wait_for(deadline, strategy, learnt_, poll, sleep, [] { return no_core; });
}

// Handles the common case, a reply that came alone and whole, without the assembler. Returns false for anything else.
bool ClientConnection::take_whole_reply(Bytes bytes, const transport::BorrowedBytes& borrowed) {
  const auto header = giop::parse_header(bytes.first(giop::header_size));
  if (!header || header->type != giop::MessageType::reply || bytes.size() > limits_.message_size) return false;
  has_one_message_ = true;
  deliver({*header, bytes}, borrowed);
  has_one_message_ = false;
  return true;
}

// Checks the stream's first bytes, even before a whole header is there, because any program may listen at the port.
bool ClientConnection::is_giop(Bytes bytes) noexcept {
  constexpr std::string_view magic = "GIOP";
  for (const std::byte byte : bytes.first(std::min(bytes.size(), magic.size() - checked_)))
    if (byte != static_cast<std::byte>(magic[checked_++])) return false;
  return true;
}

std::string ClientConnection::foreign_words() const {
  std::string text;
  for (const std::byte byte : foreign_) {
    const char c = static_cast<char>(byte);
    text += c >= ' ' && c <= '~' ? c : '.';
  }
  return text;
}

void ClientConnection::take(Bytes bytes, const transport::BorrowedBytes& borrowed) {
  constexpr std::size_t most_foreign = 48;
  if (checked_ < 4 && !is_giop(bytes)) {
    const Bytes first = bytes.first(std::min(bytes.size(), most_foreign));
    foreign_.assign(first.begin(), first.end());
    return fail_and_close({ErrorKind::comm_failure, Completion::maybe, minor::bad_magic});
  }
  if (assembler_.idle() && open() && is_one_message(bytes) && take_whole_reply(bytes, borrowed)) return;
  const Time now = os::now();
  // Bound: each round consumes bytes.
  while (!bytes.empty()) {
    const auto message = assembler_.next(bytes, now);
    if (!message) return fail_and_close({ErrorKind::comm_failure, Completion::maybe, message.error().minor});
    if (!*message) return;
    deliver(**message, borrowed);
  }
}

void ClientConnection::deliver(const giop::Message& message, const transport::BorrowedBytes& borrowed) noexcept {
  if (message.header.type == giop::MessageType::close_connection) {
    // Orderly close: calls without a reply have not run and will not run. CORBA 3.3 part 2, 9.5.1.1.
    dismissed_.store(true, std::memory_order_relaxed);  // relaxed: read by the leader, or after broken_ as a hint
    return fail_and_close(dismissed);
  }
  if (message.header.type == giop::MessageType::message_error)
    return fail_and_close({ErrorKind::comm_failure, Completion::maybe, minor::message_error});
  const auto id = request_id_of(message, limits_);
  if (!id) return fail_and_close({ErrorKind::marshal, Completion::maybe, minor::truncated});
  // relaxed: a hint, which changes once
  if (!answered_.load(std::memory_order_relaxed)) answered_.store(true, std::memory_order_relaxed);
  if (alone_ != nullptr && alone_->id_ == *id) return give(*alone_, message, borrowed);
  // PAIR client_connection.listed: acquire here <- release in set_listed(). A call is listed before its request is
  // sent.
  if ((use_.load(std::memory_order_acquire) & listed) == 0) return;
  const Lock lock(mutex_);
  PendingReply* const found = waiting_.find([&](const PendingReply& p) { return p.id_ == *id; });
  if (found != nullptr) give(*found, message, borrowed);
}

// Gives the reply to its call. Call it with mutex_ held, or for the call that is alone. Does nothing if the call no
// longer waits, as after a time-out or a duplicate reply.
void ClientConnection::give(PendingReply& pending, const giop::Message& message,
                            const transport::BorrowedBytes& borrowed) noexcept {
  if (pending.state_ != PendingReply::State::waiting) return;
  pending.header_ = message.header;
  if (message.refusal != 0) {  // too large; the operation ran
    pending.error_ = {ErrorKind::imp_limit, Completion::yes, message.refusal};
    return settle(pending, PendingReply::State::failed);
  }
  try {
    keep_reply(pending, message, borrowed);
    settle(pending, PendingReply::State::answered);
  } catch (const std::bad_alloc&) {
    pending.error_ = {ErrorKind::no_memory, Completion::maybe, minor::out_of_memory};
    settle(pending, PendingReply::State::failed);
  }
}

// Stores the reply for its call, and copies it only if necessary. Throws std::bad_alloc.
void ClientConnection::keep_reply(PendingReply& pending, const giop::Message& message,
                                  const transport::BorrowedBytes& borrowed) {
  pending.lies_at_ = message.bytes;
  if ((pending.storage_ = borrowed.storage_of(message.bytes)) || exchange_buffer(pending, message.bytes)) return;
  if (!assembler_.hand_over(message.bytes, pending.bytes_)) pending.bytes_.assign(message.bytes);
  pending.lies_at_ = pending.bytes_;
}

// Gives the call the buffer that holds a long reply which came alone, so that it is not copied. Returns false for other
// replies.
bool ClientConnection::exchange_buffer(PendingReply& pending, Bytes message) noexcept {
  if (!has_one_message_ || message.size() < exchanged_from || message.data() != buffer_.get()) return false;
  if (!pending.buffer_) pending.buffer_.reset(new (std::nothrow) std::byte[buffer_size]);
  if (!pending.buffer_) return false;
  buffer_.swap(pending.buffer_);
  return true;
}

// Fails all calls because the peer is gone. Requests that the peer has never read did not run.
void ClientConnection::lose_all(const Error& reason) noexcept {
  Error error = why_lost();
  if (reason.minor == minor::channel_spoiled) error.minor = reason.minor;
  fail_waiting(error, true);
}

// Returns the error for calls that have no reply when the peer ends.
Error ClientConnection::why_lost() const noexcept {
  return dismissed_.load(std::memory_order_relaxed) ? dismissed : lost;  // relaxed: as in deliver()
}

// Fails all calls. Closes the stream, so that a call which has just entered cannot send, and does not wait for a reply.
void ClientConnection::fail_and_close(const Error& error) noexcept {
  fail_waiting(error, false);
  stream_->close();
}

// Fails all waiting calls. `unread_is_no`: calls that the peer cannot have read are COMPLETED_NO. Thread: the leader's.
void ClientConnection::fail_waiting(const Error& error, bool unread_is_no) noexcept {
  broken_.store(true, std::memory_order_relaxed);  // relaxed: a hint
  const auto fail = [&](PendingReply& pending) {
    if (pending.state_ != PendingReply::State::waiting) return;
    pending.error_ = error;
    if (unread_is_no && !stream_->may_have_been_read(pending.sent_at_)) pending.error_.completed = Completion::no;
    settle(pending, PendingReply::State::failed);
  };
  if (alone_ != nullptr) fail(*alone_);
  {
    const Lock lock(mutex_);
    waiting_.for_each(fail);
  }
  break_up();
}

// Ends the use of the connection, and tells the owner so once.
void ClientConnection::break_up() noexcept {
  broken_.store(true, std::memory_order_relaxed);                     // relaxed: a hint
  if (told_owner_.exchange(true, std::memory_order_relaxed)) return;  // relaxed: only one caller sees false
  // relaxed: a hint
  if (const auto owner = owner_.lock()) owner->on_broken(*this, answered_.load(std::memory_order_relaxed));
}

// The leader reads what is left; without a leader, this thread does. This thread writes peer_ended_ and then reads
// use_. A leader that stops writes use_ and then reads peer_ended_. All these are seq_cst, so at least one of the two
// sees the other's write.
void ClientConnection::on_peer_end() noexcept {
  // seq_cst: as said above
  peer_ended_.store(true, std::memory_order_seq_cst);
  settle_end();
}

void ClientConnection::settle_end() noexcept {
  // seq_cst: as said above
  if (!peer_ended_.load(std::memory_order_seq_cst) || !open() || !lead()) return;
  read_to_end();
  const Lock lock(mutex_);
  stop_leading();
}

// Reads what the peer sent before its end: replies, and perhaps CloseConnection. Thread: the leader's. Bound:
// most_reads.
void ClientConnection::read_to_end() noexcept {
  constexpr int most_reads = 1024;
  for (int i = 0; i < most_reads && open(); ++i)
    if (!read_some(Time{}, {})) return;
}

// Closes the connection unless a call uses it. A call that comes at the same time either has entered before, and keeps
// the connection, or finds after entering that it is not open. With mutex_ this holds for calls of the list, too.
void ClientConnection::on_idle() noexcept {
  {
    const Lock lock(mutex_);
    // relaxed: a task that is added now has just used the connection, so it is not idle
    if (tasks_.load(std::memory_order_relaxed) > 0 || !lead_unlisted()) return;
    broken_.store(true, std::memory_order_relaxed);  // relaxed: ordered by use_ and by the mutex
    stop_leading();
  }
  close();
  break_up();
}

}  // namespace corelane::core
