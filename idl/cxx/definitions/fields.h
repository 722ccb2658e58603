// Field describes a member of a structure, exception or value, as the generated class has it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "idl/cxx/spelling/spelling.h"
#include "idl/cxx/spelling/text.h"

namespace corelane::idl::cxx {

struct Field {
  std::string name;       // name of its accessors
  std::string data;       // name of the data member
  std::string access;     // how others read it: "x()", or "x" for a public member
  std::string parameter;  // name of the constructor's parameter
  std::string type;
  std::string initial;  // initializer behind the data member: "{}", "{5}" or nothing
  bool scalar = false;
  bool movable = true;  // false: moving it would only copy it
  TypeId idl_type = TypeId::none;
  std::string attribute = {};  // of what programs use: "" or `[[deprecated]]`
};

// Returns the fields for `members`. `owner` is the definition that has them; it determines which names are taken.
std::vector<Field> fields_of(const Spelling& spelling, DefId owner, const std::vector<Member>& members);
// Returns the definition's own fields. `id` is a Structure or an Exception.
std::vector<Field> fields_of(const Spelling& spelling, DefId id);
// Returns the fields of all bases, then its own.
std::vector<Field> all_fields_of(const Spelling& spelling, DefId id);

// Returns the constructor's parameters: all members by value, in order.
std::vector<std::string> constructor_parameters(const std::vector<Field>& fields);
// Returns the expression that moves the constructor's parameter, or the variable `name`: "x", "std::move(text)".
std::string moved(const Field& field);
std::string moved(const Field& field, const std::string& name);
// Returns the constructor's initializers.
std::vector<std::string> initialisers(const std::vector<Field>& fields);

// Setter, getter and modifier: write_accessors() writes them with their bodies, declare_accessors() declares them, and
// define_accessors() defines them as members of `owner`.
void write_accessors(const Field& field, Text& out);
void declare_accessors(const Field& field, Text& out);
void define_accessors(const std::string& owner, const Field& field, Text& out);

// Returns whether the IDL asks for plain public members.
bool has_public_members(const Definition& definition);

}  // namespace corelane::idl::cxx
