// This file is the reading part of ClientConnection: it delivers messages to the waiting calls, and handles the peer's
// end.
// Thread: the leader's, except on_peer_end(), which runs on the reactor's thread.
#include <chrono>
#include <new>

#include "orb/base/minor.h"
#include "orb/core/connections/client_connection.h"
#include "orb/os/clock.h"
#include "orb/os/wait/wait_loop.h"

namespace corelane::core {

// Reads once. Returns false if nothing came by the deadline.
bool ClientConnection::read_some(Time deadline, os::WaitStrategy strategy) {
  transport::BorrowedBytes borrowed;
  const auto got = stream_->receive(replies_.buffer(), deadline, strategy, borrowed);
  return took(got, borrowed);
}

bool ClientConnection::poll_receive() {
  transport::BorrowedBytes borrowed;
  const auto got = stream_->poll_receive(replies_.buffer(), borrowed);
  return took(got, borrowed);
}

// Takes what was read. Returns false if that is nothing.
bool ClientConnection::took(const Expected<std::size_t>& got, const transport::BorrowedBytes& borrowed) {
  if (!got && got.error().kind == ErrorKind::timeout) return false;
  if (!got || *got == 0) {
    // The peer is gone. Requests that it has never read did not run.
    Error error = end_.why_lost();
    if (!got && got.error().minor == minor::channel_spoiled) error.minor = minor::channel_spoiled;
    return fail_all(error, true), true;
  }
  const Bytes bytes = borrowed.storage ? borrowed.bytes : Bytes(replies_.buffer()).first(*got);
  const auto taken = replies_.take(bytes, open(), [&](const giop::Message& message) { deliver(message, borrowed); });
  if (!taken) {
    fail_all(taken.error());
    stream_->close();
  }
  return true;
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

void ClientConnection::deliver(const giop::Message& message, const transport::BorrowedBytes& borrowed) noexcept {
  if (message.header.type == giop::MessageType::close_connection) {
    // Orderly close: calls without a reply have not run and will not run. CORBA 3.3 part 2, 9.5.1.1.
    end_.dismiss();
    return fail_all(ClientEnd::dismissed);
  }
  if (message.header.type == giop::MessageType::message_error)
    return fail_all({ErrorKind::comm_failure, Completion::maybe, minor::message_error});
  const auto id = replies_.request_id_of(message);
  if (!id) return fail_all({ErrorKind::marshal, Completion::maybe, minor::truncated});
  end_.note_answered();
  if (alone_ != nullptr && alone_->call().id == *id) return give(*alone_, message, borrowed);
  if (!leader_.has_listed()) return;
  const Lock lock = calls_.lock();
  if (PendingReply* const found = calls_.find(*id)) give(*found, message, borrowed);
}

// Gives the reply to its call. Call it with the list's lock, or for the call that is alone. Does nothing if the call no
// longer waits, as after a time-out or a duplicate reply.
void ClientConnection::give(PendingReply& pending, const giop::Message& message,
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

// Fails all waiting calls. `unread_is_no`: calls that the peer cannot have read are COMPLETED_NO. Thread: the leader's.
void ClientConnection::fail_all(const Error& error, bool unread_is_no) noexcept {
  end_.break_up();
  const auto fail = [&](PendingReply& pending) {
    if (!pending.call().is_waiting()) return;
    Error why = error;
    if (unread_is_no && !stream_->may_have_been_read(pending.call().sent_at)) why.completed = Completion::no;
    pending.settle(why);
  };
  if (alone_ != nullptr) fail(*alone_);
  {
    const Lock lock = calls_.lock();
    calls_.for_each(fail);
  }
  break_up();
}

// Reads what the peer sent before its end. If another thread leads, it may be reading the same; then this thread waits
// until that is done.
void ClientConnection::read_last_words(PendingReply& pending) {
  if (pending.call().alone) {
    read_some(Time{}, {});
    return;
  }
  constexpr std::chrono::seconds longest{1};  // the stream has ended, so reading it does not take long
  constexpr std::chrono::milliseconds pause{1};
  Lock lock = calls_.lock();
  const Time until = os::now() + longest;
  bool has_read = false;
  while (!has_read && pending.call().is_waiting() && os::now() < until) {  // bound: the time
    has_read = leader_.lead();
    lock.unlock();
    if (has_read) {
      read_some(Time{}, {});
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

void ClientConnection::settle_end() noexcept {
  if (!end_.has_peer_ended() || !open() || !leader_.lead()) return;
  read_to_end();
  const Lock lock = calls_.lock();
  calls_.stop_leading();
}

// Reads what the peer sent before its end: replies, and perhaps CloseConnection. Thread: the leader's. Bound:
// most_reads.
void ClientConnection::read_to_end() noexcept {
  constexpr int most_reads = 1024;
  for (int i = 0; i < most_reads && open(); ++i)
    if (!read_some(Time{}, {})) return;
}

}  // namespace corelane::core
