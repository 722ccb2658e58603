// Requests that a server answers on the reader's thread, without a servant: the operations that every object has, and
// Corelane's own operations for tasks.
//
//   _corelane_admit   context 0x434C4E01 with task 0 and the contract; argument: string, the operation
//                     reply: context 0x434C4E01 with the task and its contract, which limits.peer_overrun may make
//                     stricter than the one requested; short core, long priority, unsigned long long bound in ns,
//                     unsigned long long token: the argument for _corelane_bind, 0 if tasks have no connection of
//                     their own
//   _corelane_bind    arguments: unsigned long long task, unsigned long long token; makes the connection over which
//                     it comes the task's own
//   _corelane_offer   argument: unsigned long long, the task; BAD_PARAM unknown_task as for _corelane_depart
//                     reply: unsigned long long token, as that of _corelane_admit; the previous token becomes invalid
//   _corelane_depart  argument: unsigned long long, the task; BAD_PARAM unknown_task unless the task was admitted
//                     over the connection on which this comes
#include "orb/core/server/server_builtin.h"

#include <algorithm>
#include <new>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/cdr/codec.h"
#include "orb/core/server/dedicated_connection.h"
#include "orb/core/server/server_connection.h"
#include "orb/core/server/server_reply.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/ior.h"
#include "orb/os/peers/own_user.h"

namespace corelane::core {
namespace {

using errors::no_memory;
using Request = giop::Parsed<giop::RequestHeader>;

std::uint64_t new_token(const Server& server) noexcept {
  return server.settings().executive.mode == dispatch::DispatchMode::direct ? BindTokens::make_token() : 0;
}

// Sends the manager's answer to the client that asked.
class AdmissionReply final : public dispatch::AdmissionHandler {
 public:
  AdmissionReply(std::shared_ptr<ServerConnection> connection, TaskOwnership::Ticket ticket, const ReplyTo& to,
                 const Contract& contract)
      : connection_(std::move(connection)), ticket_(ticket), to_(to), contract_(contract) {}

  void admitted(const dispatch::Admission& admission) noexcept override try {
    Server& server = connection_->server();
    if (token_ != 0) server.bind_tokens().issue(admission.task, token_, connection_);
    if (!connection_->tasks().settle(ticket_, admission.task, contract_)) {
      server.bind_tokens().withdraw(admission.task);
      return server.executive().depart(admission.task, connection_->id());
    }
    connection_->stream().read_for_tasks();
    const auto context = giop::encode_contract({.task = admission.task, .contract = contract_});
    const giop::ServiceContext contexts[] = {{giop::context::contract, context}};
    cdr::Writer writer;
    begin_reply_to(writer, to_, giop::ReplyStatus::no_exception, contexts);
    writer.write(admission.core.value);
    writer.write(admission.priority.value);
    writer.write(static_cast<std::uint64_t>(admission.bound.count()));
    writer.write(token_);
    connection_->replies().send_whole(writer);
  } catch (const std::bad_alloc&) {
    connection_->server().bind_tokens().withdraw(admission.task);
    connection_->server().executive().depart(admission.task, connection_->id());
    failed(no_memory);
  }
  void refused(const sched::Refusal& refusal) noexcept override {
    connection_->tasks().close(ticket_);
    connection_->replies().send_refusal(to_, refusal);
  }
  void failed(Error error) noexcept override {
    connection_->tasks().close(ticket_);
    connection_->replies().send_exception(to_, error);
  }

