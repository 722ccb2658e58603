#include "orb/core/connections/reply_reader.h"

#include <new>

#include "orb/base/minor.h"
#include "orb/os/lock.h"
#include "orb/os/wait/wait_loop.h"

namespace corelane::core {

ReplyReader::ReplyReader(transport::Connection& stream, const giop::Limits& limits, ClientEnd& end,
                         const LeaderState& leader, WaitingCalls& calls)
    : stream_(stream), end_(end), leader_(leader), calls_(calls), replies_(limits) {
  stream_.take_arriving(true);
}

[[gnu::hot]] bool ReplyReader::read(Time deadline, os::WaitStrategy strategy) {
  transport::BorrowedBytes borrowed;
  const auto got = stream_.receive(replies_.buffer(), deadline, strategy, borrowed);
  return took(got, borrowed);
}

bool ReplyReader::poll() {
  transport::BorrowedBytes borrowed;
  const auto got = stream_.poll_receive(replies_.buffer(), borrowed);
  return took(got, borrowed);
}

// Takes what was read. Returns false if that is nothing.
[[gnu::hot]] bool ReplyReader::took(Expected<std::size_t> got, const transport::BorrowedBytes& borrowed) {
  if (!got && got.error().kind == ErrorKind::timeout) return false;
  if (!got || *got == 0) {
    // The peer is gone. Requests that it has never read did not run.
    Error error = end_.why_lost();
    if (!got && got.error().minor == minor::channel_spoiled) error.minor = minor::channel_spoiled;
    return fail_all(error, true), true;
  }
  const auto deliver_it = [&](const giop::Message& message) { deliver(message, borrowed); };
  const Bytes bytes = borrowed.storage ? borrowed.bytes : Bytes(replies_.buffer()).first(*got);
  const auto taken = borrowed.arriving != nullptr ? replies_.take_arriving(borrowed, deliver_it)
                                                  : replies_.take(bytes, end_.is_open(), deliver_it);
  if (!taken) fail_and_close(taken.error());
  return true;
}

bool ReplyReader::read_beside(Time deadline, os::WaitStrategy strategy, Interruption& beside) {
  const auto poll_both = [&] { return beside.is_called() || poll(); };
  const auto sleep = [&](Time until) {
    if (read(Time{}, {})) return true;  // from here on the descriptor signals further bytes
    beside.bell().wait_beside(stream_.descriptor(), until);
    return beside.is_called() || read(Time{}, {});
  };
  return os::wait_for(deadline, strategy, learnt_, poll_both, sleep, [] { return no_core; });
}

[[gnu::hot]] void ReplyReader::deliver(const giop::Message& message,
                                       const transport::BorrowedBytes& borrowed) noexcept {
  if (message.header.type == giop::MessageType::close_connection) {
    // Orderly close: calls without a reply have not run and will not run. CORBA 3.3 part 2, 9.5.1.1.
    end_.dismiss();
    return fail_and_close(ClientEnd::dismissed);
  }
  if (message.header.type == giop::MessageType::message_error)
    return fail_and_close({ErrorKind::comm_failure, Completion::maybe, minor::message_error});
  const auto id = replies_.request_id_of(message);
  if (!id) return fail_and_close({ErrorKind::marshal, Completion::maybe, minor::truncated});
  end_.note_answered();
  if (alone_ != nullptr && alone_->call().id == *id) return give(*alone_, message, borrowed);
  if (!leader_.has_listed()) return;
  const os::LockGuard lock(calls_);
  if (PendingReply* const found = calls_.find(*id)) give(*found, message, borrowed);
}

// Gives the reply to its call. Call it with the list's lock, or for the call that is alone. Does nothing if the call no
// longer waits, as after a time-out or a duplicate reply.
[[gnu::hot]] void ReplyReader::give(PendingReply& pending, const giop::Message& message,
                                    const transport::BorrowedBytes& borrowed) noexcept {
  CallState& state = pending.call();
  if (!state.is_waiting()) return;
  state.header = message.header;
  if (message.refusal != 0)  // too large; the operation ran
    return pending.settle({ErrorKind::imp_limit, Completion::yes, message.refusal});
  try {
    replies_.store(state, message, borrowed);
    pending.settle(CallState::Phase::answered);
  } catch (const std::bad_alloc&) {
    pending.settle({ErrorKind::no_memory, Completion::maybe, minor::out_of_memory});
  }
}

// Fails all calls. Closes the stream, so that a call which has just entered cannot send, and does not wait for a reply.
void ReplyReader::fail_and_close(const Error& error) noexcept {
  fail_all(error, false);
  stream_.close();
}

// Fails all waiting calls. `unread_is_no`: calls that the peer cannot have read are COMPLETED_NO.
void ReplyReader::fail_all(const Error& error, bool unread_is_no) noexcept {
  end_.lose();
  const auto fail = [&](PendingReply& pending) {
    if (!pending.call().is_waiting()) return;
    Error why = error;
    if (unread_is_no && !stream_.may_have_been_read(pending.call().sent_at)) why.completed = Completion::no;
    pending.settle(why);
  };
  if (alone_ != nullptr) fail(*alone_);
  {
    const os::LockGuard lock(calls_);
    calls_.for_each(fail);
  }
}

void ReplyReader::read_to_end() noexcept {
  constexpr int most_reads = 1024;
  for (int i = 0; i < most_reads && end_.is_open(); ++i)
    if (!read(Time{}, {})) return;
}

}  // namespace corelane::core
