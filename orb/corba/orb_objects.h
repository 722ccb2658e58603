// The C++ mapping of idl/include/corelane/orb.idl: interfaces and value types of CORBA that IDL may use. Generated code
// whose IDL includes <orb.idl> includes it. CORBA 3.3 part 1, 8; IDL to C++11, 6.
//
// Threads: as the objects of programs.
#pragma once

#include "orb/base/language.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orb/any/desc_of.h"
#include "orb/base/shared_self.h"
#include "orb/corba/abstract.h"
#include "orb/corba/object.h"
#include "orb/corba/orb_types.h"
#include "orb/corba/typecode.h"
#include "orb/corba/value.h"

namespace CORBA {

using PolicyTypeSeq = std::vector<PolicyType>;
using ServiceType = std::uint16_t;
using ServiceOption = std::uint32_t;
using ServiceDetailType = std::uint32_t;

inline constexpr TypeCodeConstant _tc_PolicyTypeSeq = detail::alias_of(
    detail::sequence_of<::corelane::any::basic::ulong>, "IDL:omg.org/CORBA/PolicyTypeSeq:1.0", "PolicyTypeSeq");
inline constexpr TypeCodeConstant _tc_ServiceType =
    detail::alias_of(::corelane::any::basic::ushort, "IDL:omg.org/CORBA/ServiceType:1.0", "ServiceType");
inline constexpr TypeCodeConstant _tc_ServiceOption =
    detail::alias_of(::corelane::any::basic::ulong, "IDL:omg.org/CORBA/ServiceOption:1.0", "ServiceOption");
inline constexpr TypeCodeConstant _tc_ServiceDetailType =
    detail::alias_of(::corelane::any::basic::ulong, "IDL:omg.org/CORBA/ServiceDetailType:1.0", "ServiceDetailType");

// Policy is the base of policies that IDL declares, local or not.
class Policy : public virtual Object {
 public:
  using _ref_type = object_reference<Policy>;
  static constexpr const char* _id = "IDL:omg.org/CORBA/Policy:1.0";
  explicit Policy(const ::corelane::core::StubInit& init) : Object(init) {}

  virtual PolicyType policy_type();
  virtual object_reference<Policy> copy();
  virtual void destroy();

 protected:
  Policy() = default;
};
using PolicyList = std::vector<object_reference<Policy>>;
inline constexpr TypeCodeConstant _tc_Policy{
    {.kind = ::corelane::any::Kind::objref, .id = "IDL:omg.org/CORBA/Policy:1.0", .name = "Policy"}};
namespace detail {
inline constexpr ::corelane::any::TypeDesc policies{.kind = ::corelane::any::Kind::sequence, .content = &_tc_Policy};
}  // namespace detail
inline constexpr TypeCodeConstant _tc_PolicyList =
    detail::alias_of(detail::policies, "IDL:omg.org/CORBA/PolicyList:1.0", "PolicyList");

// Current is the local base of objects that describe the current call.
class Current : public virtual LocalObject {
 public:
  using _ref_type = object_reference<Current>;
  static constexpr const char* _id = "IDL:omg.org/CORBA/Current:1.0";
  _ref_type _this() { return _ref_type(::corelane::shared_self(*this)); }

 protected:
  Current() = default;
};

// InterfaceDef is a reference to an object of an interface repository. A program can only pass it on.
class InterfaceDef : public virtual Object {
 public:
  using _ref_type = object_reference<InterfaceDef>;
  static constexpr const char* _id = "IDL:omg.org/CORBA/InterfaceDef:1.0";
  explicit InterfaceDef(const ::corelane::core::StubInit& init) : Object(init) {}

 protected:
  InterfaceDef() = default;
};
inline constexpr TypeCodeConstant _tc_InterfaceDef{
    {.kind = ::corelane::any::Kind::objref, .id = "IDL:omg.org/CORBA/InterfaceDef:1.0", .name = "InterfaceDef"}};

inline constexpr TypeCodeConstant _tc_StringValue{{.kind = ::corelane::any::Kind::value_box,
                                                   .id = "IDL:omg.org/CORBA/StringValue:1.0",
                                                   .name = "StringValue",
                                                   .content = &::corelane::any::basic::string}};
inline constexpr TypeCodeConstant _tc_WStringValue{{.kind = ::corelane::any::Kind::value_box,
                                                    .id = "IDL:omg.org/CORBA/WStringValue:1.0",
                                                    .name = "WStringValue",
                                                    .content = &::corelane::any::basic::wstring}};

class StringValue final : public ValueBox<std::string> {
 public:
  using _ref_type = valuetype_reference<StringValue>;
  static constexpr const char* _id = "IDL:omg.org/CORBA/StringValue:1.0";
  static const ::corelane::any::TypeDesc& _type() noexcept { return _tc_StringValue; }
  static std::string _repository_id() { return _id; }

  StringValue() = default;
  explicit StringValue(std::string _given) : ValueBox(std::move(_given)) {}

  const ::corelane::any::TypeDesc& _type_desc() const noexcept override { return _type(); }
  std::shared_ptr<::corelane::any::Value> _fresh() const override { return std::make_shared<StringValue>(); }
};

class WStringValue final : public ValueBox<std::wstring> {
 public:
  using _ref_type = valuetype_reference<WStringValue>;
  static constexpr const char* _id = "IDL:omg.org/CORBA/WStringValue:1.0";
  static const ::corelane::any::TypeDesc& _type() noexcept { return _tc_WStringValue; }
  static std::string _repository_id() { return _id; }

  WStringValue() = default;
  explicit WStringValue(std::wstring _given) : ValueBox(std::move(_given)) {}

  const ::corelane::any::TypeDesc& _type_desc() const noexcept override { return _type(); }
  std::shared_ptr<::corelane::any::Value> _fresh() const override { return std::make_shared<WStringValue>(); }
};

}  // namespace CORBA

namespace IDL {

template <>
struct traits<::CORBA::Policy> : ::corelane::core::InterfaceTraits<::CORBA::Policy> {};
template <>
struct traits<::CORBA::Current> : ::IDL::local_traits<::CORBA::Current> {};
template <>
struct traits<::CORBA::InterfaceDef> : ::corelane::core::InterfaceTraits<::CORBA::InterfaceDef> {};

}  // namespace IDL

namespace corelane::any {

template <>
inline constexpr const TypeDesc* desc_of<::CORBA::object_reference<::CORBA::Policy>> = &::CORBA::_tc_Policy;
template <>
inline constexpr const TypeDesc* desc_of<::CORBA::object_reference<::CORBA::InterfaceDef>> = &::CORBA::_tc_InterfaceDef;
template <>
inline constexpr const TypeDesc* desc_of<::CORBA::valuetype_reference<::CORBA::StringValue>> =
    &::CORBA::_tc_StringValue;
template <>
inline constexpr const TypeDesc* desc_of<::CORBA::valuetype_reference<::CORBA::WStringValue>> =
    &::CORBA::_tc_WStringValue;

}  // namespace corelane::any
