// TypeTable makes the types of a model, each once.
//
// The folder idl/sema/types has the types of the model, their sizes, and types without a finite value.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "idl/model/model.h"

namespace corelane::idl {

class TypeTable {
 public:
  explicit TypeTable(Model& model) : model_(model) {}

  TypeId basic(TypeKind kind) { return anonymous({.kind = kind}); }
  // Returns the one entry for a type without a name: string, fixed, sequence, array, map.
  TypeId anonymous(const Type& type);
  // Returns a new type for a struct, enum, interface or the like. Its definition may be set later.
  TypeId named(TypeKind kind, DefId definition);
  TypeId alias(DefId definition, TypeId aliased);

  // Returns the type as IDL spells it: "sequence<Plant::Sample>".
  std::string name(TypeId type) const;

 private:
  TypeId add(Type type);

  using Key = std::tuple<TypeKind, TypeId, TypeId, std::uint64_t, std::uint16_t, std::uint16_t>;

  Model& model_;
  std::map<Key, TypeId> anonymous_;
};

}  // namespace corelane::idl
