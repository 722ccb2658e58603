// TypeTable: makes the types of a model, each once.
#pragma once

#include <map>
#include <string>

#include "idl/model/model.h"

namespace corelane::idl {

class TypeTable {
 public:
  explicit TypeTable(Model& model) : model_(model) {}

  TypeId basic(TypeKind kind);
  TypeId sequence(TypeId element);
  // A new type for a struct, enum or interface; its definition may be filled in later.
  TypeId named(TypeKind kind, DefId definition);
  TypeId alias(DefId definition, TypeId aliased);

  // As IDL writes it: "sequence<Plant::Sample>".
  std::string name(TypeId type) const;

 private:
  TypeId add(Type type);

  Model& model_;
  std::map<TypeKind, TypeId> basics_;
  std::map<TypeId, TypeId> sequences_;  // by element
};

}  // namespace corelane::idl
