#include "idl/sema/types.h"

#include <array>
#include <string_view>

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

std::string TypeTable::name(TypeId id) const {
  constexpr std::array<std::string_view, 15> names = {"void",  "boolean",       "octet",     "char",
                                                      "int8",  "uint8",         "short",     "unsigned short",
                                                      "long",  "unsigned long", "long long", "unsigned long long",
                                                      "float", "double",        "string"};
  const Type& type = model_[id];
  if (static_cast<std::size_t>(type.kind) < names.size())
    return std::string(names[static_cast<std::size_t>(type.kind)]);
  if (type.kind == TypeKind::sequence) {
    std::string result("sequence<");
    result += name(type.element);  // recursion: bounded by the parser's depth of types and by aliases
    result.push_back('>');
    return result;
  }
  return type.definition == DefId::none ? std::string("a forward declaration") : model_[type.definition].scoped_name;
}

}  // namespace corelane::idl
