#include "idl/cxx/spelling/spelling.h"

#include <algorithm>
#include <map>

#include "idl/cxx/spelling/library_names.h"
#include "idl/cxx/spelling/names.h"
#include "idl/cxx/spelling/text.h"

namespace corelane::idl::cxx {
namespace {

std::string_view basic_type(TypeKind kind) {
  switch (kind) {
    case TypeKind::boolean:
      return "bool";
    case TypeKind::octet:
    case TypeKind::uint8:
      return "std::uint8_t";
    case TypeKind::character:
      return "char";
    case TypeKind::wide_character:
      return "wchar_t";
    case TypeKind::int8:
      return "std::int8_t";
    case TypeKind::int16:
      return "std::int16_t";
    case TypeKind::uint16:
      return "std::uint16_t";
    case TypeKind::int32:
      return "std::int32_t";
    case TypeKind::uint32:
      return "std::uint32_t";
    case TypeKind::int64:
      return "std::int64_t";
    case TypeKind::uint64:
      return "std::uint64_t";
    case TypeKind::float32:
      return "float";
    case TypeKind::float64:
      return "double";
    case TypeKind::float128:
      return "long double";
    case TypeKind::any:
      return "::CORBA::Any";
    case TypeKind::string:
      return "std::string";
    case TypeKind::wide_string:
      return "std::wstring";
    default:
      return "void";
  }
}

// Returns the class that a reference of this kind refers to.
std::string_view referenced(TypeKind kind) {
  if (kind == TypeKind::value || kind == TypeKind::value_base) return "::CORBA::ValueBase";
  return kind == TypeKind::type_code ? "::CORBA::TypeCode" : "::CORBA::Object";
}

std::string_view reference_to(TypeKind kind, bool is_abstract) {
  if (is_abstract) return "::CORBA::abstractbase_reference<$0>";
  const bool is_value = kind == TypeKind::value || kind == TypeKind::value_box || kind == TypeKind::value_base;
  return is_value ? "::CORBA::valuetype_reference<$0>" : "::CORBA::object_reference<$0>";
}

std::string joined(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + "::" + name;
}

}  // namespace

Spelling::Spelling(const Model& model) : model_(model) {
  find_factories();
  for (const Definition& definition : model.definitions)
    if (definition.kind() != DefinitionKind::module) defined_.insert(name_of(definition));
}

// A value type V has a factory V_init. If IDL defines V_init, too, the later one of V and V_init in the text is
// renamed. So each file knows the names that the files it includes use.
void Spelling::find_factories() {
  std::map<std::string_view, std::size_t> first;
  for (std::size_t i = 0; i < model_.definitions.size(); ++i) first.try_emplace(model_.definitions[i].scoped_name, i);
  for (std::size_t i = 0; i < model_.definitions.size(); ++i) {
    const auto* value = std::get_if<Valuetype>(&model_.definitions[i].body);
    if (value == nullptr || value->kind == ValueKind::abstract) continue;
    const std::string& name = model_.definitions[i].scoped_name;
    const auto same = first.find(name + "_init");
    if (same == first.end()) continue;
    yielding_.insert(same->second < first.at(name) ? name : std::string(same->first));
  }
}

std::string Spelling::factory_name(DefId value) const {
  const Definition& definition = model_[value];
  return (yielding_.contains(definition.scoped_name) ? "_cxx_" : "") + definition.name + "_init";
}

// Returns the C++ name. An exception outside all modules must avoid the names of two lists.
std::string Spelling::name_of(const Definition& definition) const {
  const bool is_value = definition.kind() == DefinitionKind::value;
  if (!is_value && yielding_.contains(definition.scoped_name)) return "_cxx_" + definition.name;
  const auto* alias = std::get_if<Alias>(&definition.body);
  if (alias != nullptr && is_library_typedef(definition.name, model_.resolved(alias->aliased).kind))
    return definition.name;
  if (definition.kind() == DefinitionKind::exception) {
    const std::string name = escaped(definition.name, NameUse::exception);
    if (name != definition.name) return name;
  }
  return escaped(definition.name, definition.scope == DefId::none ? NameUse::outermost : NameUse::definition);
}

// Returns the C++ name. A definition of the compiler's own IDL has its C++ in the library, under the same name as in
// IDL.
std::string Spelling::name(DefId id) const {
  const FileId file = model_[id].file;
  if (file != FileId::none && !model_[file].generates_code) return model_[id].name;
  return name_of(model_[id]);
}

std::string Spelling::qualified(DefId id) const {
  const DefId scope = model_[id].scope;
  return (scope == DefId::none ? "" : qualified(scope)) + "::" + name(id);
}

// Returns the name of the outermost skeleton class or namespace. The library has skeletons, too: POA_Messaging is a
// namespace of its own, and nothing else can have its name.
std::string Spelling::outermost_skeleton(DefId id) const {
  const std::string& plain = model_[id].name;
  return "POA_" + (is_library_namespace(plain) ? name(id) : plain);
}

std::string Spelling::scope_of(DefId id, bool skeletons) const {
  const DefId scope = model_[id].scope;
  if (scope == DefId::none) return {};
  if (model_[scope].kind() != DefinitionKind::module) return scope_of(scope, skeletons);
  const bool outermost = model_[scope].scope == DefId::none;
  return joined(scope_of(scope, skeletons), skeletons && outermost ? outermost_skeleton(scope) : name(scope));
}

std::string Spelling::module_of(DefId id) const { return scope_of(id, false); }
std::string Spelling::skeleton_module_of(DefId id) const { return scope_of(id, true); }

std::string Spelling::skeleton_name(DefId id) const {
  return model_[id].scope == DefId::none ? outermost_skeleton(id) : name(id);
}

std::string Spelling::skeleton_qualified(DefId id) const {
  const std::string module = skeleton_module_of(id);
  return fill(module.empty() ? "::$1" : "::$0::$1", {module, skeleton_name(id)});
}

std::string Spelling::local(std::string_view name) const {
  const std::string usual = escaped(name, NameUse::local);
  return defined_.contains(usual) ? "_cxx_" + std::string(name) : usual;
}

std::string Spelling::local_name(DefId id) const {
  return is_nested(id) ? local_name(model_[id].scope) + "::" + name(id) : name(id);
}

bool Spelling::is_nested(DefId id) const {
  const DefId scope = model_[id].scope;
  return scope != DefId::none && model_[scope].kind() != DefinitionKind::module;
}

std::string Spelling::alias_type(TypeId id) const {
  if (!is_reference(id)) return type(id);
  const Type& type = model_[id];
  return type.definition != DefId::none ? qualified(type.definition) : std::string(referenced(type.kind));
}

std::string Spelling::type(TypeId id) const {
  const Type& type = model_[id];
  if (is_reference(id))
    return fill(reference_to(model_.resolved(id).kind, is_abstract_interface(id)), {alias_type(id)});
  if (type.definition != DefId::none) return type.kind == TypeKind::native ? "void*" : qualified(type.definition);
  const std::string bound = std::to_string(type.bound);
  switch (type.kind) {
    case TypeKind::string:
      return type.bound == 0 ? "std::string" : fill("::IDL::bounded_string<$0>", {bound});
    case TypeKind::wide_string:
      return type.bound == 0 ? "std::wstring" : fill("::IDL::bounded_wstring<$0>", {bound});
    case TypeKind::sequence:
      return fill(type.bound == 0 ? "std::vector<$0>" : "::IDL::bounded_sequence<$0, $1>",
                  {this->type(type.element), bound});
    case TypeKind::array:
      return fill("std::array<$0, $1>", {this->type(type.element), bound});
    case TypeKind::map:
      return fill(type.bound == 0 ? "std::map<$0, $1>" : "::IDL::bounded_map<$0, $1, $2>",
                  {this->type(type.key), this->type(type.element), bound});
    case TypeKind::external:
      return fill("::IDL::external<$0>", {this->type(type.element)});
    case TypeKind::fixed:
      return fill("::IDL::Fixed<$0, $1>", {std::to_string(type.digits), std::to_string(type.scale)});
    default:
      return std::string(basic_type(type.kind));
  }
}

bool Spelling::is_void(TypeId id) const { return model_[id].kind == TypeKind::void_; }

bool Spelling::is_reference(TypeId id) const {
  const TypeKind kind = model_.resolved(id).kind;
  switch (kind) {
    case TypeKind::interface:
    case TypeKind::object:
    case TypeKind::type_code:
    case TypeKind::value:
    case TypeKind::value_box:
    case TypeKind::value_base:
      return true;
    default:
      return false;
  }
}

bool Spelling::is_scalar(TypeId id) const {
  switch (model_.resolved(id).kind) {
    case TypeKind::string:
    case TypeKind::wide_string:
    case TypeKind::sequence:
    case TypeKind::array:
    case TypeKind::map:
    case TypeKind::external:
    case TypeKind::fixed:
    case TypeKind::any:
    case TypeKind::structure:
    case TypeKind::union_:
    case TypeKind::bitset:
      return false;
    default:
      return !is_reference(id);
  }
}

bool Spelling::is_movable(TypeId id) const {
  const Type& type = model_.resolved(id);
  if (is_scalar(id) || type.kind == TypeKind::fixed || type.kind == TypeKind::bitset) return false;
  if (type.kind == TypeKind::array) return is_movable(type.element);  // recursion: depth of the type
  if (type.kind != TypeKind::structure || type.definition == DefId::none) return true;
  const auto* structure = std::get_if<Structure>(&model_[type.definition].body);
  if (structure == nullptr) return true;
  return movable_.of(type.definition, [&] {
    if (structure->base != DefId::none && is_movable(model_[structure->base].type)) return true;
    return std::ranges::any_of(structure->members, [&](const Member& member) { return is_movable(member.type); });
  });
}

bool Spelling::is_abstract_interface(TypeId id) const {
  return is_interface(model_.resolved(id), InterfaceKind::abstract);
}

// Works for an interface that is only declared, too.
bool Spelling::is_interface(const Type& type, InterfaceKind kind) const {
  if (type.kind != TypeKind::interface || type.definition == DefId::none) return false;
  const Definition& definition = model_[type.definition];
  if (const auto* forward = std::get_if<Forward>(&definition.body)) return forward->kind == kind;
  return std::get<Interface>(definition.body).kind == kind;
}

// Returns whether `is_such` holds for a type that the definition's values contain.
bool Spelling::holds(const Definition& definition, bool (Spelling::*is_such)(TypeId) const) const {
  const auto member_is = [&](const Member& member) { return (this->*is_such)(member.type); };
  if (const auto* structure = std::get_if<Structure>(&definition.body))
    return std::ranges::any_of(structure->members, member_is) ||
           (structure->base != DefId::none && (this->*is_such)(model_[structure->base].type));
  if (const auto* u = std::get_if<Union>(&definition.body))
    return std::ranges::any_of(u->branches, [&](const UnionBranch& b) { return member_is(b.member); });
  return false;
}

bool Spelling::holds_values(TypeId id) const {
  if (id == TypeId::none) return false;
  const Type& type = model_.resolved(id);
  if (holds_values(type.element) || holds_values(type.key)) return true;  // recursion: depth of the type
  if (type.kind == TypeKind::value || type.kind == TypeKind::value_box || type.kind == TypeKind::value_base)
    return true;
  if (type.definition == DefId::none) return false;
  if (type.kind == TypeKind::interface) return is_interface(type, InterfaceKind::abstract);
  const Definition& definition = model_[type.definition];
  return with_values_.of(type.definition, [&] { return holds(definition, &Spelling::holds_values); });
}

bool Spelling::is_local(TypeId id) const {
  if (id == TypeId::none) return false;
  const Type& type = model_.resolved(id);
  if (is_local(type.element) || is_local(type.key) || type.kind == TypeKind::native) return true;
  if (type.definition == DefId::none) return false;
  if (type.kind == TypeKind::interface) return is_interface(type, InterfaceKind::local);
  const Definition& definition = model_[type.definition];
  return local_.of(type.definition, [&] { return holds(definition, &Spelling::is_local); });
}

bool Spelling::is_large(TypeId id) const {
  constexpr std::uint64_t small = 4096;
  return size_of(id) > small;
}

// Returns roughly how many bytes a value itself takes, without what it refers to. In a union, all members count.
std::uint64_t Spelling::size_of(TypeId id) const {
  constexpr std::uint64_t others = 32, most = std::uint64_t{1} << 40;
  const Type& type = model_.resolved(id);
  if (is_scalar(id)) return 8;
  if (type.kind == TypeKind::array) return std::min(most, std::min(most, type.bound) * size_of(type.element));
  if (type.kind != TypeKind::structure && type.kind != TypeKind::union_) return others;
  const auto [known, is_new] = sizes_.try_emplace(type.definition, 0);  // a type that contains itself adds nothing
  if (!is_new) return known->second;
  const Definition& definition = model_[type.definition];
  std::uint64_t sum = 0;
  const auto add = [&](TypeId member) { sum = std::min(most, sum + size_of(member)); };
  if (const auto* structure = std::get_if<Structure>(&definition.body)) {
    if (structure->base != DefId::none) add(model_[structure->base].type);
    for (const Member& member : structure->members) add(member.type);
  } else if (const auto* u = std::get_if<Union>(&definition.body)) {
    for (const UnionBranch& branch : u->branches) add(branch.member.type);
  }
  return sizes_[type.definition] = sum;
}

std::string Spelling::initial(TypeId id) const {
  const std::string value = initial_value(id);
  if (!value.empty()) return "{" + value + "}";
  return is_scalar(id) || model_.resolved(id).kind == TypeKind::array ? "{}" : "";
}

std::string Spelling::initial_value(TypeId id) const {
  const Type& type = model_.resolved(id);
  if (type.kind == TypeKind::array) {
    TypeId element = type.element;
    // bound: the dimensions
    while (model_.resolved(element).kind == TypeKind::array) element = model_.resolved(element).element;
    const std::string value = initial_value(element);
    return value.empty() ? value : fill("::corelane::filled<$0>($1)", {this->type(id), value});
  }
  if (type.kind != TypeKind::enumeration) return {};
  const auto& enumeration = std::get<Enumeration>(model_[type.definition].body);
  if (enumeration.enumerators[enumeration.default_index].value == 0) return {};
  return enumerator(type.definition, enumeration.default_index);
}

std::string Spelling::in_type(TypeId id) const {
  return is_scalar(id) || is_reference(id) ? type(id) : fill("const $0&", {type(id)});
}

const Interface& interface_of(const Spelling& spelling, DefId id) {
  return std::get<Interface>(spelling.model()[id].body);
}

}  // namespace corelane::idl::cxx
