// RequestReader parses the messages of one connection: only headers and contexts. It finds the object and the task of a
// request and gives the request to the executive. It answers requests itself that need no servant.
//
// Out of memory: a request is answered with NO_MEMORY. If that reply cannot be written either, the connection is
// closed.
// Thread: the one that reads the connection.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "orb/core/hooks/server_request_hook.h"
#include "orb/core/requests/message_deadline.h"
#include "orb/core/requests/message_memory.h"
#include "orb/core/requests/message_quota.h"
#include "orb/core/requests/object_finder.h"
#include "orb/core/requests/pending_requests.h"
#include "orb/core/requests/reply_to.h"
#include "orb/core/requests/request_message.h"
#include "orb/core/requests/task_ownership.h"
#include "orb/core/requests/task_use.h"
#include "orb/core/server/server.h"
#include "orb/core/server/server_replies.h"
#include "orb/dispatch/job_source.h"
#include "orb/giop/assembler.h"
#include "orb/giop/code_sets.h"
#include "orb/giop/headers.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class ServerConnection;

class RequestReader {
 public:
  // All arguments but the quota outlive this object.
  RequestReader(Server& server, transport::Connection& stream, ServerReplies& replies, PendingRequests& requests,
                TaskOwnership& tasks, std::unique_ptr<MessageQuota> quota);

  // Takes the next complete message from the front of `bytes` and handles it. `connection`: the one that has this
  // reader. Returns false if there is none, or if the connection has ended.
  bool take_message(ServerConnection& connection, Bytes& bytes, Time received) noexcept;
  // Takes all of them, and then frees the shared memory in which the bytes may lie. Bound: each takes bytes.
  void take_messages(ServerConnection& connection, Bytes bytes, Time received) noexcept;
  bool has_job() const noexcept { return job_ != nullptr; }
  // Returns the job that the reading thread itself runs, after take_message(); null: there is none.
  dispatch::JobPtr take_job() noexcept { return std::move(job_); }

  // Sets whether the reading thread runs the requests without a contract.
  void set_runs_requests(bool runs) noexcept {
    quota_.set_waits(runs);
    runs_requests_ = runs;
  }
  // Returns whether the borrowed bytes, which are still arriving, are one request that may begin. Its header is there.
  bool may_begin(const transport::BorrowedBytes& borrowed) const noexcept;
  // Returns how many bytes are missing of the current message; 0: none is incomplete.
  std::size_t rest_of_message() const noexcept { return assembler_.idle() ? 0 : assembler_.wanted(); }
  // Returns where the next bytes of a long incomplete message belong, see giop::Assembler.
  MutableBytes room(std::size_t most) noexcept { return assembler_.idle() ? MutableBytes{} : assembler_.room(most); }
  // Call it after bytes were taken. Returns the new deadline for the rest of an incomplete message (`never`: none), or
  // nothing if the deadline stays as it is.
  std::optional<Time> update_deadline(Time now) noexcept { return deadline_.update(!assembler_.idle(), now); }
  // Returns the incomplete request. Nothing: there is none, or it is not known yet. Thread: any.
  giop::ReassemblyQuota::Request incomplete_request() const noexcept { return quota_.request(); }
  MessageDeadline& deadline() noexcept { return deadline_; }
  MessageMemory& memory() noexcept { return memory_; }
  TaskUse& use() noexcept { return use_; }
  // Returns whether the peer has sent at least one complete message.
  bool has_sent_message() const noexcept { return has_sent_message_; }
  // Gives the current message to its job. A message that the assembler put together is not copied. Raises
  // std::bad_alloc.
  void hand_over(RequestMessage& message) { message.take_from(assembler_); }
  // Frees the memory of an incomplete message.
  void drop() noexcept { assembler_.drop(); }
  // Closes the connection, because its bytes are no messages, or cannot be read.
  void refuse(const Error& error) noexcept;

 private:
  using Request = giop::Parsed<giop::RequestHeader>;
  struct Route {
    const ReplyTo& to;
    bool runs_here;
    PoaManagerState& manager_state;
    const Upcall& upcall;
  };

  // Those that are declared inline are the steps of each request, and defined in request_reader.cpp.
  inline void take(ServerConnection& connection, const giop::Message& message, Time received);
  void refuse_too_large(const giop::Message& message);
  void take_request(ServerConnection& connection, const giop::Message& message, Time received);
  inline void serve(ServerConnection& connection, const giop::Message& message, Request& request, ReplyTo& to);
  inline void submit(ServerConnection& connection, const giop::Message& message, const Request& request,
                     const ReplyTo& to, ActiveObject& object, const Upcall& upcall);
  void pass_on(ServerConnection& connection, ServerJob& made, dispatch::JobPtr job, const Route& route);
  void take_locate_request(const giop::Message& message);
  void take_cancel(const giop::Message& message);
  inline void note_use(bool by_reactor) noexcept;

  Server& server_;
  transport::Connection& stream_;
  ServerReplies& replies_;
  PendingRequests& requests_;
  TaskOwnership& tasks_;
  MessageQuota& quota_;  // the assembler has it
  giop::Assembler assembler_;
  giop::ConnectionCodeSets code_sets_;
  ReceivedRequest received_{code_sets_};  // the request that take_request() serves
  ObjectFinder objects_;
  MessageMemory memory_;
  MessageDeadline deadline_;
  TaskUse use_;
  dispatch::JobPtr job_;
  bool runs_requests_ = false;
  bool has_sent_message_ = false;
};

}  // namespace corelane::core
