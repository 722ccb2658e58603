// ClientConnection: one connection to a server, shared by all threads that call it. Who waits reads: one of them is the
// leader and reads for all; when it has its own reply it hands over.
//
// Threads: any. One priority-inheriting mutex guards the list of waiting calls; it is held while a reply is copied to
// its call, never while reading from the socket.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/expected.h"
#include "orb/giop/assembler.h"
#include "orb/giop/code_sets.h"
#include "orb/os/doorbell.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class PendingReply;

// What else the thread of a call may have to look after while it waits. Thread: the waiting one.
class Interruption {
 public:
  virtual bool is_called() const noexcept = 0;
  // Rings when that has become true; open.
  virtual os::Doorbell& bell() noexcept = 0;

 protected:
  ~Interruption() = default;
};

// Calls of one connection that one thread, the collector, waits for together.
class ReplyGroup {
 public:
  // Ends attend(). Thread: any.
  void wake() noexcept { parker_.unpark(); }

 private:
  friend class ClientConnection;
  os::Parker parker_;
  // Guarded by the connection's mutex: what attend() is to give, in order.
  PendingReply* first_ = nullptr;
  PendingReply* last_ = nullptr;
};

// One call that waits for its reply. Lives with the caller; reused by it.
class PendingReply {
 public:
  enum class State : std::uint8_t { waiting, answered, failed };

  // After wait(): the reply, whole.
  giop::Message message() const noexcept { return {header_, lent_ ? lies_at_ : Bytes(bytes_)}; }
  // The reply is not needed any more: what the peer lent goes back.
  void forget() noexcept { lent_.reset(); }
  // After a failure. COMPLETED_NO: the server has not and will not run the call, so it may be sent again.
  const Error& error() const noexcept { return error_; }
  bool answered() const noexcept { return state_ == State::answered; }
  // Ends a wait for it that may be interrupted, if its thread sleeps. Thread: any, while it is waited for.
  void interrupt() noexcept { parker_.unpark(); }
  // In the list that attend() gave.
  PendingReply* next() const noexcept { return next_; }

 private:
  friend class ClientConnection;
  std::uint32_t id_ = 0;
  State state_ = State::waiting;
  giop::MessageHeader header_;
  std::vector<std::byte> bytes_;
  std::shared_ptr<const void> lent_;  // of a long reply, which then lies elsewhere
  Bytes lies_at_;
  std::uint64_t sent_at_ = 0;  // where the request begins in the stream
  Error error_;
  os::Parker parker_;
  // Of a posted call.
  ReplyGroup* group_ = nullptr;
  PendingReply* next_ = nullptr;
  Time deadline_ = never;
  bool posting_ = false;  // its request is still being written
  bool away_ = false;     // its thread does something else; guarded by the connection's mutex
};

class ClientConnection {
 public:
  // `room`: for half received replies; see giop::Assembler.
  ClientConnection(std::shared_ptr<transport::Connection> stream, const giop::Limits& limits,
                   std::unique_ptr<giop::HalfRoom> room = nullptr);
  ~ClientConnection();

  // Sends a request that gets a reply, and waits for it. False: failed, see pending.error(); TIMEOUT is COMPLETED_MAYBE
  // and has sent a CancelRequest.
  bool call(PendingReply& pending, std::uint32_t request_id, Bytes request, Time deadline, os::WaitStrategy strategy);
  // The same in two: false: not sent, and that was that.
  bool start(PendingReply& pending, std::uint32_t request_id, Bytes request, Time deadline);
  // False: `beside` has called, and the call is still under way; wait again.
  bool wait(PendingReply& pending, Time deadline, os::WaitStrategy strategy, Interruption* beside = nullptr);
  // Sends a request whose reply goes to the group's collector. False: not sent, see pending.error(), COMPLETED_NO.
  bool post(PendingReply& pending, std::uint32_t request_id, Bytes request, Time deadline, ReplyGroup& group);
  // Thread: the group's collector. Waits until calls of the group have ended, one has passed its deadline, or wake();
  // gives those that have ended, as a list. With calls under way it reads for all when nobody does.
  PendingReply* attend(ReplyGroup& group);
  // Sends a request without reply. Who is no real-time thread waits for room until the deadline.
  Expected<void> send(Bytes request, Time deadline) noexcept;

  // False when it cannot carry another call. Looks at the stream when it was idle for long.
  bool usable() noexcept;
  void close() noexcept;
  // False: it will carry nothing any more.
  bool open() const noexcept { return !broken_.load(std::memory_order_relaxed); }  // relaxed: a hint

  // What the requests so far have named; nothing: none has.
  std::optional<giop::CodeSetChoice> named_code_sets() const noexcept {
    const std::uint64_t sets = code_sets_.load(std::memory_order_relaxed);  // relaxed: the server has read it
    if (sets == 0) return std::nullopt;
    return giop::CodeSetChoice{static_cast<std::uint32_t>(sets >> 32), static_cast<std::uint32_t>(sets)};
  }
  // A request that names these was answered, or is on its way with all others behind it.
  void name_code_sets(const giop::CodeSetChoice& choice) noexcept {
    code_sets_.store(std::uint64_t{choice.for_char} << 32 | choice.for_wchar, std::memory_order_relaxed);
  }
  const transport::Endpoint& peer() const noexcept { return stream_->peer(); }
  // For who marshals a request while he keeps this.
  transport::Connection& stream() const noexcept { return *stream_; }

 private:
  using Lock = std::unique_lock<os::PiMutex>;
  static constexpr Duration long_idle = std::chrono::milliseconds{20};

  void lead_or_sleep(Lock& lock, bool may_lead, os::Parker& parker, Time deadline, os::WaitStrategy strategy = {},
                     Interruption* beside = nullptr);
  bool read_some(Time deadline, os::WaitStrategy strategy);
  bool took(const Expected<std::size_t>& got, const transport::Lent& lent = {});
  bool glance();
  void read_beside(Time deadline, os::WaitStrategy strategy, Interruption& beside);
  void take(Bytes bytes, const transport::Lent& lent);
  void deliver(const giop::Message& message, const transport::Lent& lent) noexcept;
  void lose_all(const Error& reason) noexcept;
  Expected<void> send_by(Time deadline, Bytes request, bool may_wait, std::uint64_t& position) noexcept;
  void not_sent(PendingReply& pending, const Error& error);
  void fail_all(Error error) noexcept;
  // With mutex_ held.
  void settle(PendingReply& pending, PendingReply::State state) noexcept;
  static void hand_over(PendingReply& pending) noexcept;
  bool may_lead(const ReplyGroup& group) const noexcept;
  Time earliest_deadline(const ReplyGroup& group) const noexcept;
  void expire(const ReplyGroup& group) noexcept;
  void wake_successor() noexcept;
  void remove(PendingReply& pending) noexcept;

  void cancel(std::uint32_t request_id) noexcept;

  const std::shared_ptr<transport::Connection> stream_;
  const giop::Limits limits_;
  std::atomic<std::uint64_t> code_sets_{0};  // see named_code_sets(): for char, then for wchar
  std::atomic<bool> broken_{false};

  // Owner: the leader.
  giop::Assembler assembler_;
  std::vector<std::byte> buffer_;
  os::AdaptiveSpin learnt_;  // of those that wait beside something

  os::PiMutex mutex_;
  // Guarded by mutex_.
  std::vector<PendingReply*> waiting_;
  bool led_ = false;
  Time last_used_{};
};

}  // namespace corelane::core
