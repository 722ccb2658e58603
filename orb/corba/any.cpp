#include "orb/corba/any.h"

#include <ostream>

#include "orb/any/walk.h"
#include "orb/base/minor.h"
#include "orb/core/orb.h"
#include "orb/core/reference.h"

namespace CORBA {

void Any::type(const object_reference<TypeCode>& type) {
  if (retype(type->_code())) return;
  using ::corelane::Completion, ::corelane::Error, ::corelane::ErrorKind;
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

std::ostream& operator<<(std::ostream& out, const Any& any) {
  ::corelane::any::print(out, any);
  return out;
}

}  // namespace CORBA
