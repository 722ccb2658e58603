#include "orb/core/client_call.h"
#include "orb/core/exception.h"
#include "orb/core/orb_state.h"
#include "orb/core/reference.h"

namespace corelane::core {

TaskBinding::TaskBinding(std::shared_ptr<Reference> reference, std::string operation, TaskId task,
                         std::shared_ptr<ClientConnection> connection, Contract contract)
    : reference_(std::move(reference)),
      operation_(std::move(operation)),
      task_(task),
      connection_(std::move(connection)),
      contract_(contract) {}

TaskBinding::~TaskBinding() { depart(); }

void TaskBinding::depart() noexcept {
  if (departed_.exchange(true, std::memory_order_relaxed)) return;  // relaxed: only one caller sees false
  reference_->unbind(*this);
  try {
    if (!connection_) {
      if (auto* executive = reference_->orb()->state().runtime_executive()) executive->depart(task_);
      return;
    }
    if (!connection_->usable()) return;  // the server has seen the connection go, and the task with it
    ClientCallPtr call = ClientCall::acquire();
    call->begin(reference_, "_corelane_depart", {.connection = connection_});
    call->arguments().write(task_.value);
    call->invoke({});
  } catch (const Exception&) {
    // The server could not be told; the task goes when the connection does.
  }
}

}  // namespace corelane::core
