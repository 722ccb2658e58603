#include "orb/corba/orb_objects.h"

#include "orb/core/invocation.h"
#include "orb/core/operation.h"

namespace CORBA {
namespace {

constexpr ::corelane::core::Operation policy_type_operation{.name = "_get_policy_type", .oneway = false, .raises = {}};
constexpr ::corelane::core::Operation copy_operation{.name = "copy", .oneway = false, .raises = {}};
constexpr ::corelane::core::Operation destroy_operation{.name = "destroy", .oneway = false, .raises = {}};

}  // namespace

PolicyType Policy::policy_type() {
  PolicyType result{};
  ::corelane::core::Invocation call(*this, policy_type_operation);
  if (call.try_local(result)) return result;
  call.marshal();
  call.invoke();
  call.unmarshal(result);
  return result;
}

object_reference<Policy> Policy::copy() {
  object_reference<Policy> result;
  ::corelane::core::Invocation call(*this, copy_operation);
  if (call.try_local(result)) return result;
  call.marshal();
  call.invoke();
  call.unmarshal(result);
  return result;
}

void Policy::destroy() {
  ::corelane::core::Invocation call(*this, destroy_operation);
  if (call.try_local()) return;
  call.marshal();
  call.invoke();
  call.unmarshal();
}

}  // namespace CORBA
