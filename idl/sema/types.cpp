#include "idl/sema/types.h"

#include "idl/model/names.h"

namespace corelane::idl {

TypeId TypeTable::add(Type type) {
  const auto id = static_cast<TypeId>(model_.types.size());
  if (type.resolved == TypeId::none) type.resolved = id;
  model_.types.push_back(type);
  return id;
}

TypeId TypeTable::basic(TypeKind kind) {
  const auto [entry, is_new] = basics_.try_emplace(kind, TypeId::none);
  if (is_new) entry->second = add({.kind = kind});
  return entry->second;
}

TypeId TypeTable::sequence(TypeId element) {
  const auto [entry, is_new] = sequences_.try_emplace(element, TypeId::none);
  if (is_new) entry->second = add({.kind = TypeKind::sequence, .element = element});
  return entry->second;
}

TypeId TypeTable::named(TypeKind kind, DefId definition) { return add({.kind = kind, .definition = definition}); }

TypeId TypeTable::alias(DefId definition, TypeId aliased) {
  return add(
      {.kind = TypeKind::alias, .element = aliased, .resolved = model_[aliased].resolved, .definition = definition});
}

std::string TypeTable::name(TypeId id) const { return type_name(model_, id); }

}  // namespace corelane::idl
