// Value types: CORBA::ValueBase and CORBA::ValueFactoryBase, references to values on the wire, and what generated
// classes share. CORBA 3.3 part 1, 5; IDL to C++11, 6.18. References to values are Handles, as references to objects
// are.
//
// Threads: the program synchronizes access to a value.
//
// The folder orb/core/types has the base classes of value types and abstract interfaces.
#pragma once

#include <concepts>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "orb/any/any.h"
#include "orb/any/value.h"
#include "orb/any/value_print.h"
#include "orb/any/value_read.h"
#include "orb/any/value_write.h"
#include "orb/core/handle.h"

namespace corelane::core {

class ValueBase : public any::Value {
 public:
  using _ref_type = Handle<ValueBase>;
  static const any::TypeDesc& _type() noexcept { return any::basic::value_base; }

  // Returns a copy of the value and of all values that it refers to. Raises NO_IMPLEMENT if neither the generated class
  // nor a registered factory can make one of them.
  virtual Handle<ValueBase> _copy_value() const;

 protected:
  ValueBase() = default;
  ValueBase(const ValueBase&) = default;
};

class ValueFactoryBase : public any::ValueFactory {
 public:
  using _ref_type = Handle<ValueFactoryBase>;

  std::string _obv_repository_id() const { return std::string(_type_desc().id); }
  std::shared_ptr<any::Value> _make() final { return create_for_unmarshal().shared(); }

 private:
  // Returns an empty value. Its members are then set from the bytes that arrive.
  virtual Handle<ValueBase> create_for_unmarshal() = 0;
};

template <typename T>
concept ValueType = std::derived_from<T, any::Value>;

// Returns the type of T for decoding. Value boxes need no factory.
template <typename T>
any::DeclaredValue declared_value() {
  if constexpr (requires { typename T::_boxed_type; })
    return {T::_type(), []() -> std::shared_ptr<any::Value> { return std::make_shared<T>(); }};
  else
    return {T::_type()};
}

// For generated code. It uses no concept, because a compiler may cache the concept's result from before T was defined.
template <typename T>
bool decode_value_as(cdr::Reader& reader, Handle<T>& out) {
  std::shared_ptr<any::Value> value;
  if (!any::decode_value(reader, declared_value<T>(), value)) return false;
  out = Handle<T>(std::dynamic_pointer_cast<T>(value));
  return out || !value || reader.fail(minor::wrong_value_type);
}

template <ValueType T>
void encode(cdr::Writer& writer, const Handle<T>& value) {
  any::encode_value(writer, value.shared());
}
template <ValueType T>
bool decode(cdr::Reader& reader, Handle<T>& out) {
  return decode_value_as(reader, out);
}

template <ValueType T>
std::ostream& operator<<(std::ostream& out, const Handle<T>& value) {
  any::print(out, value.shared());
  return out;
}

// Extracts the value that the Any holds. Returns false if it holds no value, if the value cannot be made, or if `fits`
// refuses it.
bool extract_value(const any::Any& any, const any::DeclaredValue& wanted, bool (*fits)(const any::Value& value),
                   Handle<ValueBase>& value);

// ValueCopy copies the values of collocated calls, which are passed by value as over the wire. Raises MARSHAL as that
// would, but COMPLETED_MAYBE: values are copied before the operation and after it.
class ValueCopy {
 public:
  ValueCopy();
  ~ValueCopy();
  cdr::Writer& writer() noexcept { return writer_; }
  cdr::Reader& reader();  // reads what was written
  [[noreturn]] void fail();

 private:
  [[noreturn]] static void refuse(const Error& error);

  cdr::Writer writer_;
  cdr::Reader reader_;
  std::unique_ptr<cdr::Environment> environment_;
};
template <typename T>
T copied(const T& value) {
  ValueCopy copy;
  encode(copy.writer(), value);
  T out{};
  if (!decode(copy.reader(), out)) copy.fail();
  return out;
}

// ValueTraits are the members of IDL::traits<T> for a value type.
template <typename T>
struct ValueTraits : HandleTraits<T> {
  using typename HandleTraits<T>::ref_type;

  // Returns null for a value of another type.
  template <typename U>
  static ref_type narrow(const Handle<U>& value) {
    return ref_type(std::dynamic_pointer_cast<T>(value.shared()));
  }
  // Makes a value of T, or of a class derived from it.
  template <std::derived_from<T> Class = T, typename... Arguments>
  static ref_type make_reference(Arguments&&... arguments) {
    return ref_type(std::make_shared<Class>(std::forward<Arguments>(arguments)...));
  }
};

// The functions below are for generated code.

template <typename... T>
void encode_members(cdr::Writer& writer, const T&... members) {
  (encode(writer, members), ...);
}
template <typename... T>
bool decode_members(cdr::Reader& reader, T&... members) {
  return (decode(reader, members) && ...);
}
template <typename... T>
void let_go(T&... members) {
  ((members = T{}), ...);
}
// Returns a new value, or null if the value's class is derived from the generated one.
template <typename T>
std::shared_ptr<any::Value> fresh(const T& value) {
  return typeid(value) == typeid(T) ? std::make_shared<T>() : nullptr;
}

}  // namespace corelane::core
