// ServerJob carries one request through the executive to its servant, and its reply back. Jobs are pooled with their
// buffers.
//
// Most requests are "in place": the thread that reads them runs them at once. Until such a request has ended, its
// message lies in the buffer of that thread, and the thread and the connection keep all that the job refers to. So the
// job owns nothing, and takes no locked instruction. Call keep() or detach() before that ends.
//
// The job consists of what the request calls (CalledOperation), its message (RequestMessage), its reply (ServerReply),
// what its client can cancel (PendingRequest), and what is counted of it (CountedRequest).
//
// Threads: as dispatch::Job; detach() and pending().cancel() also from the thread that reads the connection.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "orb/cdr/reader.h"
#include "orb/core/hooks/server_request_hook.h"
#include "orb/core/objects/object_dispatch.h"
#include "orb/core/requests/counted_request.h"
#include "orb/core/requests/pending_requests.h"
#include "orb/core/requests/request_message.h"
#include "orb/core/server/called_operation.h"
#include "orb/core/server/server_connection.h"
#include "orb/core/server/server_reply.h"
#include "orb/dispatch/job.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/message.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class ServerJob final : public dispatch::Job {
 public:
  ServerJob() = default;
  ~ServerJob() {
    if (called_.is_set()) discount();
  }

  // The message lies in the buffer of the calling thread, which reads it and runs the job. `body_at` is the offset of
  // the arguments in the message.
  void prepare_in_place(ServerConnection& connection, ActiveObject& object, const Upcall& upcall,
                        const giop::Message& message, std::size_t body_at, const ReplyTo& to) noexcept {
    begin(connection, object, upcall, message, body_at, to);
    in_place_ = true;
    if (transport::MemoryAccount* const memory = connection.memory()) memory->note_request();
  }
  // The message lies in memory that the storage of `shared` keeps alive, until the job has run. Without a storage the
  // job copies it. Raises std::bad_alloc.
  void prepare(ServerConnection& connection, ActiveObject& object, const Upcall& upcall, const giop::Message& message,
               transport::BorrowedBytes shared, std::size_t body_at, const ReplyTo& to);
  bool is_in_place() const noexcept { return in_place_; }
  // Says that the job is of the task whose thread reads the connection.
  void set_reader_runs() noexcept { reader_runs_ = true; }
  // Counts the request among those of the server, until the job is recycled. Returns false if the server accepts no
  // more. Call it after prepare().
  bool enter_server() noexcept;
  // Ends being in place, before the job waits or goes to another thread: copies the message. Raises std::bad_alloc, and
  // then nothing has changed. Thread: the reader's.
  void keep();
  // Call it before another thread reads the connection, while the job runs in place on the thread that read it. The
  // message stays where it is. Thread: the one that has the connection's turn.
  void detach() noexcept;
  // Counts the request that the calling thread runs in place among those that run, because it begins to wait. The
  // memory account subtracts those that wait.
  static void note_wait() noexcept;
  ServerConnection& connection() const noexcept { return called_.connection(); }
  ActiveObject& object() const noexcept { return called_.object(); }
  const Upcall& upcall() const noexcept { return called_.upcall(); }
  const ReplyTo& to() const noexcept { return pending_.to(); }
  // Returns what the list of the connection's requests has of it.
  PendingRequest& pending() noexcept { return pending_; }
  std::size_t held_bytes() const noexcept { return message_.bytes().size(); }
  // Returns the size of the buffers that the pooled job keeps.
  std::size_t kept_bytes() const noexcept { return message_.kept_bytes() + reply_.kept_bytes(); }
  // Returns the job of the last request that the calling thread read and ran, or null. The thread keeps it for its next
  // one, because the pool of all threads has a lock.
  static ServerJob* take_own() noexcept { return std::exchange(own_, nullptr); }
  // Call it instead of finish(). Returns the whole reply, for the caller to send while it keeps the job. Empty if there
  // is none. NO_MEMORY: a reply is due and cannot be made; see ServerReplies::cut_off().
  Expected<Bytes> take_reply() noexcept;
  // Returns the chain in which the request is nested; empty after prepare().
  giop::ChainContext& chain() noexcept { return chain_; }
  // Sets what hooks have noted about the request; nothing after prepare().
  void note_hooks(const HookNotes& notes) noexcept { notes_ = notes; }

  void run(const dispatch::JobContext& context) noexcept override;
  void finish() noexcept override;
  void time_out() noexcept override;
  void refuse(const sched::Refusal& refusal) noexcept override;
  void fail(Error error) noexcept override;
  void recycle() noexcept override;

 private:
  static constexpr std::size_t longest_kept = 64 * 1024;      // a larger buffer is freed
  static constexpr std::size_t most_bytes_of_own = 8 * 1024;  // in the buffers of a job that a thread keeps
  struct OwnJob {
    ~OwnJob() { delete take_own(); }
  };
  inline bool become_own() noexcept;
  void begin(ServerConnection& connection, ActiveObject& object, const Upcall& upcall, const giop::Message& message,
             std::size_t body_at, const ReplyTo& to) noexcept {
    called_.set(connection, object, upcall);
    message_.begin(message, body_at);
    pending_.begin(to);
    reply_.begin();
    chain_.count = 0;
    notes_.mask = 0;
    reader_runs_ = false;
    contract.reset();
  }
  Server& server() const noexcept { return connection().server(); }
  void begin_run() noexcept;
  void count_run() noexcept { counted_.begin_run(connection().memory()); }
  void discount() noexcept { counted_.end(connection().memory()); }
  class HookedUpcall;
  // Brings the bytes of arguments that are decoded while the client still copies them.
  class ArrivingArguments final : public cdr::Arrival {
   public:
    explicit ArrivingArguments(ServerJob& job) noexcept : job_(job) {}
    Expected<const std::byte*> await(const std::byte* end) noexcept override;

   private:
    ServerJob& job_;
  };
  inline void run_inside();
  void run_hooks();
  void run_upcall();
  void reply_unwritable();
  void reply_user_exception(const UserException& exception);
  void reply_caught(bool begun);
  void log_failure(ErrorKind answer, std::string_view text) noexcept;
  void fail_servant(std::string_view text);
  void fail_nested(const SystemException& exception);
  bool set_aside();
  void take_over(ServerJob& other);
  // Writes the exception as the reply, which is sent when the job ends. reply_exception() sends it at once.
  void write_reply(const Error& error, std::string_view text = {}, const sched::Refusal* refusal = nullptr) noexcept {
    write_exception(reply_.writer(), to(), error, text, refusal);
  }
  void reply_exception(const Error& error) noexcept;
  // Returns true for the first caller only: there is one answer. A job in place has no budget, so only the thread that
  // runs it answers.
  bool answers() noexcept { return reply_.claim(in_place_); }
  bool declared(std::string_view id) const noexcept;

  static inline constinit thread_local ServerJob* own_ = nullptr;

  // Members of the current request. Message and reply keep their buffers for the next one.
  CalledOperation called_;  // set while there is a current request
  RequestMessage message_;
  PendingRequest pending_;
  CountedRequest counted_;
  bool in_place_ = false;     // the message lies in the reader's buffer
  bool reader_runs_ = false;  // the task's thread, which runs the job, has read it
  bool in_slots_ = false;     // is counted in the thread's EntrySlots, and not in the server's EntryCounter
  giop::ChainContext chain_;
  HookNotes notes_;
  ServerReply reply_;

  ArrivingArguments arrival_{*this};
};

}  // namespace corelane::core
