#include "orb/core/server/request_task.h"

#include "orb/base/minor.h"
#include "orb/core/server/server_connection.h"
#include "orb/giop/corelane_contexts.h"

namespace corelane::core {
namespace {

constexpr Error foreign_task{ErrorKind::bad_param, Completion::no, minor::unknown_task};

// Returns the tasks that the requests of the connection may use.
TaskOwnership& tasks_for(ServerConnection& connection) noexcept {
  const auto& owner = connection.binding().owner();
  return owner ? owner->tasks() : connection.tasks();
}

std::optional<RequestTask> shared_task_of(ServerConnection& connection, const ReplyTo& to, ActiveObject& object,
                                          const Upcall& upcall, Time received) {
  const SharedTask shared = object.shared_task(upcall);
  switch (shared.phase) {
    case SharedTask::Phase::none:
      return RequestTask{};
    case SharedTask::Phase::admitted:
      return RequestTask{.task = shared.task, .foreseen = object.foresees(upcall, received)};
    case SharedTask::Phase::refused:
      if (shared.may_have_changed && object.manager_state().entry_counter().passage() == Passage::active)
        return RequestTask{.asks = true};
      connection.server().executive().note_refused_job();
      shared.refusal ? connection.replies().send_refusal(to, *shared.refusal, shared.error)
                     : connection.replies().send_exception(to, shared.error);
      return std::nullopt;
    case SharedTask::Phase::pending:
      break;
  }
  connection.replies().send_exception(to, {ErrorKind::transient, Completion::no, minor::admission_pending});
  return std::nullopt;
}

}  // namespace

std::optional<RequestTask> task_of(ServerConnection& connection, const giop::RequestHeader& header, const ReplyTo& to,
                                   ActiveObject& object, const Upcall& upcall, Time received) {
  const auto context = header.contexts.find(giop::context::contract);
  if (!context) return shared_task_of(connection, to, object, upcall, received);
  const auto content = giop::decode_contract(*context);
  if (!content) return connection.replies().send_exception(to, content.error()), std::nullopt;
  if (content->task == no_task) return shared_task_of(connection, to, object, upcall, received);
  if (object.shares(content->task, upcall))
    return RequestTask{.task = content->task, .foreseen = object.foresees(upcall, received)};
  const TaskOwnership::Use use = tasks_for(connection).use(content->task, header.target.object_key, upcall, received);
  if (use != TaskOwnership::Use::forbidden)
    return RequestTask{.task = content->task, .foreseen = use == TaskOwnership::Use::foreseen};
  return connection.replies().send_exception(to, foreign_task), std::nullopt;
}

}  // namespace corelane::core
