// ServerReply is the reply to one request while it is made: its bytes, the memory in which they lie, and whether the
// request was answered. The object and its buffer serve one request after the other.
//
// Threads: the one that runs the request; claim() any.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string_view>

#include "orb/base/error.h"
#include "orb/cdr/writer.h"
#include "orb/core/requests/kept_result.h"
#include "orb/core/requests/reply_to.h"
#include "orb/giop/contexts.h"
#include "orb/giop/headers.h"
#include "orb/sched/refusal.h"
#include "orb/transport/connection.h"
#include "orb/transport/send_memory.h"

namespace corelane::core {

// Begins a reply and leaves the writer where the body goes.
void begin_reply_to(cdr::Writer& writer, const ReplyTo& to, giop::ReplyStatus status = giop::ReplyStatus::no_exception,
                    std::span<const giop::ServiceContext> contexts = {});
// Writes a whole reply except for finish(). The text and the refusal go into service contexts, the text only if there
// is memory for it.
void write_exception(cdr::Writer& writer, const ReplyTo& to, const Error& error, std::string_view text,
                     const sched::Refusal* refusal) noexcept;

class ServerReply {
 public:
  // Begins with the next request. No reply is made, and nothing was answered.
  void begin() noexcept {
    made_ = false;
    answered_.store(false, std::memory_order_relaxed);  // relaxed: published with the job
  }
  // Begins with the request of `other`. No reply is made, but the request may have been answered.
  void begin(const ServerReply& other) noexcept {
    made_ = false;
    // relaxed: published with the job
    answered_.store(other.answered_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  // Begins the reply and leaves the writer where the results go. `limit`: the most bytes of the message. A long one
  // goes into memory of the connection.
  [[gnu::always_inline]] void open(const ReplyTo& to, transport::Connection& stream, std::size_t limit) {
    writer_.set_limit(limit);
    begin_reply_to(writer_, to);
    memory_.use(stream, transport::SendMemory::Otherwise::pages);
    writer_.set_memory(&memory_);
  }
  cdr::Writer& writer() noexcept { return writer_; }
  // Returns where a result stays that the writer refers to.
  KeptResult& kept() noexcept { return kept_; }
  // Notes that the writer has the reply, which is to be sent.
  void note_made() noexcept { made_ = true; }
  bool is_made() const noexcept { return made_; }

  // Returns true for the first caller only: there is one answer. `alone`: no other thread calls it for this request.
  bool claim(bool alone) noexcept {
    if (!alone) return !answered_.exchange(true, std::memory_order_relaxed);  // relaxed: it publishes nothing
    // relaxed, in both: no other thread uses it
    const bool is_first = !answered_.load(std::memory_order_relaxed);
    answered_.store(true, std::memory_order_relaxed);
    return is_first;
  }
  // Notes that the answer comes from elsewhere.
  void note_answered() noexcept { answered_.store(true, std::memory_order_relaxed); }  // relaxed: as in claim()

  // Returns the size of the buffer.
  std::size_t kept_bytes() const noexcept { return writer_.kept_bytes(); }
  // Frees the memory of the reply. A buffer of at most `longest_kept` bytes stays for the next one.
  [[gnu::always_inline]] void release(std::size_t longest_kept) noexcept {
    if (writer_.kept_bytes() > longest_kept) writer_ = cdr::Writer();
    writer_.forget();
    memory_.release();  // the bytes may have lain there; the next reply begins with an empty writer
    kept_.release();    // the writer may refer to it
  }

 private:
  bool made_ = false;
  std::atomic<bool> answered_{false};

  // Kept between requests.
  cdr::Writer writer_;
  transport::SendMemory memory_;
  KeptResult kept_;
};

}  // namespace corelane::core
