// ClientConnection is one connection to a server, which threads may share. A thread that has the connection for itself
// sends its request and reads its own reply, without a lock. Threads that share it wait in a list. One of them, the
// leader, reads for all. When the leader has its own reply, it wakes another thread to lead. While no thread leads, a
// thread that waits for room to send reads, too.
//
// Threads: any. use_ says whether a thread leads and whether the list has entries. It is taken like a lock: a thread
// that finds it 0 leads alone, and its call is not in the list. One mutex with priority inheritance guards the list. It
// is held while a reply is copied to a call of the list, never while reading from the socket.
//
// The folder orb/core/connections has a client's connections to servers.
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
#include "orb/core/connections/oneway_batch.h"
#include "orb/giop/assembler.h"
#include "orb/giop/code_sets.h"
#include "orb/os/memory/byte_buffer.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait/doorbell.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class ClientConnection;
class PendingList;
class PendingReply;

// ConnectionOwner is told that its connection will carry no more calls, because it broke or was unused for long.
// Thread: any; no lock of the connection is held.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  // Called once for each connection. `answered`: it has delivered a reply before.
  virtual void on_broken(ClientConnection& connection, bool answered) noexcept = 0;
};

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
  // Makes attend() return. Thread: any.
  void wake() noexcept { parker_.unpark(); }

 private:
  friend class ClientConnection;
  os::Parker parker_;
  // Guarded by the connection's mutex: the ended calls that attend() will return, in order.
  PendingReply* first_ = nullptr;
  PendingReply* last_ = nullptr;
};

// PendingReply is one call that waits for its reply. The caller owns and reuses it.
class PendingReply {
 public:
  enum class State : std::uint8_t { waiting, answered, failed };

  // Returns the whole reply. Call it after wait().
  giop::Message message() const noexcept { return {header_, lies_at_}; }
  // Releases the reply's memory if the peer lent it.
  void forget() noexcept { storage_.reset(); }
  // Returns why the call failed. COMPLETED_NO: the server has not run and will not run the call, so it may be sent
  // again.
  const Error& error() const noexcept { return error_; }
  bool answered() const noexcept { return state_ == State::answered; }
  // Wakes the waiting thread if it sleeps in a wait with an Interruption. Thread: any, while a thread waits for the
  // call.
  void interrupt() noexcept { parker_.unpark(); }
  // Returns the next call in the list that attend() returned.
  PendingReply* next() const noexcept { return next_; }

 private:
  friend class ClientConnection;
  friend class PendingList;
  // Prepares for a new call. `group`: null if its own thread waits for it.
  void begin(std::uint32_t id, ReplyGroup* group, Time deadline) noexcept;

  std::uint32_t id_ = 0;
  State state_ = State::waiting;
  giop::MessageHeader header_;
  // The reply lies in one of these.
  Bytes lies_at_;
  os::ByteBuffer bytes_;
  std::unique_ptr<std::byte[]> buffer_;  // a buffer of the connection, which got the one that was here
  std::shared_ptr<const void> storage_;  // keeps the memory of a long reply that the peer wrote
  std::uint64_t sent_at_ = 0;            // where the request begins in the stream
  Error error_;
  os::Parker parker_;
  // Neighbors in the connection's list; guarded by the connection's mutex.
  PendingReply* before_ = nullptr;
  PendingReply* after_ = nullptr;
  // For posted calls.
  ReplyGroup* group_ = nullptr;
  PendingReply* next_ = nullptr;
  Time deadline_ = never;
  bool alone_ = false;    // its thread has the connection for itself; owner: that thread
  bool posting_ = false;  // its request is still being written
  bool away_ = false;     // its thread does something else; guarded by the connection's mutex
};

// PendingList is a list of calls in the order in which they came. A call is in at most one such list.
class PendingList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  void push_back(PendingReply& added) noexcept;
  void erase(PendingReply& removed) noexcept;
  // Returns the first call for which the condition holds; null if there is none.
  template <typename Condition>
  PendingReply* find(Condition condition) const {
    PendingReply* p = first_;
    while (p != nullptr && !condition(*p)) p = p->after_;
    return p;
  }
  template <typename Function>
  void for_each(Function function) const {
    for (PendingReply* p = first_; p != nullptr; p = p->after_) function(*p);
  }

 private:
  PendingReply* first_ = nullptr;
  PendingReply* last_ = nullptr;
};

