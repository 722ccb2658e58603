#include "orb/core/client/task_binding.h"

#include <algorithm>
#include <new>
#include <utility>

#include "orb/base/minor.h"
#include "orb/core/client/client_call.h"
#include "orb/core/client/client_parts.h"
#include "orb/core/client/reference.h"
#include "orb/core/client/reopener.h"
#include "orb/core/exception.h"
#include "orb/core/orb.h"
#include "orb/core/settings.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"

namespace corelane::core {
namespace {

Expected<std::shared_ptr<ClientConnection>> connect_beside(const ClientConnection& shared, Orb& orb, Time deadline) {
  const auto transport = orb.client_parts().transport();
  if (!transport) return transport.error();
  auto stream = (*transport)->connect(shared.peer(), deadline);
  if (!stream) return stream.error();
  auto made = ClientConnection::make(std::move(*stream), orb.settings().giop);
  if (const auto adopted = orb.client_parts().cache().adopt(made); !adopted) return adopted.error();
  return made;
}

}  // namespace

TaskBinding::TaskBinding(std::shared_ptr<Reference> reference, std::string operation, TaskId task,
                         std::shared_ptr<ClientConnection> connection, Contract contract)
    : reference_(std::move(reference)),
      operation_(std::move(operation)),
      task_(task),
      shared_(std::move(connection)),
      contract_(contract) {
  if (!shared_) return;
  shared_->tasks().fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  shared_->stream().keep_memory();
}

TaskBinding::~TaskBinding() {
  depart();
  if (shared_) shared_->tasks().fetch_sub(1, std::memory_order_relaxed);  // relaxed: a count
}

void TaskBinding::open_own(std::uint64_t token) {
  if (token == 0 || !shared_) return;
  const Time now = os::now();
  pause_.begin(now);
  Orb& orb = *reference_->orb();
  try {
    bind_own(token, now + orb.settings().connect_timeout);
  } catch (const SystemException& fault) {
    os::log::warn("task " + std::to_string(task_.value) + " (" + operation_ + ") gets no connection of its own (" +
                  fault.what() + "): its calls use the shared connection until it has one");
  }
  if (const auto watched = orb.client_parts().reopener_of_tasks().watch(shared_from_this()); !watched)
    os::log::warn("a task's own connection will not be opened again once it is lost: " +
                  std::string(minor::text(watched.error())));
}

// Opens the own connection and binds it with this token. Raises.
void TaskBinding::bind_own(std::uint64_t token, Time deadline) {
  auto made = connect_beside(*shared_, *reference_->orb(), deadline);
  if (!made) raise(made.error());
  (*made)->stream().keep_memory();
  ClientCallPtr call = ClientCall::acquire();
  call->begin(reference_, "_corelane_bind", {.connection = *made, .latest = deadline});
  call->arguments().write(task_.value);
  call->arguments().write(token);
  call->invoke({});
  pause_.opened();
  (*made)->tasks().fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  opened_.push_back(*made);
  const os::LockGuard lock(mutex_);
  if (departed_.load(std::memory_order_relaxed)) return (*made)->close();  // relaxed: depart() takes the lock after it
  own_ = std::move(*made);
  uses_own_.store(true, std::memory_order_relaxed);  // relaxed: a hint
}

// Returns 0 if the server has no token to give at the moment. Raises.
std::uint64_t TaskBinding::ask_for_token(Time deadline) {
  ClientCallPtr call = ClientCall::acquire();
  call->begin(reference_, "_corelane_offer", {.connection = shared_, .latest = deadline});
  call->arguments().write(task_.value);
  call->invoke({});
  std::uint64_t token = 0;
  return call->results().read(token) ? token : 0;
}

Time TaskBinding::reopen(Time now) {
  say_fallen_back();
  const Time next = reopen_own(now);
  return let_go_of_lost() ? next : std::min(next, now + ReopenPause::first);
}

// Returns false if calls still use a lost connection.
bool TaskBinding::let_go_of_lost() {
  std::erase_if(opened_, [](const auto& connection) { return connection.use_count() == 1; });
  const auto latest = own();
  return std::all_of(opened_.begin(), opened_.end(), [&](const auto& connection) { return connection == latest; });
}

Time TaskBinding::reopen_own(Time now) {
  // relaxed: depart() closes what is opened meanwhile
  if (given_up_ || departed_.load(std::memory_order_relaxed) || has_own()) return never;
  if (!shared_->usable(os::now())) return never;  // the task has ended with it
  pause_.lost(now);
  if (now < pause_.due()) return pause_.due();
  pause_.tried(now);
  const Time deadline = now + reference_->orb()->settings().connect_timeout;
  try {
    const std::uint64_t token = ask_for_token(deadline);
    if (token == 0) return pause_.due();
    bind_own(token, deadline);
  } catch (const SystemException& fault) {
    given_up_ = is_over(fault.error());
    return given_up_ ? never : pause_.due();
  }
  os::log::info("task " + std::to_string(task_.value) + " (" + operation_ + ") has a connection of its own again");
  return never;
}

// Returns whether further attempts are useless: the server cannot provide a second connection, or the task has ended
// with the connection that owned it.
bool TaskBinding::is_over(const Error& error) const noexcept {
  return error.kind == ErrorKind::bad_operation || !shared_->open();
}

std::shared_ptr<ClientConnection> TaskBinding::own() noexcept {
  const os::LockGuard lock(mutex_);
  return own_;
}

std::shared_ptr<ClientConnection> TaskBinding::connection(bool nested, Time now) noexcept {
  // relaxed: a hint
  if (nested || !uses_own_.load(std::memory_order_relaxed)) return shared_;
  auto found = own();
  if (found && found->usable(now)) return found;
  if (found) fall_back(*found);
  return shared_;
}

bool TaskBinding::fall_back(const ClientConnection& connection) noexcept {
  if (&connection == shared_.get()) return false;
  {
    const os::LockGuard lock(mutex_);
    if (&connection != own_.get()) return true;         // another connection was opened since
    own_.reset();                                       // opened_ still holds it
    uses_own_.store(false, std::memory_order_relaxed);  // relaxed: a hint
  }
  unlogged_.store(true, std::memory_order_relaxed);  // relaxed: a flag
  say_fallen_back();
  reference_->orb()->client_parts().reopener_of_tasks().wake();
  return true;
}

// Logs one line for each loss. A real-time thread logs nothing; the Reopener does it then.
void TaskBinding::say_fallen_back() noexcept {
  if (os::is_real_time() || !unlogged_.exchange(false, std::memory_order_relaxed)) return;  // relaxed: a flag
  os::log::warn("task " + std::to_string(task_.value) + " (" + operation_ +
                ") has lost its own connection: its calls use the shared connection until it has another");
}

void TaskBinding::depart() noexcept {
  if (departed_.exchange(true, std::memory_order_relaxed)) return;  // relaxed: only one caller sees false
  reference_->unbind(*this);
  tell_server();
  if (const auto left = own()) left->close();
  say_fallen_back();
}

void TaskBinding::tell_server() noexcept {
  try {
    if (!shared_) {
      if (const auto executive = reference_->orb()->client_parts().runtime_executive()) executive->depart(task_);
      return;
    }
    if (!shared_->usable(os::now())) return;  // the server has noticed, and the task has ended with it
    ClientCallPtr call = ClientCall::acquire();
    call->begin(reference_, "_corelane_depart", {.connection = shared_});
    call->arguments().write(task_.value);
    call->invoke({});
  } catch (const Exception&) {
    // The server could not be notified. The task ends with its connection.
  } catch (const std::bad_alloc&) {
    // As above.
  }
}

}  // namespace corelane::core
