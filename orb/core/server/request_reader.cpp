#include "orb/core/server/request_reader.h"

#include <new>
#include <string>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/core/chains/wire_chain.h"
#include "orb/core/connections/too_large.h"
#include "orb/core/server/dedicated_connection.h"
#include "orb/core/server/request_task.h"
#include "orb/core/server/server_builtin.h"
#include "orb/core/server/server_connection.h"
#include "orb/core/server/server_job.h"

namespace corelane::core {
namespace {

using errors::no_memory;
using errors::queue_full;
using errors::shutting_down;

}  // namespace

RequestReader::RequestReader(Server& server, transport::Connection& stream, ServerReplies& replies,
                             PendingRequests& requests, TaskOwnership& tasks, std::unique_ptr<MessageQuota> quota)
    : server_(server),
      stream_(stream),
      replies_(replies),
      requests_(requests),
      tasks_(tasks),
      quota_(*quota),
      assembler_(server.settings().giop, giop::Role::server, std::move(quota)),
      objects_(server.target()),
      deadline_(server.settings().connections.header_timeout) {}

void RequestReader::take_messages(ServerConnection& connection, Bytes bytes, Time received) noexcept {
  while (take_message(connection, bytes, received)) continue;
  memory_.release();
}

bool RequestReader::may_begin(const transport::BorrowedBytes& borrowed) const noexcept {
  const std::size_t there = borrowed.arriving->ready();
  if (there < giop::header_size || !assembler_.idle()) return false;
  const auto header = giop::parse_header(borrowed.bytes.first(giop::header_size));
  if (!header || header->type != giop::MessageType::request || header->more_fragments) return false;
  const std::size_t size = giop::header_size + std::size_t{header->body_size};
  if (size != borrowed.bytes.size()) return false;
  // Of a request that is too large, only the beginning is read.
  if (size > server_.settings().giop.message_size) return there >= transport::Connection::longest_copied;
  const auto request = giop::parse_request({*header, borrowed.bytes}, server_.settings().giop);
  return request && request->body.offset() <= there;
}

void RequestReader::refuse(const Error& error) noexcept {
  replies_.send_kept();
  if (error.minor == minor::half_messages) return replies_.refuse_incomplete(assembler_.refused());
  replies_.refuse_message(error, assembler_.owed_version());
}

// Refuses a request that is too large. Its remaining bytes are skipped as they arrive.
void RequestReader::refuse_too_large(const giop::Message& message) {
  const Error error{ErrorKind::imp_limit, Completion::no, message.refusal};
  const auto request = giop::parse_beginning(message, server_.settings().giop);
  if (!request) return refuse(error);
  ReplyTo to{.request_id = request->id, .version = request->version, .expected = request->response_expected};
  try {
    // The operation is known if the whole header has arrived.
    const auto whole = giop::parse_request(message, server_.settings().giop);
    if (whole) to.operation = whole->header.operation;
    const std::string text =
        too_large_text(whole ? "the request for " + std::string(whole->header.operation) : "a request", "the server",
                       giop::header_size + std::size_t{message.header.body_size}, server_.settings().giop.message_size);
    server_.incidents().too_large(text);
    replies_.send_exception(to, error, text);
  } catch (const std::bad_alloc&) {
    replies_.send_exception(to, error);
  }
}

// Gives the request to the POA manager if that one holds requests, or to the thread that will run it.
[[gnu::hot]] void RequestReader::pass_on(ServerConnection& connection, ServerJob& made, dispatch::JobPtr job,
                                         const Route& route) {
  if (route.manager_state.entry_counter().passage() == Passage::holding) {
    made.keep();
    server_.incidents().request_held(route.manager_state, route.upcall.name);
    if (route.manager_state.hold(job)) return;
    if (route.manager_state.entry_counter().passage() == Passage::holding)
      return replies_.send_exception(route.to, queue_full);
  }
  if (made.task != no_task && made.task == connection.binding().reading_task()) {
    made.set_reader_runs();
    job_ = std::move(job);
  } else if (route.to.expected && made.chain().count > 0 && RemoteCallbackWait::offer(made.chain().all(), job)) {
    return;
  } else if (route.runs_here) {
    job_ = std::move(job);
  } else if (const auto taken = server_.executive().submit(job); !taken) {
    replies_.send_exception(route.to, taken.error());
  }
}

[[gnu::hot, gnu::always_inline]] inline void RequestReader::submit(ServerConnection& connection,
                                                                   const giop::Message& message, const Request& request,
                                                                   const ReplyTo& to, ActiveObject& object,
                                                                   const Upcall& upcall) {
  const bool may_have_task = received_.contract || object.has_shared_tasks();
  const std::optional<RequestTask> whose =
      may_have_task ? task_of(connection, request.header, received_, to, object, upcall) : RequestTask{};
  if (!whose) return;
  const bool of_task = whose->task != no_task;
  if (of_task || whose->asks) stream_.read_for_tasks();
  use_.set_foreseen(whose->foreseen);
  PoaManagerState& manager_state = object.manager_state();
  const bool runs_here =
      runs_requests_ && !of_task && !whose->asks && manager_state.entry_counter().passage() != Passage::holding;
  std::unique_ptr<ServerJob> fresh = server_.take_job();
  // A thread of the chain that waits may run a request with a chain.
  if (runs_here && received_.chain.count == 0 && memory_.is_kept(message.bytes)) {
    fresh->prepare_in_place(connection, object, upcall, message, request.body.offset(), to);
  } else {
    transport::BorrowedBytes shared = memory_.share(message.bytes);
    // The job of a task must not wait for the client, nor another thread that takes the job.
    if (shared.arriving != nullptr && (!runs_here || received_.chain.count > 0)) {
      if (!connection.await_rest(*shared.arriving, message.bytes.size(), received_.received)) return;
      shared.arriving = nullptr;
    }
    fresh->prepare(connection, object, upcall, message, std::move(shared), request.body.offset(), to);
  }
  if (received_.notes.mask != 0) fresh->note_hooks(received_.notes);
  if (received_.chain.count > 0) fresh->chain() = received_.chain;
  if (!fresh->enter_server()) return replies_.send_exception(to, shutting_down);
  ServerJob* made = fresh.release();  // from here on recycle() ends it
  made->arrived = received_.received;
  made->task = whose->task;
  const auto& owner = connection.binding().owner();
  made->owner = owner ? owner->id() : connection.id();
  dispatch::JobPtr job(made);
  if (made->is_in_place()) [[likely]] {
    job_ = std::move(job);
    return;
  }
  // A CancelRequest need not find a request that runs on this thread: none is read before it has run.
  if ((!runs_here || made->chain().count > 0) && !requests_.add(made->pending()))
    return replies_.send_exception(to, queue_full);
  if (whose->asks) return object.ask_again(upcall, std::move(job));
  pass_on(connection, *made, std::move(job), {to, runs_here, manager_state, upcall});
}

[[gnu::hot, gnu::always_inline]] inline void RequestReader::serve(ServerConnection& connection,
                                                                  const giop::Message& message, Request& request,
                                                                  ReplyTo& to) {
  const auto found = objects_.find(request.header.target.object_key);
  if (!found) return replies_.send_exception(to, found.error());
  ActiveObject& object = **found;
  const bool may_be_builtin = request.header.operation.starts_with('_');
  if (may_be_builtin && memory_.arriving() != nullptr) {
    if (!connection.await_rest(*memory_.arriving(), message.bytes.size(), received_.received)) return;
    memory_.note_whole();
  }
  if (may_be_builtin && answer_builtin(connection, request, received_, to, object)) return;
  const Upcall* upcall = object.find(request.header.operation);
  if (upcall == nullptr) [[unlikely]]
    return replies_.send_exception(to, {ErrorKind::bad_operation, Completion::no, minor::no_such_operation});
  to.operation = upcall->name;  // lasts, while submit() may give the message away
  submit(connection, message, request, to, object, *upcall);
}

[[gnu::hot]] void RequestReader::take_request(ServerConnection& connection, const giop::Message& message,
                                              Time received) {
  auto request = giop::parse_request(message, server_.settings().giop);
  if (!request) return refuse(request.error());
  ReplyTo to{request->header.request_id, message.header.version, request->header.response_expected()};
  if (to.expected && !replies_.are_taken()) return server_.incidents().request_abandoned();
  to.operation = request->header.operation;
  received_.begin(request->header.operation, message.header.version, received);
  const auto read = server_.hooks().read(request->header.contexts, received_);
  to.code_sets = code_sets_.current(message.header.version);
  to.hooks = received_.notes.mask;
  if (!read) return replies_.send_exception(to, read.error());
  try {
    if (memory_.is_shared()) request->header.target.object_key = objects_.copy(request->header.target.object_key);
    serve(connection, message, *request, to);
  } catch (const std::bad_alloc&) {
    replies_.send_exception(to, no_memory);
  }
  objects_.release_copy();
}

void RequestReader::take_locate_request(const giop::Message& message) {
  const auto request = giop::parse_locate_request(message, server_.settings().giop);
  if (!request) return refuse(request.error());
  const bool here = server_.target().find(request->header.target.object_key).has_value();
  cdr::Writer& writer = replies_.writer();
  giop::begin_locate_reply(writer,
                           {.request_id = request->header.request_id,
                            .status = here ? giop::LocateStatus::object_here : giop::LocateStatus::unknown_object},
                           message.header.version);
  replies_.send_whole(writer);
}

void RequestReader::take_cancel(const giop::Message& message) {
  const auto id = giop::parse_cancel_request(message);
  if (!id) return refuse(id.error());
  if (const auto unwanted = tasks_.cancel(*id)) {
    server_.bind_tokens().withdraw(*unwanted);
    server_.executive().depart(*unwanted, stream_.id());
  }
  requests_.cancel(*id);
}

[[gnu::hot, gnu::always_inline]] inline void RequestReader::take(ServerConnection& connection,
                                                                 const giop::Message& message, Time received) {
  replies_.set_version(message.header.version);
  if (message.refusal != 0) return refuse_too_large(message);
  switch (message.header.type) {
    case giop::MessageType::request:
      return take_request(connection, message, received);
    case giop::MessageType::locate_request:
      return take_locate_request(message);
    case giop::MessageType::cancel_request:
      return take_cancel(message);
    default:  // CloseConnection, MessageError; the assembler passes nothing else
      replies_.close();
  }
}

// Counts a message. The reactor's account is charged only if the reactor reads the connection.
[[gnu::hot, gnu::always_inline]] inline void RequestReader::note_use(bool by_reactor) noexcept {
  use_.end_message();
  if (by_reactor) stream_.charge_message(use_.is_foreseen());
}

[[gnu::hot]] bool RequestReader::take_message(ServerConnection& connection, Bytes& bytes, Time received) noexcept try {
  const auto message = assembler_.next(bytes, received);
  if (!message) return refuse(message.error()), false;
  if (!*message) return false;
  deadline_.note_completed();
  if (!std::exchange(has_sent_message_, true)) stream_.note_first_message();
  use_.begin_message();
  take(connection, **message, received);
  note_use(!runs_requests_ && connection.binding().reading_task() == no_task);
  return stream_.is_open();
} catch (const std::bad_alloc&) {
  return refuse(no_memory), false;
}

}  // namespace corelane::core
