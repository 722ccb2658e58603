// ServerConnection: one client as the server sees it. Reads headers and contexts only, finds object and task, and hands
// the request to the executive; what needs no servant is answered here.
//
// Out of memory: a request is answered with NO_MEMORY, and where not even that can be written its connection is closed.
//
// Its id is the owner of the tasks admitted over it: when it closes, they leave. A connection may also be bound to one
// task of another connection (own_connection.h); then the task's jobs go to the thread that reads it.
//
// Threads: reading on the reactor's, or once bound on the task's own; replies from any thread.
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

#include "orb/core/peer_tasks.h"
#include "orb/core/server.h"
#include "orb/dispatch/job_source.h"
#include "orb/giop/assembler.h"
#include "orb/giop/code_sets.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/headers.h"
#include "orb/os/byte_buffer.h"
#include "orb/transport/connection.h"
#include "orb/transport/memory_budget.h"

namespace corelane::core {

// Whom a reply goes to.
struct ReplyTo {
  std::uint32_t request_id = 0;
  giop::Version version;
  bool expected = true;
  cdr::CodeSets code_sets{};  // of the request, and so of its reply
  bool asks_orb = false;      // its client wants to know whether this is the same ORB
};

class ServedConnection;

class ServerConnection final : public transport::Watcher,
                               public transport::MemoryHolder,
                               public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(std::shared_ptr<Server> server, std::shared_ptr<transport::Connection> stream);
  // Before it is read: from here on it may have to wait for memory, or to end for others.
  void begin() noexcept;

  void on_room() noexcept override;
  void give_up(Stalled why) noexcept override;

  void on_bytes(Bytes bytes, Time received) noexcept override;
  void on_lent(transport::Lent lent, Time received) noexcept override;
  std::size_t rest_of_message() const noexcept override { return assembler_.idle() ? 0 : assembler_.wanted(); }
  bool read_elsewhere() noexcept override;
  bool is_idle() noexcept override;
  bool owes_answer() noexcept override;
  void on_peer_gone() noexcept override { give_up_requests(); }
  void give_way() noexcept override { close_orderly(); }
  void on_closed(Error reason) noexcept override;

  // Once bound: the task's thread instead of the reactor's.
  int descriptor() const noexcept { return stream_->descriptor(); }
  struct Taken {
    Bytes bytes;           // in the buffer or, of long messages, where the peer wrote them; none: the peer has ended
    Time at{};             // see transport::Arrival
    bool drained = false;  // there was no more
  };
  Expected<Taken> take_bytes(MutableBytes buffer) noexcept;
  // `bytes`: what is left of those that were taken last.
  dispatch::JobSource::Found next_job(Bytes& bytes, Time received, dispatch::JobPtr& job) noexcept;
  // Ends the connection and leaves the rest to the reactor.
  void release() noexcept;

