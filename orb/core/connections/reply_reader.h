// ReplyReader reads a client's connection and gives each reply to the call that waits for it.
// Thread: the leader's (LeaderState).
#pragma once

#include <cstdint>
#include <string>

#include "orb/base/expected.h"
#include "orb/core/connections/client_end.h"
#include "orb/core/connections/leader_state.h"
#include "orb/core/connections/pending_reply.h"
#include "orb/core/connections/reply_assembler.h"
#include "orb/core/connections/waiting_calls.h"
#include "orb/os/wait/adaptive_spin.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class ReplyReader {
 public:
  // The connection has all of them.
  ReplyReader(transport::Connection& stream, const giop::Limits& limits, ClientEnd& end, const LeaderState& leader,
              WaitingCalls& calls);

  // Sets the leader's own call, which is not in the list. Null: it has none.
  void set_alone(PendingReply* pending) noexcept { alone_ = pending; }
  // Reads once. Returns false if nothing came by the deadline. If the stream has ended, all calls fail, and
  // ClientEnd::is_lost() returns true. std::bad_alloc.
  bool read(Time deadline, os::WaitStrategy strategy);
  // Does the same, and returns true as soon as `beside` is called.
  bool read_beside(Time deadline, os::WaitStrategy strategy, Interruption& beside);
  // Reads what the peer sent before its end: replies, and perhaps CloseConnection. Bound: most_reads.
  void read_to_end() noexcept;
  // See ReplyAssembler.
  std::string foreign_words() const { return replies_.foreign_words(); }

 private:
  bool poll();
  bool took(Expected<std::size_t> got, const transport::BorrowedBytes& borrowed);
  void deliver(const giop::Message& message, const transport::BorrowedBytes& borrowed) noexcept;
  void give(PendingReply& pending, const giop::Message& message, const transport::BorrowedBytes& borrowed) noexcept;
  void fail_and_close(const Error& error) noexcept;
  void fail_all(const Error& error, bool unread_is_no) noexcept;

  transport::Connection& stream_;
  ClientEnd& end_;
  const LeaderState& leader_;
  WaitingCalls& calls_;
  ReplyAssembler replies_;
  os::AdaptiveSpin learnt_;  // of threads that wait with an Interruption
  PendingReply* alone_ = nullptr;
};

}  // namespace corelane::core
