// ServerConnection is the server's side of one client connection. It parses only headers and contexts, finds the object
// and the task, and gives the request to the executive. It answers requests itself that need no servant.
//
// Out of memory: a request is answered with NO_MEMORY. If that reply cannot be written either, the connection is
// closed.
//
// The id of the connection is the owner of the tasks admitted over it. When the connection closes, these tasks depart.
// A connection may also be bound to one task of another connection (dedicated_connection.h). Then the task's jobs go to
// the thread that reads the connection.
//
// Threads: the reactor's thread reads it, or the task's own thread once it is bound, or the thread that runs its
// requests (serve_where_read()). Replies are sent from any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "orb/core/hooks/server_request_hook.h"
#include "orb/core/server/server.h"
#include "orb/core/server/task_ownership.h"
#include "orb/dispatch/job_source.h"
#include "orb/giop/assembler.h"
#include "orb/giop/code_sets.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/headers.h"
#include "orb/os/memory/byte_buffer.h"
#include "orb/transport/connection.h"
#include "orb/transport/memory_budget.h"

namespace corelane::core {

// Identifies the request that a reply answers.
struct ReplyTo {
  std::uint32_t request_id = 0;
  giop::Version version;
  bool expected = true;
  cdr::CodeSets code_sets{};     // of the request, and therefore of its reply
  std::uint32_t hooks = 0;       // the hooks that have a note about the request, see HookNotes::mask
  std::string_view operation{};  // for the log, read only if no reply is expected; lasts as long as the request
};

class ServedConnection;

class ServerConnection final : public transport::Watcher,
                               public transport::MemoryHolder,
                               public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(std::shared_ptr<Server> server, std::shared_ptr<transport::Connection> stream);
  // Call it before the connection is read. From then on the memory budget may make the connection wait for memory, or
  // end it to free memory for others.
  void begin() noexcept;

  void on_room() noexcept override;
  void close_stalled(Stalled why) noexcept override;

  void on_bytes(Bytes bytes, Time received) noexcept override;
  void on_borrowed(transport::BorrowedBytes borrowed, Time received) noexcept override;
  std::size_t rest_of_message() const noexcept override { return assembler_.idle() ? 0 : assembler_.wanted(); }
  bool read_elsewhere() noexcept override;
  bool is_idle() noexcept override;
  bool owes_answer() noexcept override;
  void on_peer_gone() noexcept override { give_up_requests(); }
  void on_evict() noexcept override { close_orderly(); }
  void on_closed(Error reason) noexcept override;

  // The next four functions are for a bound connection, which the task's thread reads instead of the reactor's.
  int descriptor() const noexcept { return stream_->descriptor(); }
  struct Taken {
    Bytes bytes;  // in the buffer, or for long messages in memory shared with the peer; empty: the peer has ended
    Time at{};    // see transport::Arrival
    bool drained = false;  // no more bytes were there
  };
  Expected<Taken> take_bytes(MutableBytes buffer) noexcept;
  // Parses one message at most. `bytes` are the rest of those taken last.
  dispatch::JobSource::Found next_job(Bytes& bytes, Time received, dispatch::JobPtr& job) noexcept;
  // Ends the connection. The reactor does the rest.
  void release() noexcept;

