#include "orb/core/task_binding.h"

#include <sched.h>

#include "orb/core/client_call.h"
#include "orb/core/exception.h"
#include "orb/core/orb_state.h"
#include "orb/core/reference.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"

namespace corelane::core {
namespace {

Expected<std::shared_ptr<ClientConnection>> connect_beside(const ClientConnection& shared, Orb& orb, Time deadline) {
  Orb::State& state = orb.state();
  const auto transport = state.transport();
  if (!transport) return transport.error();
  const Settings& settings = state.settings;
  auto stream = (*transport)->connect(shared.peer(), deadline);
  if (!stream) return stream.error();
  auto made = std::make_shared<ClientConnection>(std::move(*stream), settings.giop, state.half_messages);
  if (const auto adopted = state.connections.adopt(made); !adopted) return adopted.error();
  return made;
}

bool may_log() noexcept { return sched_getscheduler(0) == SCHED_OTHER; }

}  // namespace

TaskBinding::TaskBinding(std::shared_ptr<Reference> reference, std::string operation, TaskId task,
                         std::shared_ptr<ClientConnection> connection, Contract contract)
    : reference_(std::move(reference)),
      operation_(std::move(operation)),
      task_(task),
      shared_(std::move(connection)),
      contract_(contract) {}

TaskBinding::~TaskBinding() { depart(); }

void TaskBinding::open_own(std::uint64_t token) {
  if (token == 0 || !shared_) return;
  try {
    Orb& orb = *reference_->orb();
    const Time deadline = os::now() + orb.settings().connect_timeout;
    auto own = connect_beside(*shared_, orb, deadline);
    if (!own) raise(own.error());
    ClientCallPtr call = ClientCall::acquire();
    call->begin(reference_, "_corelane_bind", {.connection = *own, .latest = deadline});
    call->arguments().write(task_.value);
    call->arguments().write(token);
    call->invoke({});
    own_ = std::move(*own);
    uses_own_.store(true, std::memory_order_relaxed);  // relaxed: nobody else knows of the binding yet
  } catch (const SystemException& fault) {
    os::log::warn("task " + std::to_string(task_.value) + " (" + operation_ + ") gets no connection of its own (" +
                  fault.what() + "): its calls share one with others");
  }
}

const std::shared_ptr<ClientConnection>& TaskBinding::connection(bool nested) noexcept {
  // relaxed: own_ is constant, and the flag only goes down
  if (nested || !uses_own_.load(std::memory_order_relaxed)) return shared_;
  if (own_->usable()) return own_;
  fall_back(*own_);
  return shared_;
}

bool TaskBinding::fall_back(const ClientConnection& connection) noexcept {
  if (&connection != own_.get()) return false;
  if (uses_own_.exchange(false, std::memory_order_relaxed)) {  // relaxed: as above
    unsaid_.store(true, std::memory_order_relaxed);            // relaxed: a flag
    say_fallen_back();
  }
  return true;
}

// One line for each task, and none from a real-time thread: then it comes when the task departs.
void TaskBinding::say_fallen_back() noexcept {
  if (!may_log() || !unsaid_.exchange(false, std::memory_order_relaxed)) return;  // relaxed: a flag
  os::log::warn("task " + std::to_string(task_.value) + " (" + operation_ +
                ") has lost its own connection: its calls share one with others from here on");
}

void TaskBinding::depart() noexcept {
  if (departed_.exchange(true, std::memory_order_relaxed)) return;  // relaxed: only one caller sees false
  reference_->unbind(*this);
  tell_server();
  if (own_) own_->close();
  say_fallen_back();
}

void TaskBinding::tell_server() noexcept {
  try {
    if (!shared_) {
      if (auto* executive = reference_->orb()->state().runtime_executive()) executive->depart(task_);
      return;
    }
    if (!shared_->usable()) return;  // the server has seen the connection go, and the task with it
    ClientCallPtr call = ClientCall::acquire();
    call->begin(reference_, "_corelane_depart", {.connection = shared_});
    call->arguments().write(task_.value);
    call->invoke({});
  } catch (const Exception&) {
    // The server could not be told; the task goes when the connection does.
  }
}

}  // namespace corelane::core
