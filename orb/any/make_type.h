// Makes types at run time, for CORBA::ORB::create_..._tc(). CORBA 3.3 part 1, 8.11.3.
//
// Each result keeps its parts alive. To make a recursive type, use recursive_type(id) where the type contains itself.
// The type with this id that is made around it closes the cycle. Threads: any.
#pragma once

#include <string>
#include <vector>

#include "orb/any/type.h"

namespace corelane::any {

struct MemberSpec {
  std::string name;
  TypeCode type{};
  std::int64_t label = 0;
  std::int16_t visibility = 0;
};

// The content of a TypeDesc as values; TypeDesc says which fields belong to which kind.
struct TypeSpec {
  Kind kind = Kind::null;
  std::string id{};
  std::string name{};
  std::vector<MemberSpec> members{};
  TypeCode content{};
  bool has_content = false;
  std::uint32_t length = 0;
  std::uint16_t digits = 0;
  std::int16_t scale = 0;
  std::int32_t default_index = -1;
  std::int16_t modifier = 0;
};

TypeCode make_type(const TypeSpec& spec);
TypeCode recursive_type(const std::string& id);
// Returns false if the type contains a recursive_type() that still waits for its enclosing type. Such a type can only
// be used to make that enclosing type.
bool is_complete(const TypeDesc& type);

// Returns the same type without names; ids stay.
TypeCode compact(const TypeCode& type);

}  // namespace corelane::any