  // Makes the thread that runs the connection's requests read it from now on, instead of the calling thread. Returns
  // false if that is not possible in this mode or now; then nothing has changed.
  bool serve_where_read() noexcept;
  // Reads bytes, for that thread. Returns no bytes if the peer has ended the connection.
  Expected<Bytes> receive(MutableBytes buffer, Time until, os::WaitStrategy strategy,
                          transport::BorrowedBytes& borrowed) noexcept;
  // Keeps the shared memory that receive() returned, for the requests in it.
  void take_borrowed(transport::BorrowedBytes borrowed) noexcept { piece_ = std::move(borrowed); }
  // Returns whether nothing is under way, as far as is known without a lock. Returns false if tasks were ever
  // requested.
  bool is_surely_idle() const noexcept { return !asked_for_tasks_ && binding_.task == no_task; }
  // Returns whether the peer has sent at least one complete message.
  bool has_sent_message() const noexcept { return sent_message_; }
  enum class Step : std::uint8_t {
    request,  // a request to run on this thread
    other,    // answered, submitted elsewhere, or not complete yet
    tasks,    // a contract foresees the request: call read_by_reactor() next
    end,      // the connection has ended
  };
  // Takes one message from the front of `bytes`. `stays`: they lie in a buffer of the calling thread, which keeps them
  // until it has run the request.
  Step next_request(Bytes& bytes, bool stays, Time received, dispatch::JobPtr& job) noexcept;
  // Makes the reactor read the connection from now on, after it has parsed `rest`.
  void read_by_reactor(Bytes rest, Time received, Time half_by) noexcept;
  // Returns whether `bytes` lie in memory shared with the peer, and not in a buffer.
  bool lies_elsewhere(Bytes bytes) const noexcept;
  // Both make a request findable for a CancelRequest: one that was given to the reading thread and now runs beside it,
  // or waits. remember_running() returns false if there is no memory. remember_waiting() returns false if the
  // connection has too many requests; then it has answered this one.
  bool remember_running(ServerJob& job) noexcept;
  bool remember_waiting(ServerJob& job);
  // Makes the tasks of the connection depart, because the client will send no more requests.
  void leave_tasks() noexcept;
  // Cancels requests that expect a reply, because the client takes no replies any more. Those that have not begun do
  // not run. Oneway requests still run.
  void give_up_requests() noexcept;
  // Makes the reactor read a bound connection again, after `rest` of what was read. An incomplete message must be
  // complete by `half_by`.
  void lend(Bytes rest, Time received, Time half_by) noexcept;
  // Sets whether the reactor keeps reading a lent connection. Otherwise the next bytes return the connection to the
  // task. Any thread.
  void lend_on(bool on) noexcept { lent_.store(on, std::memory_order_relaxed); }  // relaxed: nothing follows from it
  // Call it after bytes were taken. Returns the new deadline for the rest of an incomplete message (`never`: none), or
  // nothing if the deadline stays as it is.
  std::optional<Time> half_message(Time now) noexcept;

  // Notes that requests for tasks come over this connection.
  void read_for_tasks() noexcept { stream_->read_for_tasks(); }
  void send(Bytes message) noexcept;
  // Notes the result of sending. After a failure, requests that expect a reply do not run any more.
  void note_sent(const Expected<void>& sent) noexcept;
  // Sends a reply without results.
  void send_done(const ReplyTo& to) noexcept;
  void send_exception(const ReplyTo& to, const Error& error, std::string_view text = {},
                      const sched::Refusal* refusal = nullptr) noexcept;
  void send_refusal(const ReplyTo& to, const sched::Refusal& refusal, const Error& error) noexcept;
  void send_refusal(const ReplyTo& to, const sched::Refusal& refusal) noexcept {
    send_refusal(to, refusal, sched::error_of(refusal));
  }
  // Sends a reply. Closes the connection if there was no memory to write it.
  void send_whole(cdr::Writer& reply) noexcept;
  // Sends a reply likewise. Waits for room in the send queue if another thread substitutes for this one meanwhile.
  void send_reply(cdr::Writer& reply) noexcept;
  // Sends complete messages; waits for room as send_reply() does.
  void send_patiently(Bytes messages) noexcept;
  // Closes the connection because a reply is due and cannot be made. The client learns of it from the end of the
  // connection.
  void cut_off(const Error& error) noexcept;
  // Both send CloseConnection and close: close_orderly() at once, close_when_sent() when the peer has received
  // everything or at the deadline.
  void close_orderly() noexcept { close_when_sent(Time{}); }
  void close_when_sent(Time deadline) noexcept;

  Server& server() noexcept { return *server_; }
  // Returns the account of the memory that this process holds for the peer; null: it is not counted.
  transport::MemoryAccount* memory() const noexcept { return memory_.get(); }
  transport::Connection& stream() const noexcept { return *stream_; }
  PeerId id() const noexcept { return stream_->id(); }
  std::optional<transport::PeerCredentials> credentials() const noexcept { return stream_->credentials(); }
  // Moves the request of `job` to the job `by`.
  void replace(ServerJob& job, ServerJob& by) noexcept;
  // Returns what the tasks of this connection may be used for.
  TaskOwnership& tasks() noexcept { return tasks_; }
  // Gives the current message to a job. A message that the assembler put together is not copied. Thread: the reader's.
  void keep(Bytes message, os::ByteBuffer& in);
  // Notes that the job has ended: a CancelRequest cannot find it any more.
  void forget(ServerJob& job) noexcept;

 private:
  class Half;
  class MessageQuota;
  using Request = giop::Parsed<giop::RequestHeader>;
  struct Binding {
    TaskId task = no_task;
    std::shared_ptr<ServerConnection> owner;  // the connection that owns the task
    std::optional<ReplyTo> request;           // the bind request, until the connection is handed over
  };

