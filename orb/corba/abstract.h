// Abstract interfaces under their standard names. IDL to C++11, 6.19.
//
//   CORBA::abstractbase_reference<Demo::Described> one = thing;      an object or a value that has the interface
//   one->describe();
//   if (auto value = one->_to_value()) ...                           nil for an object; _to_object() is nil for a value
#pragma once

#include "orb/base/language.h"

#include "orb/corba/value.h"
#include "orb/core/types/abstract_base.h"

namespace CORBA {

using AbstractBase = ::corelane::core::AbstractBase;
template <typename T>
using abstractbase_reference = ::corelane::core::Handle<T>;

inline constexpr TypeCodeConstant _tc_AbstractBase{::corelane::any::basic::abstract_base};

}  // namespace CORBA

namespace IDL {

template <>
struct traits<::CORBA::AbstractBase> : ::corelane::core::AbstractTraits<::CORBA::AbstractBase> {};

}  // namespace IDL

namespace corelane::any {

template <>
inline constexpr const TypeDesc* desc_of<::CORBA::abstractbase_reference<::CORBA::AbstractBase>> =
    &basic::abstract_base;

}  // namespace corelane::any
