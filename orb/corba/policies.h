// The policies that programs make: their types, their values, and the exceptions about them. orb/core/policies has the
// kinds of policies. CORBA 3.3 part 1, 8.9 and 15.3.8.
//
//   CORBA::Any value;
//   value <<= PortableServer::IdAssignmentPolicyValue::USER_ID;
//   const CORBA::PolicyList policies{orb->create_policy(PortableServer::ID_ASSIGNMENT_POLICY_ID, value)};
//   const auto poa = root->create_POA("sensors", nullptr, policies);
//
// Threads: constants; the functions are for ordinary threads.
#pragma once

#include "orb/base/language.h"

#include <array>
#include <cstdint>
#include <string>

#include "orb/any/desc_of.h"
#include "orb/corba/any.h"
#include "orb/corba/exception.h"
#include "orb/corba/orb_objects.h"
#include "orb/core/policies/policy_kind.h"

namespace CORBA {

using PolicyErrorCode = std::int16_t;
inline constexpr PolicyErrorCode BAD_POLICY = 0;
inline constexpr PolicyErrorCode UNSUPPORTED_POLICY = 1;
inline constexpr PolicyErrorCode BAD_POLICY_TYPE = 2;
inline constexpr PolicyErrorCode BAD_POLICY_VALUE = 3;
inline constexpr PolicyErrorCode UNSUPPORTED_POLICY_VALUE = 4;

// Says why create_policy() made none.
class PolicyError final : public UserException {
 public:
  static constexpr const char* _id = "IDL:omg.org/CORBA/PolicyError:1.0";
  PolicyError() = default;
  explicit PolicyError(PolicyErrorCode reason, const std::string& text = {});
  PolicyErrorCode reason() const noexcept { return reason_; }
  const char* _rep_id() const noexcept override { return _id; }
  const char* what() const noexcept override { return what_->c_str(); }
  void _raise() const override { throw *this; }

 private:
  void _encode(::corelane::cdr::Writer& writer) const override { writer.write(reason_); }
  PolicyErrorCode reason_ = BAD_POLICY;
  std::shared_ptr<const std::string> what_ = std::make_shared<const std::string>("CORBA::PolicyError");
};

// Names the policies of a list, by their places, that an object does not take.
class InvalidPolicies final : public UserException {
 public:
  static constexpr const char* _id = "IDL:omg.org/CORBA/InvalidPolicies:1.0";
  InvalidPolicies() = default;
  explicit InvalidPolicies(UShortSeq indices) : indices_(std::move(indices)) {}
  const UShortSeq& indices() const noexcept { return indices_; }
  const char* _rep_id() const noexcept override { return _id; }
  const char* what() const noexcept override { return "CORBA::InvalidPolicies"; }
  void _raise() const override { throw *this; }

 private:
  void _encode(::corelane::cdr::Writer& writer) const override;
  UShortSeq indices_;
};

}  // namespace CORBA

namespace Messaging {

inline constexpr ::CORBA::PolicyType RELATIVE_RT_TIMEOUT_POLICY_TYPE =
    32;  // its value: unsigned long long, 100 ns each

}  // namespace Messaging

