// Messaging has the types of asynchronous calls whose results go to a reply handler. CORBA 3.3 part 1, 22; IDL to
// C++11, 6.28.
//
// For an interface Foo, `corelane-idl --ami` makes the reply handler AMI_FooHandler and a stub with sendc_ functions;
// CORBA::amic_traits<Foo> names both. Threads: see orb/core/client/async_invocation.h; a holder belongs to its handler.
#pragma once

#include "orb/base/language.h"

#include <cstdint>
#include <exception>
#include <vector>

#include "orb/corba/object.h"
#include "orb/corba/servant.h"
#include "orb/corba/value.h"
#include "orb/core/client/async_invocation.h"

namespace Messaging {

// ExceptionHolder holds the exception that ended a call. Between processes it is sent only as bytes. There a user
// exception is raised as UNKNOWN, with its repository id as the detail.
class ExceptionHolder final : public ::CORBA::ValueBase {
 public:
  using _ref_type = ::CORBA::valuetype_reference<ExceptionHolder>;
  static const ::corelane::any::TypeDesc& _type() noexcept;

  ExceptionHolder() = default;
  explicit ExceptionHolder(std::exception_ptr exception) : exception_(std::move(exception)) {}

  [[noreturn]] void raise_exception();

  const ::corelane::any::TypeDesc& _type_desc() const noexcept override { return _type(); }
  void _encode_state(::corelane::cdr::Writer& writer) const override;
  bool _decode_state(::corelane::cdr::Reader& reader) override;
  std::shared_ptr<::corelane::any::Value> _fresh() const override;

 private:
  std::exception_ptr exception_;  // null: the members below hold a received exception
  bool is_system_ = false;
  bool is_little_endian_ = false;
  std::vector<std::uint8_t> marshaled_;
};

inline ExceptionHolder::_ref_type hold(const ::corelane::core::AsyncReply& reply) {
  return ::CORBA::make_reference<ExceptionHolder>(reply.exception());
}

// ReplyHandler is the base of all reply handlers.
class ReplyHandler : public virtual ::CORBA::Object {
 public:
  using _ref_type = ::CORBA::object_reference<ReplyHandler>;
  static constexpr const char* _id = "IDL:omg.org/Messaging/ReplyHandler:1.0";
  explicit ReplyHandler(const ::corelane::core::StubInit& init) : ::CORBA::Object(init) {}

 protected:
  ReplyHandler() = default;
};

inline constexpr ::CORBA::TypeCodeConstant _tc_ReplyHandler{
    {.kind = ::corelane::any::Kind::objref, .id = ReplyHandler::_id, .name = "ReplyHandler"}};

}  // namespace Messaging

namespace POA_Messaging {

class ReplyHandler : public virtual ::PortableServer::ServantBase {
 public:
  using _stub_type = ::Messaging::ReplyHandler;

  const ::corelane::core::Skeleton& _skeleton() const noexcept override;
  void* _self() noexcept override { return this; }

 protected:
  ReplyHandler();
};

}  // namespace POA_Messaging

namespace CORBA {

template <>
struct servant_traits<::Messaging::ReplyHandler> : ::corelane::poa::ServantTraits<::POA_Messaging::ReplyHandler> {};

// Names the asynchronous stub and the reply handler of an interface that was compiled with --ami.
template <typename T>
struct amic_traits;

}  // namespace CORBA

namespace IDL {

template <>
struct traits<::Messaging::ReplyHandler> : ::corelane::core::InterfaceTraits<::Messaging::ReplyHandler> {};

// The content of amic_traits.
template <typename Stub, typename Handler>
struct async_traits : ::corelane::core::InterfaceTraits<Stub> {
  using replyhandler_traits = traits<Handler>;
  using replyhandler_ref_type = typename replyhandler_traits::ref_type;
  using replyhandler_weak_ref_type = typename replyhandler_traits::weak_ref_type;
  using replyhandler_servant_traits = ::CORBA::servant_traits<Handler>;
  using replyhandler_base_type = typename replyhandler_servant_traits::base_type;
  using replyhandler_servant_ref_type = typename replyhandler_servant_traits::ref_type;
  using replyhandler_weak_servant_ref_type = typename replyhandler_servant_traits::weak_ref_type;
};

}  // namespace IDL