class ClientConnection final : public transport::ConnectionMonitor {
 public:
  ClientConnection(std::shared_ptr<transport::Connection> stream, const giop::Limits& limits);
  ~ClientConnection() override;
  // Makes a connection that also monitors its stream. It notices the peer's end and its own idle times, and tells the
  // owner.
  static std::shared_ptr<ClientConnection> make(std::shared_ptr<transport::Connection> stream,
                                                const giop::Limits& limits, std::weak_ptr<ConnectionOwner> owner = {});

  // The parts of one request. They may be freed after the request was sent.
  using Parts = std::span<const Bytes>;

  // Sends a request that gets a reply, and waits for the reply. Returns false if the call failed, see pending.error().
  // After TIMEOUT, which is COMPLETED_MAYBE, a CancelRequest was sent.
  bool call(PendingReply& pending, std::uint32_t request_id, Parts request, Time deadline, os::WaitStrategy strategy);
  bool call(PendingReply& pending, std::uint32_t request_id, Bytes request, Time deadline, os::WaitStrategy strategy) {
    return call(pending, request_id, Parts{&request, 1}, deadline, strategy);
  }
  // Do the same in two steps. start() returns false if the request was not sent; do not call wait() then.
  bool start(PendingReply& pending, std::uint32_t request_id, Parts request, Time deadline);
  // Returns false if `beside` interrupted the wait. The call is still in progress, so call wait() again.
  bool wait(PendingReply& pending, Time deadline, os::WaitStrategy strategy, Interruption* beside = nullptr);
  // Sends a request whose reply goes to the group's collector. Returns false if it was not sent; pending.error() is
  // then COMPLETED_NO.
  bool post(PendingReply& pending, std::uint32_t request_id, Parts request, Time deadline, ReplyGroup& group);
  // Blocks until calls of the group have ended, one has passed its deadline, or wake() is called. Returns at `until` if
  // the group has no calls. Returns the ended calls as a list. While calls are in progress and no other thread reads,
  // it reads for all. Thread: the group's collector.
  PendingReply* attend(ReplyGroup& group, Time until = never);
  // Sends a request without reply. A thread that is not real-time waits for room until the deadline. `may_batch`: the
  // request may be sent together with others that the thread sends right before and after it; see OnewayBatch.
  Expected<void> send(Parts request, Time deadline, bool may_batch = false) noexcept;

  // Returns false if it cannot carry another call. Checks the stream if the connection was idle for long.
  bool usable(Time now) noexcept;
  // Returns whether a call that begins now would have to share it. A hint.
  bool busy() const noexcept { return use_.load(std::memory_order_relaxed) != 0; }  // relaxed: a hint
  void close() noexcept;
  // Closes the connection when the waiting oneways have been sent, or at `deadline`. Until then, calls in progress go
  // on.
  void close_when_sent(Time deadline) noexcept;
  // Returns false if it will carry nothing any more.
  bool open() const noexcept { return !broken_.load(std::memory_order_relaxed); }  // relaxed: a hint

  // Returns the code sets that earlier requests have named; nothing if none has.
  std::optional<giop::CodeSetChoice> named_code_sets() const noexcept {
    const std::uint64_t sets = code_sets_.load(std::memory_order_relaxed);  // relaxed: the server has read it
    if (sets == 0) return std::nullopt;
    return giop::CodeSetChoice{static_cast<std::uint32_t>(sets >> 32), static_cast<std::uint32_t>(sets)};
  }
  // Notes that a request which named these code sets was answered, or is on its way ahead of all later ones.
  void name_code_sets(const giop::CodeSetChoice& choice) noexcept {
    code_sets_.store(std::uint64_t{choice.for_char} << 32 | choice.for_wchar, std::memory_order_relaxed);
  }
  // Counts the threads that use it as their connection. The pool maintains the count.
  std::atomic<int>& threads() noexcept { return threads_; }
  // Counts the tasks that depend on it. While there are any, it is not closed as idle.
  std::atomic<int>& tasks() noexcept { return tasks_; }
  const transport::Endpoint& peer() const noexcept { return stream_->peer(); }
  // Returns the first bytes of a peer that does not speak GIOP, as readable text. Empty if the peer speaks GIOP or has
  // sent nothing. Call it after a call has failed.
  std::string foreign_words() const;
  // Returns whether it has delivered a reply.
  bool answered() const noexcept { return answered_.load(std::memory_order_relaxed); }  // relaxed: a hint
  // Returns the stream, for a caller that encodes a request while it keeps this connection.
  transport::Connection& stream() const noexcept { return *stream_; }

  void on_peer_end() noexcept override;
  void on_idle() noexcept override;

