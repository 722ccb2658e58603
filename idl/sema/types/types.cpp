#include "idl/sema/types/types.h"

#include "idl/model/names.h"

namespace corelane::idl {

TypeId TypeTable::add(Type type) {
  const auto id = static_cast<TypeId>(model_.types.size());
  if (type.resolved == TypeId::none) type.resolved = id;
  model_.types.push_back(type);
  return id;
}

TypeId TypeTable::anonymous(const Type& type) {
  const Key key(type.kind, type.element, type.key, type.bound, type.digits, type.scale);
  const auto [entry, is_new] = anonymous_.try_emplace(key, TypeId::none);
  if (is_new) entry->second = add(type);
  return entry->second;
}

TypeId TypeTable::named(TypeKind kind, DefId definition) { return add({.kind = kind, .definition = definition}); }

TypeId TypeTable::alias(DefId definition, TypeId aliased) {
  return add(
      {.kind = TypeKind::alias, .element = aliased, .resolved = model_[aliased].resolved, .definition = definition});
}

std::string TypeTable::name(TypeId id) const { return type_name(model_, id); }

}  // namespace corelane::idl
