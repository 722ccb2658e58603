// Value types under their standard names, for generated code and programs. IDL to C++11, 6.18.
//
//   auto node = CORBA::make_reference<IDL::traits<Demo::Node>::obv_type>(1, nullptr);
//   orb->register_value_factory(factory->_obv_repository_id(), factory);
//   auto leaf = IDL::traits<Demo::Leaf>::narrow(node);           null for a value of another type
//   any <<= node;                                                with the TypeCode of the value's own type
//   if (any >>= leaf)                                            also true if the value is of a derived type
#pragma once

#include "orb/base/language.h"

#include <concepts>
#include <memory>
#include <utility>

#include "orb/base/minor.h"
#include "orb/corba/any.h"
#include "orb/corba/object.h"
#include "orb/core/types/value.h"

namespace CORBA {

using ValueBase = ::corelane::core::ValueBase;
using ValueFactoryBase = ::corelane::core::ValueFactoryBase;
using ValueFactory = ::corelane::core::Handle<ValueFactoryBase>;
template <typename T>
using valuetype_reference = ::corelane::core::Handle<T>;
template <typename T>
using weak_valuetype_reference = ::corelane::core::WeakHandle<T>;
// Works for a value type that is only declared, too.
template <typename T>
using valuetype_traits = ::corelane::core::ValueTraits<T>;

template <typename T>
concept ValueOrFactory =
    std::derived_from<T, ::corelane::any::Value> || std::derived_from<T, ::corelane::any::ValueFactory>;

// Makes a value, a value box or a factory.
template <ValueOrFactory T, typename... Arguments>
valuetype_reference<T> make_reference(Arguments&&... arguments) {
  return valuetype_reference<T>(std::make_shared<T>(std::forward<Arguments>(arguments)...));
}

// ValueBox is the base of generated value boxes.
template <typename T>
class ValueBox : public ValueBase {
 public:
  using _boxed_type = T;

  // The parameter has a name that IDL cannot declare. Another name could hide a declared one (-Wshadow) where this is
  // instantiated.
  void _value(const T& _given) { value_ = _given; }
  void _value(T&& _given) { value_ = std::move(_given); }
  const T& _value() const { return value_; }
  T& _value() { return value_; }

  void _encode_state(::corelane::cdr::Writer& writer) const override { encode(writer, value_); }
  bool _decode_state(::corelane::cdr::Reader& reader) override { return decode(reader, value_); }
  void _let_go() override { value_ = T{}; }

 protected:
  ValueBox() = default;
  explicit ValueBox(T _given) : value_(std::move(_given)) {}

 private:
  T value_{};
};

// Value types in an Any: values of all types are held as ValueBase.
template <::corelane::core::ValueType T>
void operator<<=(Any& any, valuetype_reference<T> value) {
  const ::corelane::any::TypeDesc& type = value ? value->_type_desc() : T::_type();
  any.insert(valuetype_reference<ValueBase>(std::move(value)), type);
}
template <::corelane::core::ValueType T>
bool operator>>=(const Any& any, valuetype_reference<T>& value) {
  valuetype_reference<ValueBase> held;
  const auto fits = [](const ::corelane::any::Value& found) { return dynamic_cast<const T*>(&found) != nullptr; };
  if (!::corelane::core::extract_value(any, ::corelane::core::declared_value<T>(), fits, held)) return false;
  value = valuetype_reference<T>(std::dynamic_pointer_cast<T>(held.shared()));
  return true;
}

}  // namespace CORBA

namespace IDL {

template <>
struct traits<::CORBA::ValueBase> : ::corelane::core::ValueTraits<::CORBA::ValueBase> {};
// The traits of a program's own class of a value.
template <std::derived_from<::CORBA::ValueBase> T>
struct traits<T> : ::corelane::core::ValueTraits<T> {};
// The traits of factories, which cannot leave their process.
template <std::derived_from<::CORBA::ValueFactoryBase> T>
struct traits<T> : ::corelane::core::HandleTraits<T> {
  using is_local = std::true_type;
};

}  // namespace IDL

namespace corelane::any {

template <>
inline constexpr const TypeDesc* desc_of<::CORBA::valuetype_reference<::CORBA::ValueBase>> = &basic::value_base;

}  // namespace corelane::any
