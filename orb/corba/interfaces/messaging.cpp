#include "orb/corba/messaging.h"

#include <mutex>
#include <span>
#include <string>

#include "orb/base/minor.h"
#include "orb/corba/orb_types.h"
#include "orb/core/exception.h"
#include "orb/giop/headers.h"

namespace Messaging {
namespace {

using ::corelane::ByteOrder;
using ::corelane::Completion;
using ::corelane::Error;
using ::corelane::ErrorKind;
namespace any = ::corelane::any;
namespace cdr = ::corelane::cdr;
namespace core = ::corelane::core;
namespace minor = ::corelane::minor;

constexpr any::MemberDesc members[] = {{"is_system_exception", &any::basic::boolean},
                                       {"byte_order", &any::basic::boolean},
                                       {"marshaled_exception", &::CORBA::_tc_OctetSeq}};
constexpr any::TypeDesc type{.kind = any::Kind::value,
                             .id = "IDL:omg.org/Messaging/ExceptionHolder:1.0",
                             .name = "ExceptionHolder",
                             .members = members};

class Factory final : public any::ValueFactory {
 public:
  std::shared_ptr<any::Value> _make() override { return std::make_shared<ExceptionHolder>(); }
  const any::TypeDesc& _type_desc() const noexcept override { return type; }
};

// Encodes the exception as in a reply. Returns true for a system exception. An exception that is not a CORBA exception
// becomes UNKNOWN.
bool marshal(cdr::Writer& writer, const std::exception_ptr& exception) {
  Error error{ErrorKind::unknown, Completion::maybe, minor::undeclared_exception};
  try {
    std::rethrow_exception(exception);
  } catch (const core::UserException& user) {
    user._marshal(writer);
    return false;
  } catch (const core::SystemException& system) {
    error = system.error();
  } catch (...) {
  }
  ::corelane::giop::encode_system_exception(writer, error);
  return true;
}

}  // namespace

const any::TypeDesc& ExceptionHolder::_type() noexcept { return type; }

void ExceptionHolder::raise_exception() {
  if (exception_) std::rethrow_exception(exception_);
  const auto order = is_little_endian_ ? ByteOrder::little : ByteOrder::big;
  cdr::Reader reader(std::as_bytes(std::span(marshaled_)), order);
  if (is_system_) {
    const auto error = ::corelane::giop::decode_system_exception(reader);
    core::raise(error ? *error : error.error());
  }
  std::string id;
  if (!decode(reader, id)) core::raise(reader.error());
  core::raise(Error{ErrorKind::unknown, Completion::yes, minor::undeclared_exception}, id);
}

void ExceptionHolder::_encode_state(cdr::Writer& writer) const {
  if (!exception_) {
    encode(writer, is_system_);
    encode(writer, is_little_endian_);
    return encode(writer, marshaled_);
  }
  cdr::Writer body;
  body.set_code_sets(writer.code_sets());
  encode(writer, marshal(body, exception_));
  encode(writer, ::corelane::native_order == ByteOrder::little);
  const auto bytes = body.bytes();
  const auto* const first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  encode(writer, std::vector<std::uint8_t>(first, first + bytes.size()));
}

bool ExceptionHolder::_decode_state(cdr::Reader& reader) {
  return decode(reader, is_system_) && decode(reader, is_little_endian_) && decode(reader, marshaled_);
}

std::shared_ptr<any::Value> ExceptionHolder::_fresh() const { return std::make_shared<ExceptionHolder>(exception_); }

}  // namespace Messaging

namespace POA_Messaging {

// Registers the factory of ExceptionHolder, because handlers receive ExceptionHolders.
ReplyHandler::ReplyHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    const auto factory = std::make_shared<::Messaging::Factory>();
    ::corelane::any::register_factory(::Messaging::type.id, factory);
  });
}

const ::corelane::core::Skeleton& ReplyHandler::_skeleton() const noexcept {
  static constexpr const char* ids[] = {::Messaging::ReplyHandler::_id, "IDL:omg.org/CORBA/Object:1.0"};
  static constexpr ::corelane::core::Skeleton skeleton{.ids = ids, .upcalls = {}};
  return skeleton;
}

}  // namespace POA_Messaging
