// ServerJob carries one request through the executive to its servant, and its reply back. Jobs are pooled with their
// buffers.
//
// Threads: as dispatch::Job; cancel() from the reader's thread.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

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

  // Where the message lies until the job has run:
  // - `storage` not null: in memory that `storage` keeps alive.
  // - `stays`: in the buffer of the thread that reads and runs it.
  // - otherwise: in the job, which copies it.
  // `body_at` is the offset of the arguments in the message. Raises std::bad_alloc.
  struct Place {
    std::shared_ptr<const void> storage{};
    bool stays = false;
  };
  void prepare(std::shared_ptr<ServerConnection> connection, std::shared_ptr<ActiveObject> object, const Upcall& upcall,
               const giop::Message& message, Place place, std::size_t body_at, const ReplyTo& to);
  // Call it before the job waits or goes to another thread. Copies a message that lies in the reader's buffer. Raises
  // std::bad_alloc.
  void keep_message();
  const ReplyTo& to() const noexcept { return to_; }
  const ActiveObject* object() const noexcept { return object_.get(); }
  const Upcall& upcall() const noexcept { return *upcall_; }
  std::size_t held_bytes() const noexcept { return message_.size(); }
  // Returns the size of the buffers that the pooled job keeps.
  std::size_t kept_bytes() const noexcept { return bytes_.capacity() + writer_.kept_bytes(); }
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
  static constexpr std::size_t longest_kept = 64 * 1024;  // a larger buffer is freed
  void discount() noexcept;
  class HookedUpcall;
  void run_inside();
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
  bool answers() noexcept;
  bool declared(std::string_view id) const noexcept;

  // Members of the current request.
  std::shared_ptr<ServerConnection> connection_;
  std::shared_ptr<ActiveObject> object_;
  const Upcall* upcall_ = nullptr;
  giop::MessageHeader header_;
  Bytes message_;                        // in bytes_, in the reader's buffer, or in the memory of `storage_`
  std::shared_ptr<const void> storage_;  // set for a long message
  bool in_reader_ = false;               // the message lies in the reader's buffer
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
  bool runs_ = false;  // the account counts it as running

  // Kept between requests.
  os::ByteBuffer bytes_;
  cdr::Writer writer_;
  transport::SendMemory send_memory_;
};

// Begins a reply and leaves the writer where the body goes.
void begin_reply_to(cdr::Writer& writer, const ReplyTo& to, giop::ReplyStatus status = giop::ReplyStatus::no_exception,
                    std::span<const giop::ServiceContext> contexts = {});
// Writes a whole reply except for finish(). The text and the refusal go into service contexts, the text only if there
// is memory for it.
void write_exception(cdr::Writer& writer, const ReplyTo& to, const Error& error, std::string_view text,
                     const sched::Refusal* refusal) noexcept;

}  // namespace corelane::core
