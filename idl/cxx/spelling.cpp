#include "idl/cxx/spelling.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "idl/cxx/names.h"
#include "idl/cxx/text.h"

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
    case TypeKind::string:
      return "std::string";
    default:
      return "void";
  }
}

// One character of a literal. Octal escapes have three digits at most, so what follows cannot join them.
std::string escaped_character(char c) {
  if (c == '\\' || c == '"' || c == '\'') return {'\\', c};
  if (c >= ' ' && c <= '~') return {c};
  const auto code = static_cast<unsigned char>(c);
  return {'\\', static_cast<char>('0' + code / 64), static_cast<char>('0' + code / 8 % 8),
          static_cast<char>('0' + code % 8)};
}

// The least 64-bit number has no literal of its own.
std::string integer_literal(std::int64_t value) {
  const bool is_least = value == std::numeric_limits<std::int64_t>::min();
  return is_least ? std::to_string(value + 1) + " - 1" : std::to_string(value);
}

std::string unsigned_literal(std::uint64_t value) { return std::to_string(value) + "U"; }

// The shortest digits that give back the same value.
template <typename Float>
std::string float_literal(Float value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// An exception may stand outside all modules and so has two lists to avoid.
std::string name_of(const Definition& definition) {
  if (definition.kind() == DefinitionKind::exception) {
    const std::string name = escaped(definition.name, NameUse::exception);
    if (name != definition.name) return name;
  }
  return escaped(definition.name, definition.scope == DefId::none ? NameUse::outermost : NameUse::definition);
}

std::string joined(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + "::" + name;
}

}  // namespace

Spelling::Spelling(const Model& model) : model_(model) {
  for (const Definition& definition : model.definitions)
    if (definition.kind() != DefinitionKind::module) defined_.insert(name_of(definition));
}

std::string Spelling::name(DefId id) const { return name_of(model_[id]); }

std::string Spelling::qualified(DefId id) const {
  const DefId scope = model_[id].scope;
  return (scope == DefId::none ? "" : qualified(scope)) + "::" + name(id);
}

std::string Spelling::scope_of(DefId id, bool skeletons) const {
  const DefId scope = model_[id].scope;
  if (scope == DefId::none) return {};
  if (model_[scope].kind() != DefinitionKind::module) return scope_of(scope, skeletons);
  const bool outermost = model_[scope].scope == DefId::none;
  return joined(scope_of(scope, skeletons), skeletons && outermost ? "POA_" + model_[scope].name : name(scope));
}

std::string Spelling::module_of(DefId id) const { return scope_of(id, false); }
std::string Spelling::skeleton_module_of(DefId id) const { return scope_of(id, true); }

std::string Spelling::skeleton_name(DefId id) const {
  return model_[id].scope == DefId::none ? "POA_" + model_[id].name : name(id);
}

std::string Spelling::skeleton_qualified(DefId id) const {
  const std::string module = skeleton_module_of(id);
  return fill(module.empty() ? "::$1" : "::$0::$1", {module, skeleton_name(id)});
}

std::string Spelling::local(std::string_view name) const {
  const std::string usual = escaped(name, NameUse::local);
  return defined_.contains(usual) ? "_cxx_" + std::string(name) : usual;
}

std::string Spelling::type(TypeId id) const {
  const Type& type = model_[id];
  if (is_reference(id)) return fill("::CORBA::object_reference<$0>", {qualified(type.definition)});
  if (type.kind == TypeKind::sequence) return fill("std::vector<$0>", {this->type(type.element)});
  if (type.definition != DefId::none) return qualified(type.definition);
  return std::string(basic_type(type.kind));
}

bool Spelling::is_void(TypeId id) const { return model_[id].kind == TypeKind::void_; }

bool Spelling::is_scalar(TypeId id) const {
  switch (model_.resolved(id).kind) {
    case TypeKind::string:
    case TypeKind::sequence:
    case TypeKind::structure:
    case TypeKind::interface:
      return false;
    default:
      return true;
  }
}

std::string Spelling::in_type(TypeId id) const {
  return is_scalar(id) || is_reference(id) ? type(id) : fill("const $0&", {type(id)});
}

std::string Spelling::value(TypeId type, const Value& value) const {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return integer_literal(*integer);
  if (const auto* natural = std::get_if<std::uint64_t>(&value)) return unsigned_literal(*natural);
  if (const auto* real = std::get_if<double>(&value)) {
    if (model_.resolved(type).kind == TypeKind::float32) return float_literal(static_cast<float>(*real)) + "F";
    return float_literal(*real);
  }
  if (const auto* character = std::get_if<char>(&value)) return fill("'$0'", {escaped_character(*character)});
  if (const auto* text = std::get_if<std::string>(&value)) {
    std::string literal = "\"";
    for (const char c : *text) literal += escaped_character(c);
    return literal + "\"";
  }
  const auto& enumerator = std::get<EnumeratorRef>(value);
  const auto& enumeration = std::get<Enumeration>(model_[enumerator.enumeration].body);
  return qualified(enumerator.enumeration) +
         "::" + escaped(enumeration.enumerators[enumerator.index].name, NameUse::plain);
}

}  // namespace corelane::idl::cxx
