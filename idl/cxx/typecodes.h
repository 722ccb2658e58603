// TypeCodes: the constants _tc_Name, and how types of C++ lead to them.
//
// Threads: none.
#pragma once

#include <string>
#include <vector>

#include "idl/cxx/spelling.h"
#include "idl/cxx/text.h"

namespace corelane::idl::cxx {

// Whether the definition makes or holds something that never leaves its process, so that it has neither codec nor
// TypeCode.
bool is_local_definition(const Spelling& spelling, DefId id);

// "_tc_Mode", for a type of an interface "Controller::_tc_Mode".
std::string type_code_name(const Spelling& spelling, DefId id);

// In the header, in the scope of the type; nothing for what has no TypeCode.
void declare_type_code(const Spelling& spelling, DefId id, Text& out);

// In the header, after everything: the TypeCodes of C++ types, for CORBA::Any.
void write_type_code_table(const Spelling& spelling, Text& out);

// In the source: the constants, with the parts that have no name.
class TypeCodes {
 public:
  TypeCodes(const Spelling& spelling, Text& out) : spelling_(spelling), out_(out) {}
  // The definition's constant and those of the types inside it.
  void define(DefId id);

 private:
  // An expression of type const TypeDesc*; writes what it needs first.
  std::string pointer_to(TypeId type);
  std::string pointer_to(const Member& member);
  // The initialisers of a TypeDesc, one by one.
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
  // For the names of the parts, which several files of one translation unit may write in one module.
  std::string owner_;  // what is being defined
  int count_ = 0;
};

}  // namespace corelane::idl::cxx