  bool take_message(Bytes& bytes, Time received) noexcept;
  void took_bytes(Time received) noexcept;
  std::shared_ptr<const void> storage_of(Bytes message) noexcept;
  void hand_over() noexcept;
  void take(const giop::Message& message, Time received);
  void refuse_too_large(const giop::Message& message);
  void take_request(const giop::Message& message, Time received);
  void copy_key(Bytes& key);
  void serve(const giop::Message& message, Request& request, ReplyTo& to, Time received);
  Expected<std::shared_ptr<ActiveObject>> find_object(Bytes key) noexcept;
  void take_locate_request(const giop::Message& message);
  void take_cancel(const giop::Message& message);
  void submit(const giop::Message& message, const Request& request, const ReplyTo& to, Time received,
              std::shared_ptr<ActiveObject> object, const Upcall& upcall);
  // Says to which task a request belongs.
  struct Whose {
    TaskId task = no_task;
    bool asks = false;      // of the shared task, which was refused and is requested again with this job
    bool foreseen = false;  // the request comes no sooner than the task's contract allows
  };
  std::optional<Whose> task_of(const Request& request, const ReplyTo& to, ActiveObject& object, const Upcall& upcall,
                               Time received);
  bool answer_builtin(Request& request, const ReplyTo& to, const ActiveObject& object);
  void admit(Request& request, const ReplyTo& to, const ActiveObject& object);
  void depart(Request& request, const ReplyTo& to);
  void bind(Request& request, const ReplyTo& to);
  void offer(Request& request, const ReplyTo& to);
  bool remember(ServerJob& job);
  void watch_again() noexcept;
  void broken(const Error& error) noexcept;
  void note_use() noexcept;
  bool set_served(bool served) noexcept;
  void read_on_when_there_is_room() noexcept;
  void refuse_half(const giop::ReassemblyQuota::Request& request) noexcept;

  const std::shared_ptr<Server> server_;
  const std::shared_ptr<transport::Connection> stream_;
  const std::shared_ptr<transport::MemoryAccount> memory_;
  const std::shared_ptr<Half> memory_half_;
  std::atomic<bool> told_no_room_{false};

  // Owner: the reading thread.
  giop::Assembler assembler_;
  giop::ConnectionCodeSets code_sets_;
  ReceivedRequest received_{code_sets_};  // the request that take_request() serves
  transport::BorrowedBytes piece_;        // the shared memory being read, until it is used up or a job keeps it
  // A copy of the object key of a request in memory that the peer may change. The key chooses the object, and then the
  // check whether a task is for that object.
  std::vector<std::byte> key_;
  static constexpr std::size_t longest_kept_key = 1024;  // the most that key_ keeps allocated between requests
  std::shared_ptr<ActiveObject> last_object_;            // the object that last_key_ names
  std::array<std::byte, 64> last_key_{};                 // longer keys are not cached
  std::size_t last_key_size_ = 0;
  cdr::Writer writer_;            // for answers made here
  bool half_ = false;             // an incomplete message waits for its rest
  bool sent_message_ = false;     // see has_sent_message()
  bool completed_ = false;        // a message was completed since half_message()
  Binding binding_;               // once bound
  Bytes stays_;                   // the bytes given to next_request(), while it runs
  bool served_ = false;           // the thread that runs its requests reads it
  bool foreseen_ = false;         // a contract foresees the current message
  bool used_task_ = false;        // a message of next_request() used a task within its contract
  bool asked_for_tasks_ = false;  // tasks were requested at some time
  bool move_failed_ = false;      // read_elsewhere() failed and is not tried again yet
  int since_task_ = 0;            // messages since the last one that a contract foresees, or since a reset
  TaskId own_task_ = no_task;     // the task whose thread reads
  dispatch::JobPtr own_job_;      // the job that next_job() or next_request() returns

  // Owner: the reading thread writes it; the thread that shuts the server down reads it. The version of the last
  // message.
  std::atomic<giop::Version> version_{giop::giop_1_2};

  std::atomic<bool> lent_{false};              // bound, but read by the reactor
  std::atomic<bool> paused_{false};            // the reactor resumes reading when there is memory
  std::atomic<bool> takes_no_replies_{false};  // sending a reply failed

  TaskOwnership tasks_;
  os::PiMutex mutex_;
  // Guarded by mutex_.
  std::vector<ServerJob*> jobs_;
  std::weak_ptr<ServedConnection> source_;  // the object that reads it, or did so
};

}  // namespace corelane::core
