// The parts of TypeCodes that CORBA::ORB::create_..._tc() takes. CORBA 3.3 part 1, 14.7; IDL to C++11, 6.24. `type_def`
// would be an object of an interface repository; it is nil.
//
// Threads: values.
#pragma once

#include "orb/base/language.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "orb/corba/any.h"
#include "orb/corba/object.h"
#include "orb/corba/typecode.h"

namespace CORBA {

using IDLType = Object;
using Visibility = std::int16_t;
using ValueModifier = std::int16_t;

inline constexpr Visibility PRIVATE_MEMBER = 0;
inline constexpr Visibility PUBLIC_MEMBER = 1;
inline constexpr ValueModifier VM_NONE = 0;
inline constexpr ValueModifier VM_CUSTOM = 1;
inline constexpr ValueModifier VM_ABSTRACT = 2;
inline constexpr ValueModifier VM_TRUNCATABLE = 3;

struct StructMember {
  StructMember() = default;
  StructMember(std::string member_name, TypeCode::_ref_type member_type, object_reference<IDLType> definition)
      : name(std::move(member_name)), type(std::move(member_type)), type_def(std::move(definition)) {}

  std::string name;
  TypeCode::_ref_type type;
  object_reference<IDLType> type_def;
};

struct UnionMember {
  UnionMember() = default;
  UnionMember(std::string member_name, Any member_label, TypeCode::_ref_type member_type,
              object_reference<IDLType> definition)
      : name(std::move(member_name)),
        label(std::move(member_label)),
        type(std::move(member_type)),
        type_def(std::move(definition)) {}

  std::string name;
  Any label;
  TypeCode::_ref_type type;
  object_reference<IDLType> type_def;
};

// A member of a value type. A TypeCode does not store `id`, `defined_in` and `version`.
struct ValueMember {
  ValueMember() = default;
  ValueMember(std::string member_name, std::string member_id, std::string scope, std::string member_version,
              TypeCode::_ref_type member_type, object_reference<IDLType> definition, Visibility visibility)
      : name(std::move(member_name)),
        id(std::move(member_id)),
        defined_in(std::move(scope)),
        version(std::move(member_version)),
        type(std::move(member_type)),
        type_def(std::move(definition)),
        access(visibility) {}

  std::string name;
  std::string id;
  std::string defined_in;
  std::string version;
  TypeCode::_ref_type type;
  object_reference<IDLType> type_def;
  Visibility access = PRIVATE_MEMBER;
};

using StructMemberSeq = std::vector<StructMember>;
using UnionMemberSeq = std::vector<UnionMember>;
using ValueMemberSeq = std::vector<ValueMember>;
using EnumMemberSeq = std::vector<std::string>;

}  // namespace CORBA
