// The classes from which servants derive for the interfaces of idl/include/corelane/orb.idl. Generated code whose IDL
// includes <orb.idl> includes them, because a skeleton may have one of them as its base.
//
// Threads: as all servants.
#pragma once

#include "orb/base/language.h"

#include "orb/corba/orb_objects.h"
#include "orb/corba/servant.h"

namespace POA_CORBA {

class Policy : public virtual ::PortableServer::ServantBase {
 public:
  using _ref_type = ::CORBA::servant_reference<Policy>;
  using _stub_type = ::CORBA::Policy;

  ::CORBA::object_reference<::CORBA::Policy> _this() {
    return ::corelane::core::make_stub<::CORBA::Policy>(_activated_reference());
  }

  virtual ::CORBA::PolicyType policy_type() = 0;
  virtual ::CORBA::object_reference<::CORBA::Policy> copy() = 0;
  virtual void destroy() = 0;

  const ::corelane::core::Skeleton& _skeleton() const noexcept override;
  void* _self() noexcept override { return this; }
};

class InterfaceDef : public virtual ::PortableServer::ServantBase {
 public:
  using _ref_type = ::CORBA::servant_reference<InterfaceDef>;
  using _stub_type = ::CORBA::InterfaceDef;

  ::CORBA::object_reference<::CORBA::InterfaceDef> _this() {
    return ::corelane::core::make_stub<::CORBA::InterfaceDef>(_activated_reference());
  }

  const ::corelane::core::Skeleton& _skeleton() const noexcept override;
  void* _self() noexcept override { return this; }
};

}  // namespace POA_CORBA

namespace CORBA {

template <>
struct servant_traits<::CORBA::Policy> : ::corelane::poa::ServantTraits<::POA_CORBA::Policy> {};
template <>
struct servant_traits<::CORBA::InterfaceDef> : ::corelane::poa::ServantTraits<::POA_CORBA::InterfaceDef> {};

}  // namespace CORBA