namespace PortableServer {

inline constexpr ::CORBA::PolicyType THREAD_POLICY_ID = 16;
inline constexpr ::CORBA::PolicyType LIFESPAN_POLICY_ID = 17;
inline constexpr ::CORBA::PolicyType ID_UNIQUENESS_POLICY_ID = 18;
inline constexpr ::CORBA::PolicyType ID_ASSIGNMENT_POLICY_ID = 19;
inline constexpr ::CORBA::PolicyType IMPLICIT_ACTIVATION_POLICY_ID = 20;
inline constexpr ::CORBA::PolicyType SERVANT_RETENTION_POLICY_ID = 21;
inline constexpr ::CORBA::PolicyType REQUEST_PROCESSING_POLICY_ID = 22;

enum class ThreadPolicyValue : std::uint32_t { ORB_CTRL_MODEL, SINGLE_THREAD_MODEL, MAIN_THREAD_MODEL };
enum class LifespanPolicyValue : std::uint32_t { TRANSIENT, PERSISTENT };
enum class IdUniquenessPolicyValue : std::uint32_t { UNIQUE_ID, MULTIPLE_ID };
enum class IdAssignmentPolicyValue : std::uint32_t { USER_ID, SYSTEM_ID };
enum class ImplicitActivationPolicyValue : std::uint32_t { IMPLICIT_ACTIVATION, NO_IMPLICIT_ACTIVATION };
enum class ServantRetentionPolicyValue : std::uint32_t { RETAIN, NON_RETAIN };
enum class RequestProcessingPolicyValue : std::uint32_t {
  USE_ACTIVE_OBJECT_MAP_ONLY,
  USE_DEFAULT_SERVANT,
  USE_SERVANT_MANAGER
};

namespace detail {

using Names = ::corelane::any::MemberDesc;

inline constexpr Names threads[] = {{"ORB_CTRL_MODEL"}, {"SINGLE_THREAD_MODEL"}, {"MAIN_THREAD_MODEL"}};
inline constexpr Names lifespans[] = {{"TRANSIENT"}, {"PERSISTENT"}};
inline constexpr Names uniqueness[] = {{"UNIQUE_ID"}, {"MULTIPLE_ID"}};
inline constexpr Names assignments[] = {{"USER_ID"}, {"SYSTEM_ID"}};
inline constexpr Names activations[] = {{"IMPLICIT_ACTIVATION"}, {"NO_IMPLICIT_ACTIVATION"}};
inline constexpr Names retentions[] = {{"RETAIN"}, {"NON_RETAIN"}};
inline constexpr Names processings[] = {
    {"USE_ACTIVE_OBJECT_MAP_ONLY"}, {"USE_DEFAULT_SERVANT"}, {"USE_SERVANT_MANAGER"}};

constexpr ::CORBA::TypeCodeConstant enumeration(std::string_view id, std::string_view name,
                                                std::span<const Names> names) {
  return {{.kind = ::corelane::any::Kind::enumeration, .id = id, .name = name, .members = names}};
}

template <typename T>
inline constexpr bool is_policy_value = false;

}  // namespace detail

inline constexpr ::CORBA::TypeCodeConstant _tc_ThreadPolicyValue =
    detail::enumeration("IDL:omg.org/PortableServer/ThreadPolicyValue:1.0", "ThreadPolicyValue", detail::threads);
inline constexpr ::CORBA::TypeCodeConstant _tc_LifespanPolicyValue =
    detail::enumeration("IDL:omg.org/PortableServer/LifespanPolicyValue:1.0", "LifespanPolicyValue", detail::lifespans);
inline constexpr ::CORBA::TypeCodeConstant _tc_IdUniquenessPolicyValue = detail::enumeration(
    "IDL:omg.org/PortableServer/IdUniquenessPolicyValue:1.0", "IdUniquenessPolicyValue", detail::uniqueness);
inline constexpr ::CORBA::TypeCodeConstant _tc_IdAssignmentPolicyValue = detail::enumeration(
    "IDL:omg.org/PortableServer/IdAssignmentPolicyValue:1.0", "IdAssignmentPolicyValue", detail::assignments);
inline constexpr ::CORBA::TypeCodeConstant _tc_ImplicitActivationPolicyValue =
    detail::enumeration("IDL:omg.org/PortableServer/ImplicitActivationPolicyValue:1.0", "ImplicitActivationPolicyValue",
                        detail::activations);
inline constexpr ::CORBA::TypeCodeConstant _tc_ServantRetentionPolicyValue = detail::enumeration(
    "IDL:omg.org/PortableServer/ServantRetentionPolicyValue:1.0", "ServantRetentionPolicyValue", detail::retentions);
inline constexpr ::CORBA::TypeCodeConstant _tc_RequestProcessingPolicyValue = detail::enumeration(
    "IDL:omg.org/PortableServer/RequestProcessingPolicyValue:1.0", "RequestProcessingPolicyValue", detail::processings);

template <>
inline constexpr bool detail::is_policy_value<ThreadPolicyValue> = true;
template <>
inline constexpr bool detail::is_policy_value<LifespanPolicyValue> = true;
template <>
inline constexpr bool detail::is_policy_value<IdUniquenessPolicyValue> = true;
template <>
inline constexpr bool detail::is_policy_value<IdAssignmentPolicyValue> = true;
template <>
inline constexpr bool detail::is_policy_value<ImplicitActivationPolicyValue> = true;
template <>
inline constexpr bool detail::is_policy_value<ServantRetentionPolicyValue> = true;
template <>
inline constexpr bool detail::is_policy_value<RequestProcessingPolicyValue> = true;

template <typename T>
requires detail::is_policy_value<T>
void encode(::corelane::cdr::Writer& writer, T value) { ::corelane::cdr::write_enum(writer, value); }
template <typename T>
requires detail::is_policy_value<T>
bool decode(::corelane::cdr::Reader& reader, T& value) {
  const auto count = static_cast<std::uint32_t>((*::corelane::any::desc_of<T>).members.size());
  return ::corelane::cdr::read_enum(reader, value, count);
}

}  // namespace PortableServer

namespace corelane::any {

template <>
inline constexpr const TypeDesc* desc_of<::PortableServer::ThreadPolicyValue> =
    &::PortableServer::_tc_ThreadPolicyValue;
template <>
inline constexpr const TypeDesc* desc_of<::PortableServer::LifespanPolicyValue> =
    &::PortableServer::_tc_LifespanPolicyValue;
template <>
inline constexpr const TypeDesc* desc_of<::PortableServer::IdUniquenessPolicyValue> =
    &::PortableServer::_tc_IdUniquenessPolicyValue;
template <>
inline constexpr const TypeDesc* desc_of<::PortableServer::IdAssignmentPolicyValue> =
    &::PortableServer::_tc_IdAssignmentPolicyValue;
template <>
inline constexpr const TypeDesc* desc_of<::PortableServer::ImplicitActivationPolicyValue> =
    &::PortableServer::_tc_ImplicitActivationPolicyValue;
template <>
inline constexpr const TypeDesc* desc_of<::PortableServer::ServantRetentionPolicyValue> =
    &::PortableServer::_tc_ServantRetentionPolicyValue;
template <>
inline constexpr const TypeDesc* desc_of<::PortableServer::RequestProcessingPolicyValue> =
    &::PortableServer::_tc_RequestProcessingPolicyValue;

}  // namespace corelane::any
