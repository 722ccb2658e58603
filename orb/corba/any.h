// CORBA::Any. IDL to C++11, 6.16.
//
//   any <<= value;        copies, or moves an rvalue in; any type that IDL knows
//   if (any >>= value)    false and `value` as before when another type is in it
//   any.type()            _tc_null when empty
//
// Threads: a value type; copies share what they hold, which never changes.
#pragma once

#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>

#include "orb/any/any.h"
#include "orb/corba/typecode.h"

namespace CORBA {

class Any : public ::corelane::any::Any {
 public:
  using _ref_type = Any;

  object_reference<TypeCode> type() const { return TypeCode::make(type_code()); }
  // Another name of the same type, such as an alias. BAD_TYPECODE when it is not equivalent, INV_OBJREF for nil.
  void type(const object_reference<TypeCode>& type);
  void swap(Any& other) noexcept { std::swap(*this, other); }
};

inline void swap(Any& a, Any& b) noexcept { a.swap(b); }

// Types that an Any can hold.
template <typename T>
concept AnyValue = ::corelane::any::desc_of<T>
!= nullptr;

template <AnyValue T>
void operator<<=(Any& any, T value) {
  any.insert(std::move(value), *::corelane::any::desc_of<T>);
}
inline void operator<<=(Any& any, const char* text) { any <<= std::string(text); }
inline void operator<<=(Any& any, const wchar_t* text) { any <<= std::wstring(text); }
inline void operator<<=(Any& any, const TypeCodeConstant& type) { any <<= object_reference<TypeCode>(type); }

template <AnyValue T>
bool operator>>=(const Any& any, T& value) {
  return any.extract(value, *::corelane::any::desc_of<T>);
}
// Any reference comes out as an Object.
bool operator>>=(const Any& any, object_reference<Object>& object);

std::ostream& operator<<(std::ostream& out, const Any& any);

}  // namespace CORBA

namespace corelane::any {

template <>
inline constexpr const TypeDesc* desc_of<::CORBA::Any> = &basic::any;

}  // namespace corelane::any
