// ServerJob carries one request through the executive to its servant, and its reply back. Jobs are pooled with their
// buffers.
//
// Most requests are "in place": the thread that reads them runs them at once. Until such a request has ended, its
// message lies in the buffer of that thread, and the thread and the connection keep all that the job refers to. So the
// job owns nothing, and takes no locked instruction. keep() or detach() comes before that is no longer so.
//
// Threads: as dispatch::Job; cancel() from the reader's thread.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <utility>

#include "orb/cdr/writer.h"
#include "orb/core/hooks/server_request_hook.h"
#include "orb/core/objects/object_dispatch.h"
#include "orb/core/server/server_connection.h"
#include "orb/dispatch/job.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/message.h"
#include "orb/os/memory/byte_buffer.h"
#include "orb/transport/send_memory.h"

namespace corelane::core {

class ServerJob final : public dispatch::Job {
 public:
  ServerJob() = default;
  ~ServerJob() {
    if (connection_) discount();
  }

  // The message lies in the buffer of the calling thread, which reads it and runs the job. `body_at` is the offset of
  // the arguments in the message.
  void prepare_in_place(ServerConnection& connection, ActiveObject& object, const Upcall& upcall,
                        const giop::Message& message, std::size_t body_at, const ReplyTo& to) noexcept {
    begin(connection, object, upcall, message, body_at, to);
    in_place_ = true;
    if (transport::MemoryAccount* const memory = connection.memory()) memory->note_request();
  }
  // The message lies in memory that `storage` keeps alive, until the job has run. Without a storage the job copies it.
  // Raises std::bad_alloc.
  void prepare(ServerConnection& connection, ActiveObject& object, const Upcall& upcall, const giop::Message& message,
               std::shared_ptr<const void> storage, std::size_t body_at, const ReplyTo& to);
  // Sets what brings the bytes of the message that are still to come; null: all are there. Call it after prepare() with
  // a storage, which keeps it.
  void set_arriving(transport::ArrivingBytes* arriving) noexcept { arriving_ = arriving; }
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
  const ServerConnection& connection() const noexcept { return *connection_; }
  const ReplyTo& to() const noexcept { return to_; }
  const ActiveObject* object() const noexcept { return object_; }
  const Upcall& upcall() const noexcept { return *upcall_; }
  std::size_t held_bytes() const noexcept { return message_.size(); }
  // Returns the size of the buffers that the pooled job keeps.
  std::size_t kept_bytes() const noexcept { return bytes_.capacity() + writer_.kept_bytes(); }
  // Returns the job of the last request that the calling thread read and ran, or null. The thread keeps it for its next
  // one, because the pool of all threads has a lock.
  static ServerJob* take_own() noexcept { return std::exchange(own_, nullptr); }
  // Call it instead of finish(). Returns the whole reply, for the caller to send while it keeps the job. Empty if there
  // is none.
  Bytes take_reply() noexcept;
  // Returns the chain in which the request is nested; empty after prepare().
  giop::ChainContext& chain() noexcept { return chain_; }
  // Sets what hooks have noted about the request; nothing after prepare().
  void note_hooks(const HookNotes& notes) noexcept { notes_ = notes; }
  // Takes over the cancellation of a request that continues in this job. The connection calls it with its jobs locked.
  void inherit(const ServerJob& other) noexcept {
    // relaxed: both are under the connection's lock
    cancelled_.store(other.cancelled_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  // Cancels the request, because the client has cancelled it or is gone. If it has not begun it does not run. It sends
  // no reply.
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }  // relaxed: a hint, nothing follows

  // Says whether it is in the connection's list, for a CancelRequest. With the list's lock, or without it when no other
  // thread can find the job.
  bool is_listed() const noexcept { return listed_; }
  void set_listed(bool listed) noexcept { listed_ = listed; }

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
    connection_ = &connection;
    object_ = &object;
    upcall_ = &upcall;
    header_ = message.header;
    message_ = message.bytes;
    body_at_ = body_at;
    to_ = to;
    chain_.count = 0;
    notes_.mask = 0;
    replies_ = reader_runs_ = false;
    // relaxed, in both: published with the job
    answered_.store(false, std::memory_order_relaxed);
    cancelled_.store(false, std::memory_order_relaxed);
    contract.reset();
  }
  void own() noexcept;
  void begin_run() noexcept;
  void count_run() noexcept;
  void discount() noexcept;
  class HookedUpcall;
  // Brings the bytes of arguments that are decoded while the client still copies them.
  class ArrivingArguments final : public cdr::Arrival {
   public:
    explicit ArrivingArguments(ServerJob& job) noexcept : job_(job) {}
    Expected<const std::byte*> await(const std::byte* end) noexcept override;

   private:
    ServerJob& job_;
  };
  void expect_rest(cdr::Reader& arguments);
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
  void reply_exception(const Error& error) noexcept;
  // Returns true for the first caller only: there is one answer.
  bool answers() noexcept {
    if (!in_place_) return !answered_.exchange(true, std::memory_order_relaxed);  // relaxed: it publishes nothing
    // relaxed: only the thread that runs the job answers, because a job in place has no budget
    const bool is_first = !answered_.load(std::memory_order_relaxed);
    answered_.store(true, std::memory_order_relaxed);
    return is_first;
  }
  bool declared(std::string_view id) const noexcept;

  static inline constinit thread_local ServerJob* own_ = nullptr;

  // Members of the current request.
  ServerConnection* connection_ = nullptr;  // null: there is no current request
  ActiveObject* object_ = nullptr;
  std::shared_ptr<ServerConnection> owned_connection_;  // unless the job is in place, as the next one
  std::shared_ptr<ActiveObject> owned_object_;
  const Upcall* upcall_ = nullptr;
  giop::MessageHeader header_;
  Bytes message_;                                 // in bytes_, in the reader's buffer, or in the memory of `storage_`
  std::shared_ptr<const void> storage_;           // set for a long message
  transport::ArrivingBytes* arriving_ = nullptr;  // valid with storage_: see set_arriving()
  bool in_place_ = false;                         // the message lies in the reader's buffer
  bool reader_runs_ = false;                      // the task's thread, which runs the job, has read it
  bool in_slots_ = false;  // is counted in the thread's EntrySlots, and not in the server's EntryCounter
  std::size_t body_at_ = 0;
  ReplyTo to_;
  giop::ChainContext chain_;
  HookNotes notes_;
  std::atomic<bool> cancelled_{false};
  bool listed_ = false;
  bool replies_ = false;  // the reply is in writer_
  std::atomic<bool> answered_{false};
  // Bytes in the connection's memory account. What lies in memory shared with the peer is not counted.
  std::size_t counted_ = 0;
  // The account counts it as running. A request in place holds no memory, and counts only if it waits, or was detached.
  std::atomic<bool> runs_{false};

  // Kept between requests.
  os::ByteBuffer bytes_;
  cdr::Writer writer_;
  transport::SendMemory send_memory_;
  ArrivingArguments arrival_{*this};
};

// Begins a reply and leaves the writer where the body goes.
void begin_reply_to(cdr::Writer& writer, const ReplyTo& to, giop::ReplyStatus status = giop::ReplyStatus::no_exception,
                    std::span<const giop::ServiceContext> contexts = {});
// Writes a whole reply except for finish(). The text and the refusal go into service contexts, the text only if there
// is memory for it.
void write_exception(cdr::Writer& writer, const ReplyTo& to, const Error& error, std::string_view text,
                     const sched::Refusal* refusal) noexcept;

}  // namespace corelane::core
