#include "orb/corba/any.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "orb/any/walk.h"
#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/core/orb.h"

namespace CORBA {

using ::corelane::Completion, ::corelane::Error, ::corelane::ErrorKind;

void Any::type(const object_reference<TypeCode>& type) {
  if (retype(type->_code())) return;
  ::corelane::core::raise(Error{ErrorKind::bad_typecode, Completion::no, ::corelane::minor::bad_typecode});
}

bool operator>>=(const Any& any, object_reference<Object>& object) {
  if (::corelane::any::unaliased(*any.type_code()).kind != ::corelane::any::Kind::objref) return false;
  return any.with_bytes([&](::corelane::cdr::Reader& reader) {
    ::corelane::core::ReferenceEnvironment environment(::corelane::core::Orb::first_of_process());
    if (reader.environment() == nullptr) reader.set_environment(&environment);
    return decode(reader, object);
  });
}

void operator<<=(Any& any, const UserException& exception) {
  const ::corelane::any::TypeDesc* const type = exception._type_desc();
  if (type == nullptr)
    ::corelane::core::raise(Error{ErrorKind::bad_param, Completion::no, ::corelane::minor::bad_typecode},
                            std::string(exception._rep_id()) + " has no TypeCode, so no Any can hold it");
  try {
    exception._raise();
  } catch (...) {
    any.insert(ThrownInAny{std::current_exception()}, *type);
  }
}

namespace {

namespace types = ::corelane::any;

constexpr types::MemberDesc completions[] = {{"COMPLETED_YES"}, {"COMPLETED_NO"}, {"COMPLETED_MAYBE"}};
constexpr types::TypeDesc completion_status{.kind = types::Kind::enumeration,
                                            .id = "IDL:omg.org/CORBA/completion_status:1.0",
                                            .name = "completion_status",
                                            .members = completions};
constexpr types::MemberDesc system_members[] = {{"minor", &types::basic::ulong}, {"completed", &completion_status}};

const types::TypeDesc& type_of(ErrorKind kind) {
  static const auto all = [] {
    std::array<types::TypeDesc, ::corelane::error_kinds> made;
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = {.kind = types::Kind::exception,
                 .id = ::corelane::core::repository_id_of(static_cast<ErrorKind>(i)),
                 .name = name_of(static_cast<ErrorKind>(i)),
                 .members = system_members};
    return made;
  }();
  return all[static_cast<std::size_t>(kind)];
}

struct SystemInAny {
  Error error{};
};
void encode(::corelane::cdr::Writer& writer, const SystemInAny& value) {
  writer.write_string(::corelane::core::repository_id_of(value.error.kind));
  writer.write(value.error.minor);
  writer.write(static_cast<std::uint32_t>(value.error.completed));
}
bool decode(::corelane::cdr::Reader& reader, SystemInAny& value) {
  std::string_view id;
  std::uint32_t completed = 0;
  if (!reader.read_string(id) || !reader.read(value.error.minor) || !reader.read(completed)) return false;
  if (completed > static_cast<std::uint32_t>(Completion::maybe)) return false;
  value.error.completed = static_cast<Completion>(completed);
  return true;
}

}  // namespace

void operator<<=(Any& any, const SystemException& exception) {
  any.insert(SystemInAny{exception.error()}, type_of(exception.error().kind));
}

bool extract_system_exception(const Any& any, Error& error) {
  SystemInAny held{error};
  const bool is_other =
      any.type_code()->kind != types::Kind::exception || any.type_code()->id != type_of(error.kind).id;
  if (is_other || !any.extract(held, type_of(error.kind))) return false;
  error.minor = held.error.minor;
  error.completed = held.error.completed;
  return true;
}

void encode(::corelane::cdr::Writer& writer, const ThrownInAny& value) {
  try {
    std::rethrow_exception(value.exception);
  } catch (const UserException& exception) {
    exception._marshal(writer);
  }
}

std::ostream& operator<<(std::ostream& out, const Any& any) {
  ::corelane::any::print(out, any);
  return out;
}

}  // namespace CORBA
