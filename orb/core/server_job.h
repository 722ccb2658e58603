// ServerJob: one request on its way through the executive to its servant, and its reply. Pooled with its buffers.
//
// Threads: as dispatch::Job; cancel() from the reader's thread.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "orb/cdr/writer.h"
#include "orb/core/server_connection.h"
#include "orb/core/target.h"
#include "orb/dispatch/job.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/message.h"
#include "orb/os/byte_buffer.h"
#include "orb/transport/send_room.h"

namespace corelane::core {

class ServerJob final : public dispatch::Job {
 public:
  ServerJob() = default;
  ~ServerJob() {
    if (connection_) discount();
  }

  // Where the message lies until the job has run: where `keeper` keeps it, in the buffer of the thread that reads and
  // runs it (null, `stays`), or else in the job, which copies it. `body_at`: where the arguments begin in it.
  // std::bad_alloc.
  struct Place {
    std::shared_ptr<const void> keeper{};
    bool stays = false;
  };
  void prepare(std::shared_ptr<ServerConnection> connection, std::shared_ptr<ActiveObject> object, const Upcall& upcall,
               const giop::Message& message, Place place, std::size_t body_at, const ReplyTo& to);
  // Before the job waits, or goes to another thread: a message that lies in the reader's buffer is copied.
  // std::bad_alloc.
  void keep_message();
  const ReplyTo& to() const noexcept { return to_; }
  const ActiveObject* object() const noexcept { return object_.get(); }
  const Upcall& upcall() const noexcept { return *upcall_; }
  std::size_t held_bytes() const noexcept { return message_.size(); }
  // In buffers that are used again.
  std::size_t kept_bytes() const noexcept { return bytes_.capacity() + writer_.kept_bytes(); }
  // Instead of finish(): the whole reply, for the caller to send while it keeps the job; empty when there is none.
  Bytes take_reply() noexcept;
  // In which the request is nested; empty after prepare().
  giop::ChainContext& chain() noexcept { return chain_; }
  // Of a request that goes on in this job: the connection calls it with its jobs locked.
  void inherit(const ServerJob& other) noexcept {
    // relaxed: both are under the connection's lock
    cancelled_.store(other.cancelled_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  // The client has lost interest, or is gone: do not run if not begun, do not reply.
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }  // relaxed: a hint, nothing follows

  void run(const dispatch::JobContext& context) noexcept override;
  void finish() noexcept override;
  void time_out() noexcept override;
  void refuse(const sched::Refusal& refusal) noexcept override;
  void fail(Error error) noexcept override;
  void recycle() noexcept override;

 private:
  static constexpr std::size_t longest_kept = 64 * 1024;  // a buffer that grew beyond is let go
  void discount() noexcept;
  void run_inside();
  void run_upcall();
  void reply_unwritable();
  void reply_user_exception(const UserException& exception);
  void reply_caught();
  void fail_servant(std::string_view text);
  void fail_nested(const SystemException& exception);
  bool set_aside();
  void take_over(ServerJob& other);
  void reply_exception(const Error& error) noexcept;
  bool answers() noexcept;
  bool declared(std::string_view id) const noexcept;

  // Of the request under way.
  std::shared_ptr<ServerConnection> connection_;
  std::shared_ptr<ActiveObject> object_;
  const Upcall* upcall_ = nullptr;
  giop::MessageHeader header_;
  Bytes message_;                       // in bytes_, in the reader's buffer, or where `keeper_` keeps it
  std::shared_ptr<const void> keeper_;  // of a long one
  bool in_reader_ = false;              // in the reader's buffer
  std::size_t body_at_ = 0;
  ReplyTo to_;
  giop::ChainContext chain_;
  std::atomic<bool> cancelled_{false};
  friend class ServerConnection;
  bool remembered_ = false;  // by the connection, for a CancelRequest. Guarded by the connection's mutex or owned
  bool replies_ = false;     // the reply is in writer_
  std::atomic<bool> answered_{false};
  std::size_t counted_ = 0;  // by the connection's account; not what lies where the peer wrote it
  bool runs_ = false;        // counted there, too

  // Kept.
  os::ByteBuffer bytes_;
  cdr::Writer writer_;
  transport::SendRoom room_;
};

// Leaves the writer where the reply's body goes.
void begin_reply_to(cdr::Writer& writer, const ReplyTo& to, giop::ReplyStatus status = giop::ReplyStatus::no_exception,
                    std::span<const giop::ServiceContext> contexts = {});
// A whole reply but for finish(). Text and refusal go into service contexts, the text where there is memory for it.
void write_exception(cdr::Writer& writer, const ReplyTo& to, const Error& error, std::string_view text,
                     const sched::Refusal* refusal) noexcept;

}  // namespace corelane::core
