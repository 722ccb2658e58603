// Defines the functions of orb/core and orb/poa that take or return policies: create_policy(), create_POA(), and
// _set_policy_overrides().
#include "orb/corba/policies.h"

#include <algorithm>
#include <utility>

#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/core/orb.h"
#include "orb/poa/poa.h"

namespace CORBA {
namespace {

namespace core = ::corelane::core;
using ::corelane::Completion;
using ::corelane::Error;
using ::corelane::ErrorKind;

// MadePolicy is a policy that create_policy() has made.
class MadePolicy final : public Policy, public LocalObject {
 public:
  MadePolicy(const core::PolicyKind& kind, core::PolicyValue value) : kind_(kind), value_(value) {}
  PolicyType policy_type() override { return kind_.type; }
  object_reference<Policy> copy() override { return make_reference(kind_, value_); }
  void destroy() override {}

  static object_reference<Policy> make_reference(const core::PolicyKind& kind, core::PolicyValue value) {
    return object_reference<Policy>(std::make_shared<MadePolicy>(kind, value));
  }
  const core::PolicyKind& kind() const noexcept { return kind_; }
  core::PolicyValue value() const noexcept { return value_; }

 private:
  const core::PolicyKind& kind_;
  const core::PolicyValue value_;
};

std::string text_of(core::PolicyFault fault) {
  switch (fault) {
    case core::PolicyFault::bad_policy:
    case core::PolicyFault::unsupported_policy:
    case core::PolicyFault::bad_policy_type:
      return "it has no such value";
    case core::PolicyFault::bad_policy_value:
      return "the value is of another type, or out of range";
    case core::PolicyFault::unsupported_policy_value:
      return "Corelane does not support this value";
  }
  return {};
}

// Puts the policies of the list into `values`. Returns the places of those that an object of this kind does not take,
// that contradict one before, or that exclude each other.
UShortSeq take(const PolicyList& list, core::PolicyKind::Taker taker, core::PolicyValues& values) {
  std::vector<const core::PolicyKind*> kinds(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto* const made = dynamic_cast<const MadePolicy*>(list[i].get());
    if (made == nullptr || made->kind().taker != taker) continue;
    if (values.set(made->kind(), made->value())) kinds[i] = &made->kind();
  }
  UShortSeq faults;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (kinds[i] == nullptr || !values.fits(*kinds[i])) faults.push_back(static_cast<std::uint16_t>(i));
  return faults;
}

}  // namespace

PolicyError::PolicyError(PolicyErrorCode reason, const std::string& text)
    : reason_(reason), what_(std::make_shared<const std::string>("CORBA::PolicyError: " + text)) {}

void InvalidPolicies::_encode(::corelane::cdr::Writer& writer) const { encode(writer, indices_); }

}  // namespace CORBA

namespace corelane::core {

using ::CORBA::MadePolicy;

Handle<::CORBA::Policy> PolicyFactory::create_policy(std::uint32_t type, const ::CORBA::Any& value) const {
  const PolicyKind* const kind = find_policy_kind(type);
  if (kind == nullptr)
    throw ::CORBA::PolicyError(::CORBA::BAD_POLICY_TYPE, "there is no policy type " + std::to_string(type));
  const auto read = kind->read(value);
  if (!read)
    throw ::CORBA::PolicyError(static_cast<::CORBA::PolicyErrorCode>(read.error()),
                               std::string(kind->name) + ": " + ::CORBA::text_of(read.error()));
  return MadePolicy::make_reference(*kind, *read);
}

ObjectReference<Object> Object::_set_policy_overrides(const std::vector<ObjectReference<::CORBA::Policy>>& policies,
                                                      SetOverrideType how) const {
  if (!reference_) raise(Error{ErrorKind::no_implement, Completion::no, minor::omg | 8});
  PolicyValues values;
  if (auto faults = ::CORBA::take(policies, PolicyKind::Taker::reference, values); !faults.empty())
    throw ::CORBA::InvalidPolicies(std::move(faults));
  const PolicyValues* const before = reference_->policies();
  if (how == SetOverrideType::ADD_OVERRIDE && before != nullptr)
    for (const PolicyKind* const kind : policy_kinds())
      if (before->has(*kind) && !values.has(*kind)) values.set(*kind, before->of(*kind));
  return make_stub<Object>(std::make_shared<Reference>(reference_->orb(), reference_->ior(), reference_->reach(),
                                                       std::make_shared<const PolicyValues>(values)));
}

ObjectReference<::CORBA::Policy> Object::_get_policy(std::uint32_t type) const {
  const PolicyKind* const kind = find_policy_kind(type);
  if (kind == nullptr || kind->taker != PolicyKind::Taker::reference)
    raise(Error{ErrorKind::inv_policy, Completion::no, minor::omg | 2});
  const PolicyValues* const values = reference_ ? reference_->policies() : nullptr;
  if (values == nullptr || !values->has(*kind)) return nullptr;
  return MadePolicy::make_reference(*kind, values->of(*kind));
}

}  // namespace corelane::core

namespace corelane::poa {

core::ObjectReference<Poa> Poa::create_POA(const std::string& name, core::ObjectReference<PoaManager> manager,
                                           const std::vector<core::ObjectReference<::CORBA::Policy>>& policies) {
  core::PolicyValues values;
  const auto faults = ::CORBA::take(policies, core::PolicyKind::Taker::poa, values);
  if (!faults.empty()) throw InvalidPolicy(faults.front());
  return create_with(name, std::move(manager), values);
}

}  // namespace corelane::poa
