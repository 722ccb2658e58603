// Types made at run time: what CORBA::ORB::create_..._tc() calls. CORBA 3.3 part 1, 8.11.3.
//
// Each result keeps the types that it is made of. A recursive type is made with recursive_type(id) in the place where
// it holds itself; the type of that id which is made around it closes the circle. Threads: any.
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

// What a TypeDesc holds, as values; see there for what belongs to which kind.
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
// Whether a recursive_type() in it still waits for its enclosing type. Such a type is good for nothing else.
bool is_complete(const TypeDesc& type);

// The same without names; ids stay.
TypeCode compact(const TypeCode& type);

}  // namespace corelane::any