  // The thread that runs its requests reads it from here on; the calling thread had it. False: that is not possible in
  // this mode or now, and nothing has changed.
  bool serve_where_read() noexcept;
  // For that thread. Nothing: the peer has ended.
  Expected<Bytes> receive(MutableBytes buffer, Time until, os::WaitStrategy strategy, transport::Lent& lent) noexcept;
  // What receive() gave of memory that the peer shares, for the requests in it.
  void take_lent(transport::Lent lent) noexcept { piece_ = std::move(lent); }
  // Whether nothing is under way, as far as that is known without a lock: not where tasks were asked for.
  bool is_surely_idle() const noexcept { return !asked_for_tasks_ && binding_.task == no_task; }
  // The peer, a whole one.
  bool has_sent_message() const noexcept { return sent_message_; }
  enum class Step : std::uint8_t {
    request,  // to run on this thread
    other,    // answered, handed in elsewhere, or not whole yet
    tasks,    // a contract foresees the request: read_by_reactor() is to follow
    end,      // the connection has ended
  };
  // Takes one message from the front of `bytes`. `stays`: they lie in a buffer of the calling thread, which keeps them
  // until it has run the request.
  Step next_request(Bytes& bytes, bool stays, Time received, dispatch::JobPtr& job) noexcept;
  // The reactor reads from here on, after `rest`.
  void read_by_reactor(Bytes rest, Time received, Time half_by) noexcept;
  // Whether they lie in memory that the peer shares, and not in a buffer.
  bool lies_elsewhere(Bytes bytes) const noexcept;
  // A request that was given to the reading thread runs beside it, or waits: a CancelRequest finds it from here on. The
  // second false: there are too many, and it was answered.
  bool remember_running(ServerJob& job) noexcept;
  bool remember_waiting(ServerJob& job);
  // The client will ask for nothing more: its tasks depart.
  void leave_tasks() noexcept;
  // Nobody waits for their answers any more: those that wait are not run. What needs no answer runs all the same.
  void give_up_requests() noexcept;
  // The reactor reads again, after `rest` of what was read; its half message has to be whole by then.
  void lend(Bytes rest, Time received, Time half_by) noexcept;
  // Whether it goes on to, once it was lent; else the task gets the connection again with the next bytes. Any thread.
  void lend_on(bool on) noexcept { lent_.store(on, std::memory_order_relaxed); }  // relaxed: nothing follows from it
  // After bytes were taken: until when the rest of half a message has to come, unless that stays as it is.
  std::optional<Time> half_message(Time now) noexcept;

  // Requests for tasks come over it.
  void read_for_tasks() noexcept { stream_->read_for_tasks(); }
  void send(Bytes message) noexcept;
  // Where it failed nobody gets a reply any more.
  void note_sent(const Expected<void>& sent) noexcept;
  // A reply without results.
  void send_done(const ReplyTo& to) noexcept;
  void send_exception(const ReplyTo& to, const Error& error, std::string_view text = {},
                      const sched::Refusal* refusal = nullptr) noexcept;
  void send_refusal(const ReplyTo& to, const sched::Refusal& refusal, const Error& error) noexcept;
  void send_refusal(const ReplyTo& to, const sched::Refusal& refusal) noexcept {
    send_refusal(to, refusal, sched::error_of(refusal));
  }
  // A reply; closes the connection when there was no memory to write it.
  void send_whole(cdr::Writer& reply) noexcept;
  // The same; waits for room where another thread takes the place of this one meanwhile.
  void send_reply(cdr::Writer& reply) noexcept;
  // Whole messages; waits for room as send_reply().
  void send_patiently(Bytes messages) noexcept;
  // A reply is owed and cannot be made: the client learns it from the end of the connection.
  void cut_off(const Error& error) noexcept;
  // Says CloseConnection, and closes: at once, or when the peer has all that waits for it or the deadline has come.
  void close_orderly() noexcept { close_when_sent(Time{}); }
  void close_when_sent(Time deadline) noexcept;

  Server& server() noexcept { return *server_; }
  // What its peer makes this process hold; null: nobody counts it.
  transport::MemoryAccount* memory() const noexcept { return memory_.get(); }
  transport::Connection& stream() const noexcept { return *stream_; }
  PeerId id() const noexcept { return stream_->id(); }
  std::optional<transport::PeerCredentials> credentials() const noexcept { return stream_->credentials(); }
  // The request of one job goes on in another.
  void replace(ServerJob& job, ServerJob& by) noexcept;
  // What the tasks of this connection are for.
  PeerTasks& tasks() noexcept { return tasks_; }
  // The message under way is the job's from here on; where it was put together here it is not copied. Thread: the
  // reader's.
  void keep(Bytes message, os::ByteBuffer& in);
  // The job has ended; a CancelRequest cannot find it any more.
  void forget(ServerJob& job) noexcept;

 private:
  class Half;
  class Room;
  using Request = giop::Parsed<giop::RequestHeader>;
  struct Binding {
    TaskId task = no_task;
    std::shared_ptr<ServerConnection> owner;  // of the task
    std::optional<ReplyTo> request;           // until it is handed over
  };

