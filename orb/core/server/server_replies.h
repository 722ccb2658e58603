// ServerReplies sends what a server answers over one connection: replies, refusals, and the messages that end it.
// Threads: any, unless noted.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "orb/cdr/writer.h"
#include "orb/core/requests/pending_requests.h"
#include "orb/core/requests/reply_to.h"
#include "orb/core/server/server.h"
#include "orb/giop/reassembly_quota.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class ServerReplies {
 public:
  // The server outlives this object. `stream` and `requests` belong to the connection. Once sending has failed,
  // requests that expect a reply do not run any more.
  ServerReplies(Server& server, transport::Connection& stream, PendingRequests& requests) noexcept
      : server_(server), stream_(stream), requests_(requests) {}

  using Parts = std::span<const Bytes>;
  void send(Parts message) noexcept;
  void send(Bytes message) noexcept { send(Parts{&message, 1}); }
  // Sends a reply without results. Thread: the one that reads the connection.
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
  void send_patiently(Parts messages) noexcept;
  void send_patiently(Bytes messages) noexcept { send_patiently(Parts{&messages, 1}); }

  // Functions for kept replies. Thread: the one that reads the connection. It may keep finished replies for a moment,
  // to send several together. It sends them before it waits for anything, and before it closes the connection.

  // Keeps a copy of a reply. Until it is sent, the server counts it as a request under way. So the server does not send
  // CloseConnection before it. Call it while the request still counts. Raises std::bad_alloc.
  void keep(Bytes reply);
  std::size_t kept_bytes() const noexcept { return kept_.size(); }
  // Sends what is kept. Waits for room as send_reply() does.
  void send_kept() noexcept;
  // Frees the memory of replies that were kept, if it has more than `most` bytes. Call it only while nothing is kept.
  void free_kept(std::size_t most) noexcept {
    if (kept_.capacity() > most) kept_ = std::vector<std::byte>();
  }
  // Sends what is kept, and closes the connection.
  void close() noexcept;

  // Returns whether sending has not failed yet.
  bool are_taken() const noexcept {
    return !not_taken_.load(std::memory_order_relaxed);  // relaxed: running one more request does no harm
  }

  // Closes the connection because a reply is due and cannot be made. The client learns of it from the end of the
  // connection.
  void cut_off(const Error& error) noexcept;
  // Refuses an incomplete request and closes the connection, because there is no room for the rest. If the request is
  // known, the peer gets an exception and may try again over another connection. The readers of this and of another
  // connection may find this at the same time; the first one sends the answer.
  void refuse_incomplete(const giop::ReassemblyQuota::Request& request) noexcept;
  // Sends MessageError and closes the connection: the peer has violated GIOP, or there is no memory to read its
  // message. CORBA 3.3 part 2, 9.4.8. Thread: the one that reads the connection.
  void refuse_message(const Error& error, giop::Version owed) noexcept;
  // Both send CloseConnection and close: close_orderly() at once, close_when_sent() when the peer has received
  // everything or at the deadline.
  void close_orderly() noexcept { close_when_sent(Time{}); }
  void close_when_sent(Time deadline) noexcept;

  // Sets the version of GIOP in which the client sends. Thread: the one that reads the connection.
  void set_version(giop::Version version) noexcept {
    // relaxed: no other data depends on it, and CloseConnection may carry the version of the message before
    version_.store(version, std::memory_order_relaxed);
  }
  // Returns a writer for answers that are made by the thread that reads the connection.
  cdr::Writer& writer() noexcept { return writer_; }

 private:
  void note_sent(const Expected<void>& sent) noexcept;

  Server& server_;
  transport::Connection& stream_;
  PendingRequests& requests_;
  cdr::Writer writer_;
  std::vector<std::byte> kept_;  // one after the other; owner: the thread that reads the connection
  std::atomic<giop::Version> version_{giop::giop_1_2};
  std::atomic<bool> not_taken_{false};
  std::atomic<bool> told_no_room_{false};
};

}  // namespace corelane::core