 private:
  using Lock = std::unique_lock<os::PiMutex>;
  static constexpr Duration long_idle = std::chrono::milliseconds{20};
  static constexpr std::size_t buffer_size = 68 * 1024;    // holds 64 KiB of results and their header
  static constexpr std::size_t exchanged_from = 8 * 1024;  // from this size on, a call gets the buffer, not a copy
  static constexpr Error lost{ErrorKind::comm_failure, Completion::maybe, minor::connection_lost};
  static constexpr Error dismissed{ErrorKind::transient, Completion::no, minor::peer_closed};
  // Bits of use_.
  static constexpr std::uint32_t led = 1, listed = 2;

  bool enter_alone(PendingReply& pending) noexcept;
  bool lead_unlisted() noexcept;
  void set_listed() noexcept;
  void enter(PendingReply& pending) noexcept;
  void share(PendingReply& pending) noexcept;
  void leave_alone(PendingReply& pending) noexcept;
  bool wait_alone(PendingReply& pending, Time deadline, os::WaitStrategy strategy, Interruption* beside);
  bool lead() noexcept;
  void stop_leading() noexcept;
  void read_to_end() noexcept;
  void settle_end() noexcept;
  void read_last_words(PendingReply& pending);
  void break_up() noexcept;
  void fail_waiting(const Error& error, bool unread_is_no) noexcept;
  void give(PendingReply& pending, const giop::Message& message, const transport::BorrowedBytes& borrowed) noexcept;

  void lead_or_sleep(Lock& lock, bool may_lead, os::Parker& parker, Time deadline, os::WaitStrategy strategy = {},
                     Interruption* beside = nullptr);
  bool read_some(Time deadline, os::WaitStrategy strategy);
  bool took(const Expected<std::size_t>& got, const transport::BorrowedBytes& borrowed = {});
  bool poll_receive();
  bool read_beside(Time deadline, os::WaitStrategy strategy, Interruption& beside);
  void take(Bytes bytes, const transport::BorrowedBytes& borrowed);
  bool is_giop(Bytes bytes) noexcept;
  bool take_whole_reply(Bytes bytes, const transport::BorrowedBytes& borrowed);
  bool exchange_buffer(PendingReply& pending, Bytes message) noexcept;
  void keep_reply(PendingReply& pending, const giop::Message& message, const transport::BorrowedBytes& borrowed);
  void deliver(const giop::Message& message, const transport::BorrowedBytes& borrowed) noexcept;
  void lose_all(const Error& reason) noexcept;
  Expected<void> send_by(Time deadline, Parts request, bool may_wait, std::uint64_t& position) noexcept;
  Expected<void> send_when_room(Time deadline, Parts request, std::uint64_t& position) noexcept;
  bool read_if_nobody_does() noexcept;
  void step_away(PendingReply& pending) noexcept;
  Expected<void> send_behind_batch(Time deadline, Parts request, std::uint64_t& position) noexcept;
  void not_sent(PendingReply& pending, const Error& error);
  void warn_of_loss(const Error& error) noexcept;
  void fail_and_close(const Error& error) noexcept;
  Error why_lost() const noexcept;
  // Call it with mutex_ held, or for the call that is alone.
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
  const std::shared_ptr<OnewayBatch> batch_;  // null if a single send costs little
  const giop::Limits limits_;
  std::weak_ptr<ConnectionOwner> owner_;  // constant

  // Shared.
  std::atomic<std::uint64_t> code_sets_{0};  // see named_code_sets(): for char, then for wchar
  std::atomic<bool> broken_{false};
  std::atomic<bool> told_owner_{false}, told_loss_{false};
  std::atomic<bool> answered_{false};
  std::atomic<bool> dismissed_{false};  // by CloseConnection: calls without a reply have not run and will not
  std::atomic<bool> peer_ended_{false};
  std::atomic<int> threads_{0}, tasks_{0};
  std::atomic<Time> last_used_;  // when the latest call began
  // led: a thread reads, or is about to. listed: waiting_ has entries. led changes like a lock; listed changes with
  // mutex_ held.
  std::atomic<std::uint32_t> use_{0};

  // Owner: the leader.
  giop::Assembler assembler_;
  std::unique_ptr<std::byte[]> buffer_;
  bool has_one_message_ = false;   // the last read was exactly one message
  os::AdaptiveSpin learnt_;        // of threads that wait with an Interruption
  PendingReply* alone_ = nullptr;  // the leader's own call, when it is not in the list
  std::uint8_t checked_ = 0;       // how many of the stream's first four bytes are checked
  // What the peer sent instead of GIOP. Written before the calls fail, and read after that.
  std::vector<std::byte> foreign_;

  os::PiMutex mutex_;
  // Guarded by mutex_.
  PendingList waiting_;
};

}  // namespace corelane::core
