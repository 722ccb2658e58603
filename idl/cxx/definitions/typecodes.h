// Writes the TypeCode constants _tc_Name, and the table that finds them by C++ type.
//
// Threads: none.
#pragma once

#include <string>
#include <vector>

#include "idl/cxx/spelling/spelling.h"
#include "idl/cxx/spelling/text.h"

namespace corelane::idl::cxx {

// Returns whether the definition makes or contains something that never leaves its process. Then it has neither codec
// nor TypeCode.
bool is_local_definition(const Spelling& spelling, DefId id);

// Returns "_tc_Mode"; for a type in an interface, "Controller::_tc_Mode".
std::string type_code_name(const Spelling& spelling, DefId id);

// Declares the constant in the header, in the scope of the type; does nothing if the definition has no TypeCode.
void declare_type_code(const Spelling& spelling, DefId id, Text& out);

// Writes the table of the TypeCodes of C++ types, for CORBA::Any. Belongs at the end of the header.
void write_type_code_table(const Spelling& spelling, Text& out);

// TypeCodes writes the constants into the source, together with their nameless parts.
class TypeCodes {
 public:
  TypeCodes(const Spelling& spelling, Text& out) : spelling_(spelling), out_(out) {}
  // Defines the constants of the definition and of the types inside it.
  void define(DefId id);

 private:
  // Returns an expression of type const TypeDesc*. First writes the parts that it needs.
  std::string pointer_to(TypeId type);
  std::string pointer_to(const Member& member);
  // The initializers of a TypeDesc.
  using Body = std::vector<std::string>;
  std::string part_name(std::string_view kind);
  std::string nameless(const Body& body);
  Body member_list(const std::vector<std::string>& members);
  Body members(const std::vector<Member>& members);
  Body body_of(const Definition& definition);
  Body map_body(const Type& type);
  Body structure(const std::vector<Member>& members, DefId base);
  Body union_body(const Union& u);
  Body value_body(const Valuetype& value);
  Body enumeration(const Enumeration& e);

  const Spelling& spelling_;
  Text& out_;
  // The names of the parts contain the owner's name, because several files of one translation unit may write parts in
  // one module.
  std::string owner_;  // the definition being written
  int count_ = 0;
};

}  // namespace corelane::idl::cxx
