#include "orb/rt/rt.h"

#include "orb/base/minor.h"
#include "orb/base/settings/overrun_name.h"
#include "orb/core/client/client_call.h"
#include "orb/core/client/reference.h"
#include "orb/core/client/task_binding.h"
#include "orb/core/contracts/contract_backlog.h"
#include "orb/core/contracts/contracts_file.h"
#include "orb/core/exception.h"
#include "orb/core/orb.h"
#include "orb/core/skeleton.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"

namespace corelane::rt {
namespace {

Refusal refusal_of(const core::SystemException& exception) {
  const sched::Refusal& reason = *exception.refusal();
  return {reason, exception.detail().empty() ? sched::text_of(reason) : std::string(exception.detail())};
}

bool is_ours(const Error& error) noexcept { return error.minor >> 12 == minor::corelane >> 12; }

// Adds the contract's values to the refusal's text if the reason has none.
Refusal with_values(Refusal refusal, const Contract& contract) {
  if (refusal.reason.code != sched::RefusalCode::backlog) return refusal;
  if (auto said = core::backlog_fault_of(contract)) refusal.text = std::move(*said);
  return refusal;
}

using Answer = Expected<std::shared_ptr<core::TaskBinding>, Refusal>;

Answer admit_local(const std::shared_ptr<core::Reference>& reference, const TaskSpec& spec) {
  const auto object = reference->find_local();
  if (!object) core::raise(object.error());
  const core::Skeleton& skeleton = (*object)->skeleton();
  const core::Upcall* const upcall = skeleton.find(spec.operation);
  if (upcall == nullptr)
    core::raise(Error{ErrorKind::bad_operation, Completion::no, minor::no_such_operation},
                core::unknown_operation(skeleton, spec.operation));
  const auto answer = reference->orb()->executive()->admit_and_wait(
      {.contract = spec.contract, .owner = {}, .label = core::label_of(skeleton, *upcall)});
  if (!answer) {
    if (const auto* error = std::get_if<Error>(&answer.error())) core::raise(*error);
    const auto& reason = std::get<sched::Refusal>(answer.error());
    return Unexpected(Refusal{reason, sched::text_of(reason)});
  }
  return std::make_shared<core::TaskBinding>(reference, spec.operation, answer->task, nullptr, spec.contract);
}

// Returns the contract that the server granted. A server that does not report it runs the requested one.
Contract granted(const giop::ContractContext& content, const TaskSpec& spec) {
  const Contract contract = content.contract.value_or(spec.contract);
  if (contract.on_overrun != spec.contract.on_overrun)
    os::log::info("task " + std::to_string(content.task.value) + " (" + spec.operation +
                  "): limits.peer_overrun of the server makes the contract stricter: on_overrun is " +
                  std::string(name_of(contract.on_overrun)) + " instead of " +
                  std::string(name_of(spec.contract.on_overrun)));
  return contract;
}

// Reads the token for the task's own connection from the reply of _corelane_admit; 0 if the server gives none.
std::uint64_t token_of(cdr::Reader& body) {
  std::int16_t core = 0;
  std::int32_t priority = 0;
  std::uint64_t bound = 0, token = 0;
  return body.read(core) && body.read(priority) && body.read(bound) && body.read(token) ? token : 0;
}

Answer admit_remote(const std::shared_ptr<core::Reference>& reference, const TaskSpec& spec) {
  core::ClientCallPtr call = core::ClientCall::acquire();
  call->begin(reference, "_corelane_admit", {.contract = &spec.contract});
  call->arguments().write_string(spec.operation);
  try {
    call->invoke({});
  } catch (const core::SystemException& exception) {
    if (exception.error().kind == ErrorKind::bad_operation && !is_ours(exception.error()))
      core::raise(exception.error(), "the object's server is another ORB's and admits no tasks; call it without");
    if (exception.refusal() == nullptr) throw;
    return Unexpected(refusal_of(exception));
  }
  const auto context = call->contexts().find(giop::context::contract);
  const auto content =
      context ? giop::decode_contract(*context)
              : Expected<giop::ContractContext>(Error{ErrorKind::marshal, Completion::yes, minor::truncated});
  if (!content) core::raise(content.error());
  auto binding = std::make_shared<core::TaskBinding>(reference, spec.operation, content->task, call->connection(),
                                                     granted(*content, spec));
  binding->open_own(token_of(call->results()));
  return binding;
}

}  // namespace

Task& Task::operator=(Task&& other) noexcept {
  if (this == &other) return *this;
  depart();
  binding_ = std::move(other.binding_);
  return *this;
}

Task::~Task() { depart(); }

TaskId Task::id() const noexcept { return binding_ ? binding_->task() : no_task; }

Contract Task::contract() const noexcept { return binding_ ? binding_->contract() : Contract{}; }

void Task::depart() noexcept {
  if (binding_) binding_->depart();
  binding_.reset();
}

Expected<Task, Refusal> admit(const core::ObjectReference<core::Object>& object, const TaskSpec& spec) {
  const os::CancellationDelay delay;
  const std::shared_ptr<core::Reference>& reference = object->_reference();
  if (!reference) core::raise_nil_reference();
  constexpr Error bad_contract{ErrorKind::bad_param, Completion::no, minor::bad_contract};
  if (const auto fault = fault_of(spec.contract)) core::raise(bad_contract, *fault);
  auto binding = reference->is_local() ? admit_local(reference, spec) : admit_remote(reference, spec);
  if (!binding) return Unexpected(with_values(binding.error(), spec.contract));
  reference->bind(*binding);
  return Task(std::move(*binding));
}

Report report(core::Orb& orb) {
  return {orb.executive()->snapshot(), orb.dropped_oneways(), orb.cut_off_clients(), orb.abandoned_requests()};
}

void on_miss(core::Orb& orb, TaskEventHandler handler) {
  orb.executive()->on_event(dispatch::TaskEventKind::miss, std::move(handler));
}

void on_overrun(core::Orb& orb, TaskEventHandler handler) {
  orb.executive()->on_event(dispatch::TaskEventKind::overrun, std::move(handler));
}

void on_oversleep(core::Orb& orb, TaskEventHandler handler) {
  orb.executive()->on_event(dispatch::TaskEventKind::oversleep, std::move(handler));
}

Expected<std::string> dump_trace(core::Orb& orb, const std::string& directory) {
  return orb.executive()->dump_trace(directory);
}

}  // namespace corelane::rt
