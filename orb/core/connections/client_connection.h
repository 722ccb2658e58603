// ClientConnection is one connection to a server, which threads may share. A thread that has the connection for itself
// sends its request and reads its own reply, without a lock. Threads that share it wait in a list. One of them, the
// leader, reads for all. When the leader has its own reply, it wakes another thread to lead. While no thread leads, a
// thread that waits for room to send reads, too.
//
// Its parts: LeaderState says which thread leads, WaitingCalls is the list, RequestSender sends, ReplyReader reads and
// delivers, and ClientEnd knows how the connection ends.
//
// Threads: any.
//
// The folder orb/core/connections has a client's connections to servers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/core/connections/client_end.h"
#include "orb/core/connections/leader_state.h"
#include "orb/core/connections/named_code_sets.h"
#include "orb/core/connections/pending_reply.h"
#include "orb/core/connections/reply_reader.h"
#include "orb/core/connections/request_sender.h"
#include "orb/core/connections/waiting_calls.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class ClientConnection;

// ConnectionOwner is told that its connection will carry no more calls, because it broke or was unused for long.
// Thread: any; no lock of the connection is held.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  // Called once for each connection. `answered`: it has delivered a reply before.
  virtual void on_broken(ClientConnection& connection, bool answered) noexcept = 0;
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
  using Parts = RequestSender::Parts;

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
  // the group has no calls, and at `latest` in any case. Returns the ended calls as a list. While calls are in progress
  // and no other thread reads, it reads for all. Thread: the group's collector.
  PendingReply* attend(ReplyGroup& group, Time until = never, Time latest = never);
  // Sends a request without reply. A thread that is not real-time waits for room until the deadline. `may_batch`: the
  // request may be sent together with others that the thread sends right before and after it; see OnewayBatch.
  Expected<void> send(Parts request, Time deadline, bool may_batch = false) noexcept;

  // Returns false if it cannot carry another call. Checks the stream if the connection was idle for long.
  bool usable(Time now) noexcept;
  // Returns whether a call that begins now would have to share it. A hint.
  bool busy() const noexcept { return leader_.is_busy(); }
  void close() noexcept;
  // Closes the connection when the waiting oneways have been sent, or at `deadline`. Until then, calls in progress go
  // on.
  void close_when_sent(Time deadline) noexcept;
  // Returns false if it will carry nothing any more.
  bool open() const noexcept { return end_.is_open(); }

  // Returns which code sets requests over this connection have named.
  NamedCodeSets& code_sets() noexcept { return code_sets_; }
  // Counts the threads that use it as their connection. The pool maintains the count.
  std::atomic<int>& threads() noexcept { return threads_; }
  // Counts the tasks that depend on it. While there are any, it is not closed as idle.
  std::atomic<int>& tasks() noexcept { return tasks_; }
  const transport::Endpoint& peer() const noexcept { return stream_->peer(); }
  // Returns the first bytes of a peer that does not speak GIOP, as readable text. Empty if the peer speaks GIOP or has
  // sent nothing. Call it after a call has failed.
  std::string foreign_words() const { return reader_.foreign_words(); }
  // Returns whether it has delivered a reply.
  bool answered() const noexcept { return end_.is_answered(); }
  // Returns the stream, for a caller that encodes a request while it keeps this connection.
  transport::Connection& stream() const noexcept { return *stream_; }

  void on_peer_end() noexcept override;
  void on_idle() noexcept override;

 private:
  static constexpr Duration long_idle = std::chrono::milliseconds{20};

  void enter(PendingReply& pending) noexcept;
  void step_away(PendingReply& pending) noexcept CORELANE_REQUIRES(calls_);
  void leave_alone(PendingReply& pending) noexcept;
  bool wait_alone(PendingReply& pending, Time deadline, os::WaitStrategy strategy, Interruption* beside);
  bool wait_listed(PendingReply& pending, Time deadline, os::WaitStrategy strategy, Interruption* beside);
  void lead_or_sleep(bool may_lead, os::Parker& parker, Time deadline, os::WaitStrategy strategy = {},
                     Interruption* beside = nullptr) CORELANE_REQUIRES(calls_);
  void cancel_if_late(const PendingReply& pending) noexcept;
  Expected<void> send_by_class(Time deadline, Parts request, std::uint64_t& position) noexcept;
  Expected<void> send_when_room(Time deadline, Parts request, std::uint64_t& position) noexcept;
  bool read_if_nobody_does() noexcept;
  void not_sent(PendingReply& pending, const Error& error);
  void fail_unsent(PendingReply& pending, const Error& error, bool is_lost) noexcept;
  void warn_of_loss(const Error& error) noexcept;
  void break_up() noexcept;

  void tell_owner_if_lost() noexcept {
    if (end_.is_lost()) break_up();
  }

  // The leader's.
  bool read(Time deadline, os::WaitStrategy strategy, Interruption* beside = nullptr);
  void read_and_stop();
  void read_last_words(PendingReply& pending);
  void settle_end() noexcept;

  const std::shared_ptr<transport::Connection> stream_;
  std::weak_ptr<ConnectionOwner> owner_;  // constant

  // Shared.
  RequestSender sender_;
  NamedCodeSets code_sets_;
  ClientEnd end_;
  LeaderState leader_;
  WaitingCalls calls_{leader_};
  std::atomic<int> threads_{0}, tasks_{0};
  std::atomic<Time> last_used_;  // when the latest call began

  ReplyReader reader_;  // owner: the leader
};

}  // namespace corelane::core
