// CORBA::Any. IDL to C++11, 6.16.
//
//   any <<= value;        copies, or moves an rvalue in; any type that IDL knows
//   if (any >>= value)    false and `value` as before when another type is in it
//   any.type()            _tc_null when empty
//
// Threads: a value type; copies share what they hold, which never changes.
#pragma once

#include "orb/base/language.h"

#include <concepts>
#include <exception>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include "orb/any/any.h"
#include "orb/base/minor.h"
#include "orb/corba/exception.h"
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

// Types that an Any can hold. Exceptions have operators of their own.
template <typename T>
concept AnyException = std::derived_from<T, UserException> && ::corelane::any::Described<T>;
template <typename T>
concept AnyValue = ::corelane::any::Described<T> && !AnyException<T>;

// In an Any an exception has its repository id before its members.
template <AnyException T>
struct ExceptionInAny {
  T exception{};
};
template <typename T>
void encode(::corelane::cdr::Writer& writer, const ExceptionInAny<T>& value) {
  writer.write_string(T::_id);
  encode(writer, value.exception);
}
template <typename T>
bool decode(::corelane::cdr::Reader& reader, ExceptionInAny<T>& value) {
  std::string_view id;
  if (!reader.read_string(id)) return false;
  return id == T::_id ? decode(reader, value.exception) : reader.fail(::corelane::minor::bad_typecode);
}

template <AnyValue T>
void operator<<=(Any& any, T value) {
  any.insert(std::move(value), *::corelane::any::desc_of<T>);
}
inline void operator<<=(Any& any, const char* text) { any <<= std::string(text); }
inline void operator<<=(Any& any, const wchar_t* text) { any <<= std::wstring(text); }
inline void operator<<=(Any& any, const TypeCodeConstant& type) { any <<= object_reference<TypeCode>(type); }

template <AnyException T>
void operator<<=(Any& any, T exception) {
  any.insert(ExceptionInAny<T>{std::move(exception)}, *::corelane::any::desc_of<T>);
}

// One whose class only the exception knows. BAD_PARAM where that has no TypeCode.
void operator<<=(Any& any, const UserException& exception);
// It was put in so; thrown, it is found by its class.
struct ThrownInAny {
  std::exception_ptr exception{};
};
void encode(::corelane::cdr::Writer& writer, const ThrownInAny& value);
inline bool decode(::corelane::cdr::Reader&, ThrownInAny&) { return false; }
template <typename T>
bool caught(const ThrownInAny& thrown, T& exception) {
  try {
    std::rethrow_exception(thrown.exception);
  } catch (const T& found) {
    return exception = found, true;
  } catch (...) {
    return false;
  }
}

template <AnyException T>
bool operator>>=(const Any& any, T& exception) {
  ExceptionInAny<T> out;
  if (any.extract(out, *::corelane::any::desc_of<T>)) return exception = std::move(out.exception), true;
  ThrownInAny thrown;
  return any.extract(thrown, *::corelane::any::desc_of<T>) && caught(thrown, exception);
}

// System exceptions: the kind, the minor code and whether it was completed.
void operator<<=(Any& any, const SystemException& exception);
// `error` says the kind that is wanted; the rest comes from the Any. False where that holds another type.
bool extract_system_exception(const Any& any, ::corelane::Error& error);
template <::corelane::ErrorKind kind>
bool operator>>=(const Any& any, ::corelane::core::SystemExceptionOf<kind>& exception) {
  ::corelane::Error error{kind, ::corelane::Completion::no, 0};
  if (!extract_system_exception(any, error)) return false;
  exception = ::corelane::core::SystemExceptionOf<kind>(error, nullptr);
  return true;
}

template <AnyValue T>
bool operator>>=(const Any& any, T& value) {
  return any.extract(value, *::corelane::any::desc_of<T>);
}
// Any reference comes out as an Object.
bool operator>>=(const Any& any, object_reference<Object>& object);

// References to local interfaces stay in their process: an Any with one raises MARSHAL when it is sent.
template <typename T>
concept LocalInterface = std::derived_from<T, LocalObject> && !::corelane::any::Described<object_reference<T>>;
template <typename T>
struct LocalInAny {
  static constexpr ::corelane::any::TypeDesc desc{.kind = ::corelane::any::Kind::local_interface, .id = T::_id};
  object_reference<T> reference{};
};
template <typename T>
void encode(::corelane::cdr::Writer& writer, const LocalInAny<T>& value) {
  ::corelane::core::encode(writer, value.reference);
}
template <typename T>
bool decode(::corelane::cdr::Reader& reader, LocalInAny<T>&) {
  return reader.fail(::corelane::minor::bad_typecode);
}

template <LocalInterface T>
void operator<<=(Any& any, object_reference<T> reference) {
  any.insert(LocalInAny<T>{std::move(reference)}, LocalInAny<T>::desc);
}
template <LocalInterface T>
bool operator>>=(const Any& any, object_reference<T>& reference) {
  LocalInAny<T> held;
  if (!any.extract(held, LocalInAny<T>::desc)) return false;
  reference = std::move(held.reference);
  return true;
}

std::ostream& operator<<(std::ostream& out, const Any& any);

}  // namespace CORBA

namespace corelane::any {

template <>
inline constexpr const TypeDesc* desc_of<::CORBA::Any> = &basic::any;

}  // namespace corelane::any
