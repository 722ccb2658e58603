// ClientConnection: one connection to a server. A thread that has it for itself sends its request and reads its own
// reply, without a lock. Threads that share it wait in a list: one of them, the leader, reads for all; when it has its
// own reply it wakes another one to lead.
//
// Threads: any. use_ says whether somebody leads and whether the list has entries. It is taken like a lock: a thread
// that finds it 0 leads alone, and its call is not in the list. One priority-inheriting mutex guards the list; it is
// held while a reply is copied to a call of the list, never while reading from the socket.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/minor.h"
#include "orb/core/oneway_batch.h"
#include "orb/giop/assembler.h"
#include "orb/giop/code_sets.h"
#include "orb/os/byte_buffer.h"
#include "orb/os/doorbell.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class ClientConnection;
class PendingReply;

// The owner of a connection, which hears that it will carry no more calls, or that nobody has used it for long.
// Thread: any; no lock of the connection is held.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  // Once for each connection. `answered`: it has brought a reply before.
  virtual void on_broken(ClientConnection& connection, bool answered) noexcept = 0;
};

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
  giop::Message message() const noexcept { return {header_, lies_at_}; }
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
  // The reply lies in one of these.
  Bytes lies_at_;
  os::ByteBuffer bytes_;
  std::unique_ptr<std::byte[]> buffer_;  // the connection's, which has got the one that was here
  std::shared_ptr<const void> lent_;     // what keeps the memory of a long reply that the peer wrote
  std::uint64_t sent_at_ = 0;            // where the request begins in the stream
  Error error_;
  os::Parker parker_;
  // Of a posted call.
  ReplyGroup* group_ = nullptr;
  PendingReply* next_ = nullptr;
  Time deadline_ = never;
  bool alone_ = false;    // its thread has the connection for itself; of that thread
  bool posting_ = false;  // its request is still being written
  bool away_ = false;     // its thread does something else; guarded by the connection's mutex
};

class ClientConnection final : public transport::ConnectionMonitor {
 public:
  ClientConnection(std::shared_ptr<transport::Connection> stream, const giop::Limits& limits);
  ~ClientConnection() override;
  // The same, and from the start the connection notices the peer's end and its own idle times, and tells the owner.
  static std::shared_ptr<ClientConnection> make(std::shared_ptr<transport::Connection> stream,
                                                const giop::Limits& limits, std::weak_ptr<ConnectionOwner> owner = {});

  // The parts of one request, which need not be kept once it was sent.
  using Parts = std::span<const Bytes>;

  // Sends a request that gets a reply, and waits for it. False: failed, see pending.error(); TIMEOUT is COMPLETED_MAYBE
  // and has sent a CancelRequest.
  bool call(PendingReply& pending, std::uint32_t request_id, Parts request, Time deadline, os::WaitStrategy strategy);
  bool call(PendingReply& pending, std::uint32_t request_id, Bytes request, Time deadline, os::WaitStrategy strategy) {
    return call(pending, request_id, Parts{&request, 1}, deadline, strategy);
  }
  // The same in two: false: not sent, and that was that.
  bool start(PendingReply& pending, std::uint32_t request_id, Parts request, Time deadline);
  // False: `beside` has called, and the call is still under way; wait again.
  bool wait(PendingReply& pending, Time deadline, os::WaitStrategy strategy, Interruption* beside = nullptr);
  // Sends a request whose reply goes to the group's collector. False: not sent, see pending.error(), COMPLETED_NO.
  bool post(PendingReply& pending, std::uint32_t request_id, Parts request, Time deadline, ReplyGroup& group);
  // Thread: the group's collector. Waits until calls of the group have ended, one has passed its deadline, wake(), or
  // `until` where the group has no calls; gives those that have ended, as a list. With calls under way it reads for all
  // when nobody does.
  PendingReply* attend(ReplyGroup& group, Time until = never);
  // Sends a request without reply. Who is no real-time thread waits for room until the deadline. `may_batch`: it may go
  // out with others that the thread sends right before and after it; see OnewayBatch.
  Expected<void> send(Parts request, Time deadline, bool may_batch = false) noexcept;

  // False when it cannot carry another call. Looks at the stream when it was idle for long.
  bool usable(Time now) noexcept;
  // A call that begins now would have to share it. A hint.
  bool busy() const noexcept { return use_.load(std::memory_order_relaxed) != 0; }  // relaxed: a hint
  void close() noexcept;
  // Calls under way go on until the oneways that wait have been sent, or until `deadline`.
  void close_when_sent(Time deadline) noexcept;
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
  // Threads that have it as theirs, for a pool to count.
  std::atomic<int>& threads() noexcept { return threads_; }
  // Tasks that live by it: it is not closed as idle.
  std::atomic<int>& tasks() noexcept { return tasks_; }
  const transport::Endpoint& peer() const noexcept { return stream_->peer(); }
  // The first bytes of a peer that does not speak GIOP, as text for people; empty: it does, or has said nothing. For a
  // call that has failed.
  std::string foreign_words() const;
  // It has brought a reply.
  bool answered() const noexcept { return answered_.load(std::memory_order_relaxed); }  // relaxed: a hint
  // For a caller that marshals a request while it keeps this.
  transport::Connection& stream() const noexcept { return *stream_; }

