// PendingReply is one call that waits for its reply. ReplyGroup holds calls that one thread waits for together.
// Threads: the caller's, unless noted. What the connection knows of a call (CallState) is the leader's while the call
// has the connection for itself, and otherwise guarded by the lock of WaitingCalls.
#pragma once

#include <cstdint>
#include <memory>

#include "orb/base/bytes.h"
#include "orb/base/error.h"
#include "orb/base/time.h"
#include "orb/giop/message.h"
#include "orb/os/memory/byte_buffer.h"
#include "orb/os/wait/doorbell.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class PendingReply;

// Interruption is other work for a thread that waits for a call, such as a call-back. Thread: the waiting one.
class Interruption {
 public:
  virtual bool is_called() const noexcept = 0;
  // Returns a doorbell that rings when is_called() has become true. Its open() was called.
  virtual os::Doorbell& bell() noexcept = 0;

 protected:
  ~Interruption() = default;
};

// ReplyGroup holds calls of one connection that one thread, the collector, waits for together.
class ReplyGroup {
 public:
  // Makes ClientConnection::attend() return. Thread: any.
  void wake() noexcept { parker_.unpark(); }

  // The rest is for the connection. The list holds the ended calls that attend() will return, in order; with the lock.
  os::Parker& parker() noexcept { return parker_; }
  bool has_ended() const noexcept { return first_ != nullptr; }
  void add_ended(PendingReply& pending) noexcept;
  PendingReply* take_ended() noexcept;

 private:
  os::Parker parker_;
  PendingReply* first_ = nullptr;
  PendingReply* last_ = nullptr;
};

// CallState is what a connection knows of one call.
struct CallState {
  enum class Phase : std::uint8_t { waiting, answered, failed };

  std::uint32_t id = 0;
  Phase phase = Phase::waiting;
  giop::MessageHeader header;
  // The reply lies in one of these.
  Bytes lies_at;
  os::ByteBuffer bytes;
  std::unique_ptr<std::byte[]> buffer;           // a buffer of the connection, which got the one that was here
  std::shared_ptr<const void> storage;           // keeps the memory of a long reply that the peer wrote
  transport::ArrivingBytes* arriving = nullptr;  // of that reply; null: all of it is there
  std::uint64_t sent_at = 0;                     // where the request begins in the stream
  Error error;
  os::Parker parker;
  // The next and the one before in the connection's list; guarded by the lock of WaitingCalls.
  PendingReply* before = nullptr;
  PendingReply* after = nullptr;
  // For posted calls.
  ReplyGroup* group = nullptr;
  PendingReply* next = nullptr;
  Time deadline = never;
  bool alone = false;    // its thread has the connection for itself; owner: that thread
  bool posting = false;  // its request is still being written
  bool away = false;     // its thread does something else

  bool is_waiting() const noexcept { return phase == Phase::waiting; }
  void fail(const Error& why) noexcept {
    phase = Phase::failed;
    error = why;
  }
};

// The caller owns and reuses it.
class PendingReply {
 public:
  // Returns the reply. Call it after wait(). If arriving() is not null, some of its bytes are still to come.
  giop::Message message() const noexcept { return {call_.header, call_.lies_at}; }
  // Returns what waits for the bytes of the reply that are still to come; null: all are there. Valid until forget().
  transport::ArrivingBytes* arriving() const noexcept { return call_.arriving; }
  // Releases the reply's memory if the peer lent it.
  void forget() noexcept {
    call_.storage.reset();
    call_.arriving = nullptr;
  }
  // Returns why the call failed. COMPLETED_NO: the server has not run and will not run the call, so it may be sent
  // again.
  const Error& error() const noexcept { return call_.error; }
  bool answered() const noexcept { return call_.phase == CallState::Phase::answered; }
  // Wakes the waiting thread if it sleeps in a wait with an Interruption. Thread: any, while a thread waits for the
  // call.
  void interrupt() noexcept { call_.parker.unpark(); }
  // Returns the next call in the list that attend() returned.
  PendingReply* next() const noexcept { return call_.next; }

  // The rest is for the connection.
  CallState& call() noexcept { return call_; }
  const CallState& call() const noexcept { return call_; }
  // Prepares for a new call. `group`: null if its own thread waits for it.
  void begin(std::uint32_t request_id, ReplyGroup* group, Time deadline) noexcept {
    call_.id = request_id;
    call_.phase = CallState::Phase::waiting;
    forget();
    call_.group = group;
    call_.next = nullptr;
    call_.deadline = deadline;
    call_.alone = false;
    call_.posting = group != nullptr;
    call_.away = false;
  }
  // Ends the call, and tells the thread that waits for it if that one does not read itself.
  void settle(CallState::Phase phase) noexcept {
    call_.phase = phase;
    if (call_.alone) return;
    if (call_.group == nullptr) return call_.parker.unpark();
    if (!call_.posting) call_.group->add_ended(*this);
  }
  void settle(const Error& error) noexcept {
    call_.error = error;
    settle(CallState::Phase::failed);
  }

 private:
  CallState call_;
};

inline void ReplyGroup::add_ended(PendingReply& pending) noexcept {
  (last_ == nullptr ? first_ : last_->call().next) = &pending;
  last_ = &pending;
  wake();
}

inline PendingReply* ReplyGroup::take_ended() noexcept {
  PendingReply* const ended = first_;
  first_ = last_ = nullptr;
  return ended;
}

}  // namespace corelane::core
