// CORBA::Any holds a value of any IDL type. IDL to C++11, 6.16.
//
//   any <<= value;        copies the value, or moves an rvalue; for any IDL type
//   if (any >>= value)    false if the Any holds another type; then `value` is unchanged
//   any.type()            _tc_null if empty
//
// Threads: a value type. Copies share their content, which never changes.
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
  // Changes the type to an equivalent one, such as an alias. BAD_TYPECODE if it is not equivalent, INV_OBJREF for nil.
  void type(const object_reference<TypeCode>& type);
  void swap(Any& other) noexcept { std::swap(*this, other); }
};

inline void swap(Any& a, Any& b) noexcept { a.swap(b); }

// The types that an Any can hold. Exceptions have their own operators.
template <typename T>
concept AnyException = std::derived_from<T, UserException> && ::corelane::any::Described<T>;
template <typename T>
concept AnyValue = ::corelane::any::Described<T> && !AnyException<T>;

// An exception in an Any: its repository id comes before its members.
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

// Inserts an exception whose class is not known here. BAD_PARAM if it has no TypeCode.
void operator<<=(Any& any, const UserException& exception);
// Holds such an exception. To extract it, the Any throws it and catches it by its class.
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

// System exceptions consist of the kind, the minor code and the completion status.
void operator<<=(Any& any, const SystemException& exception);
// Extracts a system exception. `error` names the wanted kind and receives the rest. Returns false if the Any holds
// another type.
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
// Extracts a reference of any interface as an Object.
bool operator>>=(const Any& any, object_reference<Object>& object);

// References to local interfaces cannot leave their process: sending an Any with one raises MARSHAL.
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
