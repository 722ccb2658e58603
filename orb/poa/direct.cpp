#include "orb/poa/direct.h"

#include <algorithm>
#include <string>

#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/core/exception.h"

namespace corelane::poa {
namespace {

constexpr Error not_active{ErrorKind::object_not_exist, Completion::no, minor::no_such_object};

[[noreturn]] void refuse(const std::string& why) {
  core::raise(Error{ErrorKind::bad_param, Completion::no, minor::no_direct_call},
              "direct(): " + why + "; call it through its reference");
}

// A contract guarantees a core, a priority and a budget. A call on the caller's thread would have none of them.
void refuse_contracts(const core::ActiveObject& object) {
  const core::OperationContracts& contracts = object.contracts();
  const auto found = std::find_if(contracts.begin(), contracts.end(), [](const auto& one) { return one.has_value(); });
  if (found == contracts.end()) return;
  const core::Skeleton& skeleton = object.skeleton();
  const core::Upcall& upcall = skeleton.upcalls[static_cast<std::size_t>(found - contracts.begin())];
  refuse(core::label_of(skeleton, upcall) + " has a contract, and a direct call would not run as its task");
}

}  // namespace

DirectTarget find_direct_target(const core::ObjectReference<core::Object>& reference) {
  if (!reference) core::raise_nil_reference();
  const std::shared_ptr<core::Reference>& inner = reference->_reference();
  if (!inner) refuse("a local object has no servant");
  if (!inner->is_local()) refuse("the object belongs to another process or to another ORB of this one");
  if (inner->has_bindings()) refuse("the reference has a task, and a direct call would not run as its job");
  const auto found = inner->find_local();
  if (!found) core::raise(found.error());
  core::ActiveObject& object = **found;
  refuse_contracts(object);
  // Safe, because the adapter stored it as a Servant.
  auto servant = std::static_pointer_cast<Servant>(object.servant());
  if (!servant || !object.active()) core::raise(not_active);
  return {*found, ServantReference<Servant>(std::move(servant))};
}

void raise_other_servant(const core::ActiveObject& object, std::string_view repository_id) {
  const auto& ids = object.skeleton().ids;
  refuse("the servant is one of " + std::string(ids.empty() ? "an unknown interface" : ids.front()) +
         " and does not implement " + std::string(repository_id));
}

void raise_ended(bool is_nil) {
  if (is_nil) core::raise_nil_reference();
  core::raise(not_active);
}

}  // namespace corelane::poa
