// TypeCodeFactory is the part of CORBA::ORB that makes TypeCodes at run time. CORBA 3.3 part 1, 8.11.3.
//
// It is a base of the ORB's class, because programs call its functions there, but it uses nothing of an ORB. Its types
// are those of orb/corba, which defines the functions. Threads: any.
//
// Errors of all functions:
// - BAD_PARAM with OMG minor code 15 (no IDL name), 16 (no repository id), 17 (a name twice), 18 (a label twice), 19 (a
//   label of another type), 20 (no type for a discriminator)
// - BAD_TYPECODE with OMG minor code 2 (a type that cannot be there)
// - INV_OBJREF for a nil TypeCode
// A name may be empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orb/core/handle.h"

namespace CORBA {

class TypeCode;
struct StructMember;
struct UnionMember;
struct ValueMember;

}  // namespace CORBA

namespace corelane::core {

class TypeCodeFactory {
 public:
  using TypeRef = Handle<::CORBA::TypeCode>;

  TypeRef create_struct_tc(const std::string& id, const std::string& name,
                           const std::vector<::CORBA::StructMember>& members) const;
  // A member whose label is the octet 0 is the default member.
  TypeRef create_union_tc(const std::string& id, const std::string& name, const TypeRef& discriminator,
                          const std::vector<::CORBA::UnionMember>& members) const;
  TypeRef create_enum_tc(const std::string& id, const std::string& name, const std::vector<std::string>& members) const;
  TypeRef create_alias_tc(const std::string& id, const std::string& name, const TypeRef& original) const;
  TypeRef create_exception_tc(const std::string& id, const std::string& name,
                              const std::vector<::CORBA::StructMember>& members) const;
  TypeRef create_interface_tc(const std::string& id, const std::string& name) const;
  TypeRef create_abstract_interface_tc(const std::string& id, const std::string& name) const;
  TypeRef create_local_interface_tc(const std::string& id, const std::string& name) const;
  TypeRef create_native_tc(const std::string& id, const std::string& name) const;
  // Bound 0: no bound.
  TypeRef create_string_tc(std::uint32_t bound) const;
  TypeRef create_wstring_tc(std::uint32_t bound) const;
  TypeRef create_sequence_tc(std::uint32_t bound, const TypeRef& element) const;
  TypeRef create_array_tc(std::uint32_t length, const TypeRef& element) const;
  // BAD_PARAM unless 1 <= digits <= 31 and 0 <= scale <= digits.
  TypeRef create_fixed_tc(std::uint16_t digits, std::int16_t scale) const;
  // `concrete_base` nil: no concrete base.
  TypeRef create_value_tc(const std::string& id, const std::string& name, std::int16_t modifier,
                          const TypeRef& concrete_base, const std::vector<::CORBA::ValueMember>& members) const;
  TypeRef create_value_box_tc(const std::string& id, const std::string& name, const TypeRef& boxed) const;
  // Returns a placeholder for the type with that id, for use inside its own definition.
  TypeRef create_recursive_tc(const std::string& id) const;

 protected:
  TypeCodeFactory() = default;
  ~TypeCodeFactory() = default;
};

}  // namespace corelane::core
