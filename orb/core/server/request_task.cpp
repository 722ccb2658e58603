#include "orb/core/server/request_task.h"

#include "orb/base/minor.h"
#include "orb/core/server/server_connection.h"

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

[[gnu::hot]] std::optional<RequestTask> task_of(ServerConnection& connection, const giop::RequestHeader& header,
                                                const ReceivedRequest& received, const ReplyTo& to,
                                                ActiveObject& object, const Upcall& upcall) {
  const TaskId named = received.contract ? received.contract->task : no_task;
  const Time at = received.received;
  if (named == no_task) return shared_task_of(connection, to, object, upcall, at);
  if (object.shares(named, upcall)) return RequestTask{.task = named, .foreseen = object.foresees(upcall, at)};
  const TaskOwnership::Use use = tasks_for(connection).use(named, header.target.object_key, upcall, at);
  if (use != TaskOwnership::Use::forbidden)
    return RequestTask{.task = named, .foreseen = use == TaskOwnership::Use::foreseen};
  return connection.replies().send_exception(to, foreign_task), std::nullopt;
}

}  // namespace corelane::core