  void on_peer_end() noexcept override;
  void on_idle() noexcept override;

 private:
  using Lock = std::unique_lock<os::PiMutex>;
  static constexpr Duration long_idle = std::chrono::milliseconds{20};
  static constexpr std::size_t buffer_size = 68 * 1024;    // holds 64 KiB of results and their header
  static constexpr std::size_t exchanged_from = 8 * 1024;  // a reply in the buffer goes to the call with the buffer
  static constexpr Error lost{ErrorKind::comm_failure, Completion::maybe, minor::connection_lost};
  static constexpr Error dismissed{ErrorKind::transient, Completion::no, minor::peer_closed};
  // Bits of use_.
  static constexpr std::uint32_t led = 1, listed = 2;

  bool enter_alone(PendingReply& pending) noexcept;
  bool lead_unlisted() noexcept;
  void set_listed() noexcept;
  void enter(PendingReply& pending);
  void share(PendingReply& pending);
  void leave_alone(PendingReply& pending) noexcept;
  bool wait_alone(PendingReply& pending, Time deadline, os::WaitStrategy strategy, Interruption* beside);
  bool lead() noexcept;
  void stop_leading() noexcept;
  void read_to_end() noexcept;
  void settle_end() noexcept;
  void read_last_words(PendingReply& pending);
  void break_up() noexcept;
  void fail_waiting(const Error& error, bool unread_is_no) noexcept;
  void give(PendingReply& pending, const giop::Message& message, const transport::Lent& lent) noexcept;

  void lead_or_sleep(Lock& lock, bool may_lead, os::Parker& parker, Time deadline, os::WaitStrategy strategy = {},
                     Interruption* beside = nullptr);
  bool read_some(Time deadline, os::WaitStrategy strategy);
  bool took(const Expected<std::size_t>& got, const transport::Lent& lent = {});
  bool glance();
  bool read_beside(Time deadline, os::WaitStrategy strategy, Interruption& beside);
  void take(Bytes bytes, const transport::Lent& lent);
  bool is_giop(Bytes bytes) noexcept;
  bool take_whole_reply(Bytes bytes, const transport::Lent& lent);
  bool exchange_buffer(PendingReply& pending, Bytes message) noexcept;
  void keep_reply(PendingReply& pending, const giop::Message& message, const transport::Lent& lent);
  void deliver(const giop::Message& message, const transport::Lent& lent) noexcept;
  void lose_all(const Error& reason) noexcept;
  Expected<void> send_by(Time deadline, Parts request, bool may_wait, std::uint64_t& position) noexcept;
  Expected<void> send_behind_batch(Time deadline, Parts request, std::uint64_t& position) noexcept;
  void not_sent(PendingReply& pending, const Error& error);
  void warn_of_loss(const Error& error) noexcept;
  void fail_all(const Error& error) noexcept;
  Error why_lost() const noexcept;
  // With mutex_ held, or of the call that is alone.
  void settle(PendingReply& pending, PendingReply::State state) noexcept;
  static void hand_over(PendingReply& pending) noexcept;
  bool may_lead(const ReplyGroup& group) const noexcept;
  Time earliest_deadline(const ReplyGroup& group, Time without_calls) const noexcept;
  void expire(const ReplyGroup& group) noexcept;
  void wake_successor() noexcept;
  void update_listed() noexcept;
  void remove(PendingReply& pending) noexcept;

  void cancel(std::uint32_t request_id) noexcept;

  const std::shared_ptr<transport::Connection> stream_;
  const std::shared_ptr<OnewayBatch> batch_;  // null where a send costs little
  const giop::Limits limits_;
  std::weak_ptr<ConnectionOwner> owner_;  // constant

  // Shared.
  std::atomic<std::uint64_t> code_sets_{0};  // see named_code_sets(): for char, then for wchar
  std::atomic<bool> broken_{false};
  std::atomic<bool> told_owner_{false}, told_loss_{false};
  std::atomic<bool> answered_{false};
  std::atomic<bool> dismissed_{false};  // by CloseConnection: what has no reply by then has not run and will not
  std::atomic<bool> peer_ended_{false};
  std::atomic<int> threads_{0}, tasks_{0};
  std::atomic<Time> last_used_;  // when the latest call began
  // led: somebody reads, or is about to; listed: waiting_ has entries. The first changes as a lock does, the second
  // with mutex_ held.
  std::atomic<std::uint32_t> use_{0};

  // Owner: the leader.
  giop::Assembler assembler_;
  std::unique_ptr<std::byte[]> buffer_;
  bool has_one_message_ = false;   // what was read last, and nothing else
  os::AdaptiveSpin learnt_;        // of those that wait beside something
  PendingReply* alone_ = nullptr;  // the leader's own call, when it is not in the list
  std::uint8_t checked_ = 0;       // of the stream's first four bytes
  // What came instead of GIOP. Written before the calls fail, and read by them.
  std::vector<std::byte> foreign_;

  os::PiMutex mutex_;
  // Guarded by mutex_.
  std::vector<PendingReply*> waiting_;
};

}  // namespace corelane::core
