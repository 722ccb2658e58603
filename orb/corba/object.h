// Defines CORBA::Object, references, and IDL::traits.
#pragma once

#include "orb/base/language.h"

#include <concepts>
#include <iosfwd>
#include <memory>
#include <utility>

#include "orb/any/desc_of.h"
#include "orb/base/shared_self.h"
#include "orb/corba/traits.h"
#include "orb/core/object.h"

namespace CORBA {

using Object = ::corelane::core::Object;

// LocalObject is the base of local objects, which have no reference on the wire.
class LocalObject : public virtual Object, public virtual ::corelane::SharedSelf {
 protected:
  LocalObject() = default;
};

template <typename T>
using object_reference = ::corelane::core::ObjectReference<T>;
template <typename T>
using weak_reference = ::corelane::core::WeakHandle<T>;

// Works for an interface that is only declared, before IDL::traits is specialized for it.
template <typename T>
using object_traits = ::corelane::core::InterfaceTraits<T>;

}  // namespace CORBA

namespace IDL {

template <>
struct traits<::CORBA::Object> : ::corelane::core::InterfaceTraits<::CORBA::Object> {};

template <>
struct traits<::CORBA::LocalObject> : ::corelane::core::InterfaceTraits<::CORBA::LocalObject> {
  using is_local = std::true_type;
};

// The traits of a local interface.
template <typename T>
struct local_traits : ::corelane::core::InterfaceTraits<T> {
  using base_type = T;
  using is_local = std::true_type;

  // Makes a reference to a new object of a derived class.
  template <std::derived_from<T> Class, typename... Arguments>
  static ::CORBA::object_reference<T> make_reference(Arguments&&... arguments) {
    return ::CORBA::object_reference<T>(std::make_shared<Class>(std::forward<Arguments>(arguments)...));
  }
};

}  // namespace IDL

namespace corelane::any {

template <>
inline constexpr const TypeDesc* desc_of<::CORBA::object_reference<::CORBA::Object>> = &basic::object;

}  // namespace corelane::any