 private:
  const std::shared_ptr<ServerConnection> connection_;
  const TaskOwnership::Ticket ticket_;
  const ReplyTo to_;
  const Contract contract_;
  const std::uint64_t token_ = new_token(connection_->server());
};

// Processes of root and of this process's user could kill this process anyway. So it accepts what they say about
// themselves.
bool is_trusted(const std::optional<transport::PeerCredentials>& peer) noexcept {
  return peer && (peer->user == 0 || os::is_own_user(peer->user));
}

// Returns the contract with the overrun policy that this peer must have at least. In the mode leader-followers budgets
// are not watched, so no policy except `report` could be enforced.
Contract made_strict(Contract contract, const Settings& settings,
                     const std::optional<transport::PeerCredentials>& peer) noexcept {
  if (settings.executive.mode == dispatch::DispatchMode::leader_followers) return contract;
  static_assert(OverrunPolicy::report < OverrunPolicy::demote && OverrunPolicy::demote < OverrunPolicy::cancel);
  const OverrunPolicy of_user = is_trusted(peer) ? OverrunPolicy::report : OverrunPolicy::demote;
  contract.on_overrun = std::max(contract.on_overrun, settings.peer_overrun.value_or(of_user));
  return contract;
}

// Returns the name under which the connection limits count this client.
std::string holder_of(const std::string& host, const std::optional<transport::PeerCredentials>& peer) {
  return peer ? "user " + std::to_string(peer->user) : host;
}

constexpr Error bound_already{ErrorKind::bad_inv_order, Completion::no, minor::connection_bound};
constexpr Error unknown_task{ErrorKind::bad_param, Completion::no, minor::unknown_task};
constexpr Error no_operation{ErrorKind::bad_operation, Completion::no, minor::no_such_operation};
// The client expects no reply, so only the log says this.
constexpr Error no_reply{ErrorKind::bad_operation, Completion::no, minor::reply_needed};

void admit(ServerConnection& connection, Request& request, const std::optional<giop::ContractContext>& content,
           const ReplyTo& to, const ActiveObject& object) {
  connection.reader().use().note_asked();
  if (!content)
    return connection.replies().send_exception(to, {ErrorKind::bad_param, Completion::no, minor::bad_contract});
  std::string_view operation;
  if (!request.body.read_string(operation)) return connection.replies().send_exception(to, request.body.error());
  if (!content->contract || !is_sound(*content->contract)) {
    const auto fault = content->contract ? fault_of(*content->contract) : std::nullopt;
    return connection.replies().send_exception(to, {ErrorKind::bad_param, Completion::no, minor::bad_contract},
                                               fault.value_or(""));
  }
  const Upcall* upcall = object.skeleton().find(operation);
  if (upcall == nullptr)
    return connection.replies().send_exception(to, no_operation, unknown_operation(object.skeleton(), operation));
  if (connection.binding().owner()) return connection.replies().send_exception(to, bound_already);
  if (connection.server().requests().passage() != Passage::active)
    return connection.replies().send_exception(to, {ErrorKind::transient, Completion::no, minor::shutting_down});
  if (!to.expected) return connection.replies().send_exception(to, no_reply);
  const Settings& settings = connection.server().settings();
  const auto ticket = connection.tasks().open(to.request_id, request.header.target.object_key, *upcall,
                                              settings.executive.max_tasks + settings.requests_per_connection);
  if (!ticket)
    return connection.replies().send_exception(to, {ErrorKind::transient, Completion::no, minor::queue_full});
  const Contract contract = made_strict(*content->contract, settings, connection.stream().credentials());
  try {
    connection.server().executive().admit(
        {.contract = contract,
         .owner = connection.id(),
         .label = label_of(object.skeleton(), *upcall),
         .holder = holder_of(connection.stream().peer().host, connection.stream().credentials())},
        std::make_unique<AdmissionReply>(connection.shared_from_this(), *ticket, to, contract));
  } catch (const std::bad_alloc&) {
    connection.tasks().close(*ticket);
    throw;
  }
}

void depart(ServerConnection& connection, Request& request, const ReplyTo& to) {
  std::uint64_t task = 0;
  if (!request.body.read(task)) return connection.replies().send_exception(to, request.body.error());
  if (!connection.tasks().forget(TaskId{task})) return connection.replies().send_exception(to, unknown_task);
  connection.server().bind_tokens().withdraw(TaskId{task});
  connection.server().executive().depart(TaskId{task}, connection.id());
  connection.replies().send_done(to);
}

// For a client whose task has lost its own connection, or never got one.
void offer(ServerConnection& connection, Request& request, const ReplyTo& to) {
  std::uint64_t task = 0;
  if (!request.body.read(task)) return connection.replies().send_exception(to, request.body.error());
  if (!to.expected) return connection.replies().send_exception(to, no_reply);
  if (!connection.tasks().has(TaskId{task})) return connection.replies().send_exception(to, unknown_task);
  const std::uint64_t token = new_token(connection.server());
  if (token != 0) connection.server().bind_tokens().issue(TaskId{task}, token, connection.shared_from_this());
  cdr::Writer& writer = connection.replies().writer();
  begin_reply_to(writer, to);
  writer.write(token);
  connection.replies().send_whole(writer);
}

// Hands the connection over to a task. The task's thread answers the request. If the task has left, the thread that
// finds this answers. A connection that may own tasks itself is refused: its tasks' requests would be read at the
// priority of this one task.
void bind(ServerConnection& connection, Request& request, const ReplyTo& to) {
  std::uint64_t task = 0, token = 0;
  if (!request.body.read(task) || !request.body.read(token))
    return connection.replies().send_exception(to, request.body.error());
  if (!to.expected) return connection.replies().send_exception(to, no_reply);
  if (connection.binding().owner() || !connection.tasks().empty())
    return connection.replies().send_exception(to, bound_already);
  auto owner =
      connection.stream().descriptor() >= 0 ? connection.server().bind_tokens().claim(TaskId{task}, token) : nullptr;
  if (!owner) return connection.replies().send_exception(to, unknown_task);
  connection.binding().bind(TaskId{task}, std::move(owner), to);
  connection.stream().read_for_tasks();
}

}  // namespace

bool answer_builtin(ServerConnection& connection, Request& request, const ReceivedRequest& received, const ReplyTo& to,
                    const ActiveObject& object) {
  const std::string_view operation = request.header.operation;
  if (operation == "_corelane_admit") return admit(connection, request, received.contract, to, object), true;
  if (operation == "_corelane_depart") return depart(connection, request, to), true;
  if (operation == "_corelane_bind") return bind(connection, request, to), true;
  if (operation == "_corelane_offer") return offer(connection, request, to), true;
  if (operation == "_interface")
    return connection.replies().send_exception(to, {ErrorKind::intf_repos, Completion::no, minor::omg | 1}), true;
  if (operation == "_domain_managers")
    return connection.replies().send_exception(to, {ErrorKind::no_implement, Completion::no, 0}), true;

  cdr::Writer& writer = connection.replies().writer();
  begin_reply_to(writer, to);
  if (operation == "_is_a") {
    std::string_view id;
    if (!request.body.read_string(id)) return connection.replies().send_exception(to, request.body.error()), true;
    writer.write(object.skeleton().is_a(id));
  } else if (operation == "_non_existent" || operation == "_not_existent") {
    writer.write(!object.active());
  } else if (operation == "_component") {
    giop::encode(writer, giop::Ior{});  // no object here is part of a component
  } else if (operation == "_repository_id") {
    writer.write_string(object.skeleton().ids.empty() ? "" : object.skeleton().ids.front());
  } else {
    return false;
  }
  if (to.expected) connection.replies().send_whole(writer);
  return true;
}

}  // namespace corelane::core
