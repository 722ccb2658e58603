// PolicyFactory is the part of CORBA::ORB that makes policies. CORBA 3.3 part 1, 8.9.
//
// It is a base of the ORB's class, because programs call its function there, but it uses nothing of an ORB. Its types
// are those of orb/corba, which defines the function. Threads: any.
#pragma once

#include <cstdint>

#include "orb/core/handle.h"

namespace CORBA {

class Any;
class Policy;

}  // namespace CORBA

namespace corelane::core {

class PolicyFactory {
 public:
  // Makes a policy of this type (CORBA::PolicyType) for create_POA() or _set_policy_overrides(). Raises
  // CORBA::PolicyError: the type is not known, or the value is of another type or not supported.
  Handle<::CORBA::Policy> create_policy(std::uint32_t type, const ::CORBA::Any& value) const;

 protected:
  PolicyFactory() = default;
  ~PolicyFactory() = default;
};

}  // namespace corelane::core
