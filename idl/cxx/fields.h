// Fields: the members of a structure, exception or value as the generated class has them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "idl/cxx/spelling.h"
#include "idl/cxx/text.h"

namespace corelane::idl::cxx {

struct Field {
  std::string name;       // of its accessors
  std::string data;       // of the data member
  std::string access;     // from outside: "x()", or "x" of plain members
  std::string parameter;  // of the constructor
  std::string type;
  std::string initial;  // what follows the data member: "{}", "{5}" or nothing
  bool scalar = false;
  bool movable = true;  // false: moving it would only copy it
  TypeId idl_type = TypeId::none;
};

// Of the definition that has `members`, which decides what names are taken.
std::vector<Field> fields_of(const Spelling& spelling, DefId owner, const std::vector<Member>& members);
// `id` is a Structure or an Exception; its own fields.
std::vector<Field> fields_of(const Spelling& spelling, DefId id);
// Those of all bases first.
std::vector<Field> all_fields_of(const Spelling& spelling, DefId id);

// The constructor's parameters: all members by value, in order.
std::vector<std::string> constructor_parameters(const std::vector<Field>& fields);
// "x" or "std::move(text)"; of the constructor's parameter, or of what is called so.
std::string moved(const Field& field);
std::string moved(const Field& field, const std::string& name);
// Its initialisers.
std::vector<std::string> initialisers(const std::vector<Field>& fields);

// Setter, getter and modifier: with their bodies, declared, or defined as members of `owner`.
void write_accessors(const Field& field, Text& out);
void declare_accessors(const Field& field, Text& out);
void define_accessors(const std::string& owner, const Field& field, Text& out);

// Whether the IDL asks for plain public members.
bool has_public_members(const Definition& definition);

}  // namespace corelane::idl::cxx
