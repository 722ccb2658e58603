// CORBA::Object, references, and IDL::traits.
#pragma once

#include "orb/core/object.h"

namespace CORBA {

using Object = ::corelane::core::Object;
template <typename T>
using object_reference = ::corelane::core::ObjectReference<T>;
template <typename T>
using weak_reference = ::corelane::core::WeakHandle<T>;

}  // namespace CORBA

namespace IDL {

// Generated code specialises it for each type; see corelane::core::InterfaceTraits.
template <typename T>
struct traits;

template <>
struct traits<::CORBA::Object> : ::corelane::core::InterfaceTraits<::CORBA::Object> {};

}  // namespace IDL
