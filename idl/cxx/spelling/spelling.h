// Spelling says how the names, types and values of one model are written in C++.
//
// Threads: none. Refers to the model, which must outlive it. Names start from the global scope ("::Plant::Mode"), so
// that a name in one of the user's scopes cannot replace them.
//
// The folder idl/cxx/spelling says how names, types and values of IDL are written in C++, and in which file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "idl/cxx/spelling/answers.h"
#include "idl/model/model.h"

namespace corelane::idl::cxx {

class Spelling {
 public:
  explicit Spelling(const Model& model);

  const Model& model() const { return model_; }

  std::string name(DefId id) const;       // within its scope
  std::string qualified(DefId id) const;  // "::Plant::Controller"
  // Returns the modules around a definition, outermost first: "Plant::Parts"; "" at file level.
  std::string module_of(DefId id) const;
  // Returns the name as seen from the namespace: "Controller::Mode" for a type in an interface.
  std::string local_name(DefId id) const;
  // Returns the name of the factory of a value type, within its scope.
  std::string factory_name(DefId value) const;
  // Returns whether the definition is inside a class.
  bool is_nested(DefId id) const;

  std::string skeleton_name(
      DefId interface_id) const;  // within its scope: "Controller", at file level "POA_Controller"
  std::string skeleton_qualified(DefId interface_id) const;  // "::POA_Plant::Controller"
  std::string skeleton_module_of(DefId interface_id) const;  // "POA_Plant::Parts"

  // Returns the name of a parameter. It is unchanged unless it is a keyword or would hide a definition (-Wshadow).
  std::string local(std::string_view name) const;

  std::string type(TypeId id) const;        // by value: member, result; an out parameter adds &
  std::string in_type(TypeId id) const;     // of an `in` parameter: by value or const T&
  std::string alias_type(TypeId id) const;  // the right side of a `using`: the class, if type() is a reference to it
  bool is_void(TypeId id) const;
  bool is_reference(TypeId id) const;  // to an object, a value or a TypeCode
  bool is_abstract_interface(TypeId id) const;
  bool holds_values(TypeId id) const;    // is or may contain a value of a value type; contents of Anys do not count
  bool is_scalar(TypeId id) const;       // a basic type or an enumeration, which is returned by value
  bool is_large(TypeId id) const;        // more than 4096 bytes, so it is not put on a stack
  bool is_movable(TypeId id) const;      // moving does more than copying
  bool is_local(TypeId id) const;        // contains something that never leaves its process: no codec, no TypeCode
  std::string initial(TypeId id) const;  // initializer behind a variable's name: "{}" or nothing
  // Returns the value of a new variable, also in an array, if @default_literal requires one that C++ does not choose;
  // else "".
  std::string initial_value(TypeId id) const;

  // Returns a constant's value as an expression of its type.
  std::string value(TypeId type, const Value& value) const;
  std::string enumerator(DefId enumeration, std::size_t index) const;

 private:
  void find_factories();
  std::string name_of(const Definition& definition) const;
  std::string outermost_skeleton(DefId id) const;
  std::string scope_of(DefId id, bool skeletons) const;
  bool is_interface(const Type& type, InterfaceKind kind) const;
  std::uint64_t size_of(TypeId id) const;
  bool holds(const Definition& definition, bool (Spelling::*is_such)(TypeId) const) const;

  const Model& model_;
  // Scoped names of definitions that are renamed, or whose factory is renamed, see find_factories().
  std::set<std::string, std::less<>> yielding_;
  mutable std::map<DefId, std::uint64_t> sizes_;   // see size_of()
  mutable Answers movable_, local_, with_values_;  // answers so far
  std::set<std::string, std::less<>> defined_;     // names that a parameter would hide
};

// Precondition: `id` is an interface.
const Interface& interface_of(const Spelling& spelling, DefId id);

}  // namespace corelane::idl::cxx
