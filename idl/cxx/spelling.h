// Spelling: how the names, types and values of one model are written in C++.
//
// Threads: none. Refers to the model, which outlives it. All names are written from the global scope ("::Plant::Mode"),
// so that no scope of the user's can catch them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "idl/cxx/answers.h"
#include "idl/model/model.h"

namespace corelane::idl::cxx {

class Spelling {
 public:
  explicit Spelling(const Model& model);

  const Model& model() const { return model_; }

  std::string name(DefId id) const;       // within its scope
  std::string qualified(DefId id) const;  // "::Plant::Controller"
  // Modules around a definition, outermost first, as "Plant::Parts"; empty at file level.
  std::string module_of(DefId id) const;
  // From the namespace: "Controller::Mode" for a type of an interface.
  std::string local_name(DefId id) const;
  // Of the factory of a value type, within its scope.
  std::string factory_name(DefId value) const;
  // Whether it stands inside a class.
  bool is_nested(DefId id) const;

  std::string skeleton_name(
      DefId interface_id) const;  // within its scope: "Controller", at file level "POA_Controller"
  std::string skeleton_qualified(DefId interface_id) const;  // "::POA_Plant::Controller"
  std::string skeleton_module_of(DefId interface_id) const;  // "POA_Plant::Parts"

  // A parameter: as it is unless it is a keyword or would hide a definition (-Wshadow).
  std::string local(std::string_view name) const;

  std::string type(TypeId id) const;        // as a value: member, result, out parameter without its &
  std::string in_type(TypeId id) const;     // as an `in` parameter: by value or const T&
  std::string alias_type(TypeId id) const;  // what a `using` stands for: the class where type() is a reference to it
  bool is_void(TypeId id) const;
  bool is_reference(TypeId id) const;  // to an object, a value or a TypeCode
  bool is_abstract_interface(TypeId id) const;
  bool holds_values(TypeId id) const;    // is or may hold a value of a value type, but for Anys
  bool is_scalar(TypeId id) const;       // basic type or enumeration: returned by value
  bool is_large(TypeId id) const;        // takes kilobytes where it stands, so it does not stand on a stack
  bool is_movable(TypeId id) const;      // whether moving does more than copying
  bool is_local(TypeId id) const;        // holds something that never leaves its process: no codec, no TypeCode
  std::string initial(TypeId id) const;  // what follows a variable's name so that it has a value: "{}" or nothing
  // The value that a new variable has, where that is not what C++ gives it: @default_literal, also in arrays. Or empty.
  std::string initial_value(TypeId id) const;

  // A constant's or enumerator's value as an expression of its type.
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
  std::set<std::string, std::less<>> yielding_;    // scoped names: what has, or whose factory has, a name that is taken
  mutable std::map<DefId, std::uint64_t> sizes_;   // see size_of()
  mutable Answers movable_, local_, with_values_;  // what was asked already
  std::set<std::string, std::less<>> defined_;     // names that a parameter would hide
};

// Precondition: an interface.
const Interface& interface_of(const Spelling& spelling, DefId id);

}  // namespace corelane::idl::cxx