  bool take_message(Bytes& bytes, Time received) noexcept;
  void took_bytes(Time received) noexcept;
  std::shared_ptr<const void> keeper_of(Bytes message) noexcept;
  void hand_over() noexcept;
  void take(const giop::Message& message, Time received);
  void refuse_too_large(const giop::Message& message);
  void take_request(const giop::Message& message, Time received);
  void copy_key(Bytes& key);
  void serve(const giop::Message& message, Request& request, const ReplyTo& to, Time received);
  Expected<std::shared_ptr<ActiveObject>> find_object(Bytes key) noexcept;
  void take_locate_request(const giop::Message& message);
  void take_cancel(const giop::Message& message);
  void submit(const giop::Message& message, const Request& request, const ReplyTo& to, Time received,
              std::shared_ptr<ActiveObject> object, const Upcall& upcall);
  // Whose job a request is.
  struct Whose {
    TaskId task = no_task;
    bool asks = false;      // the shared one's, which was refused and is asked for again with this job
    bool foreseen = false;  // it comes no sooner than the task's contract says
  };
  std::optional<Whose> task_of(const Request& request, const ReplyTo& to, ActiveObject& object, const Upcall& upcall,
                               Time received);
  bool chain_of(const Request& request, const ReplyTo& to, giop::ChainContext& chain);
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
  void refuse_half(const giop::HalfRoom::Request& request) noexcept;

  const std::shared_ptr<Server> server_;
  const std::shared_ptr<transport::Connection> stream_;
  const std::shared_ptr<transport::MemoryAccount> memory_;
  const std::shared_ptr<Half> memory_half_;
  std::atomic<bool> told_no_room_{false};

  // Owner: whoever reads.
  giop::Assembler assembler_;
  giop::ConnectionCodeSets code_sets_;
  transport::Lent piece_;  // what is being read, while it is and nobody else keeps it
  // Of a request in memory that the peer may change: it chooses the object, and then says whether a task is for that.
  std::vector<std::byte> key_;
  static constexpr std::size_t longest_kept_key = 1024;  // so much of key_ stays from request to request
  std::shared_ptr<ActiveObject> last_object_;            // that a request named by last_key_
  std::array<std::byte, 64> last_key_{};                 // longer ones are not kept
  std::size_t last_key_size_ = 0;
  cdr::Writer writer_;            // of answers made here
  bool half_ = false;             // half a message waits for its rest
  bool sent_message_ = false;     // see has_sent_message()
  bool completed_ = false;        // a message was taken since half_message()
  Binding binding_;               // once bound
  Bytes stays_;                   // of next_request(), while it runs
  bool served_ = false;           // by the thread that reads it
  bool foreseen_ = false;         // by a contract: the message under way
  bool used_task_ = false;        // by a message of next_request(), within its contract
  bool asked_for_tasks_ = false;  // ever
  bool move_failed_ = false;      // read_elsewhere() did, and is not tried again yet
  int since_task_ = 0;            // messages that no contract foresees since one that it does, or since that
  TaskId own_task_ = no_task;     // whose thread reads
  dispatch::JobPtr own_job_;      // for the caller of next_job() or next_request()

  // Owner: whoever reads writes it, whoever shuts the server down reads it. That of the last message.
  std::atomic<giop::Version> version_{giop::giop_1_2};

  std::atomic<bool> lent_{false};              // bound, and read by the reactor all the same
  std::atomic<bool> paused_{false};            // the reactor is to read on when there is room
  std::atomic<bool> takes_no_replies_{false};  // sending one failed

  PeerTasks tasks_;
  os::PiMutex mutex_;
  // Guarded by mutex_.
  std::vector<ServerJob*> jobs_;
  std::weak_ptr<ServedConnection> source_;  // that reads it, or did
};

}  // namespace corelane::core
