#include "idl/sema/type_readers/type_reader.h"

#include <array>
#include <string>
#include <string_view>
#include <variant>

namespace corelane::idl {
namespace {

static_assert(static_cast<int>(ast::BasicType::void_) == static_cast<int>(TypeKind::void_));
static_assert(static_cast<int>(ast::BasicType::value_base) == static_cast<int>(TypeKind::value_base));

struct SizedInteger {
  std::string_view name;
  TypeKind kind;
};
// Names of types that are not keywords here, because older IDL declares types with these names.
constexpr std::array sized_integers = {
    SizedInteger{"int8", TypeKind::int8},   SizedInteger{"uint8", TypeKind::uint8},
    SizedInteger{"int16", TypeKind::int16}, SizedInteger{"uint16", TypeKind::uint16},
    SizedInteger{"int32", TypeKind::int32}, SizedInteger{"uint32", TypeKind::uint32},
    SizedInteger{"int64", TypeKind::int64}, SizedInteger{"uint64", TypeKind::uint64}};

// Returns whether the name means CORBA::TypeCode, which needs no declaration.
bool is_type_code(Names& names, const ast::ScopedName& name) {
  if (name.parts.back().text != "TypeCode" || name.parts.size() > 2) return false;
  const std::string& path = names.current().path;
  if (name.parts.size() == 1) {
    const bool inside = path == "CORBA" || path.starts_with("CORBA::");
    return !name.absolute && inside && !names.is_known("TypeCode");
  }
  if (name.parts[0].text != "CORBA") return false;
  const Symbol* corba = names.file_scope().find_own("CORBA");
  if (corba != nullptr && corba->inside != nullptr) return corba->inside->find_own("TypeCode") == nullptr;
  return corba == nullptr;
}

}  // namespace

TypeId TypeReader::read(const ast::TypeSpec& spec, bool in_container) {
  // recursion: the parser limits the depth
  if (const auto* basic = std::get_if<ast::BasicType>(&spec.node))
    return analysis_.types.basic(static_cast<TypeKind>(*basic));
  if (const auto* name = std::get_if<ast::ScopedName>(&spec.node)) return named_type(*name, in_container);
  if (const auto* text = std::get_if<ast::StringOf>(&spec.node)) return string_type(*text);
  if (const auto* sequence = std::get_if<ast::SequenceOf>(&spec.node))
    return container_type({.kind = TypeKind::sequence}, *sequence->element, sequence->bound);
  if (const auto* map = std::get_if<ast::MapOf>(&spec.node)) return map_type(*map);
  if (const auto* fixed = std::get_if<ast::FixedOf>(&spec.node)) return fixed_type(*fixed, spec.span);
  if (const auto* made = std::get_if<ast::InlineDefinition>(&spec.node)) return inline_type(*made);
  return TypeId::none;
}

TypeId TypeReader::string_type(const ast::StringOf& text) {
  Type made{.kind = text.wide ? TypeKind::wide_string : TypeKind::string};
  if (text.bound == nullptr) return analysis_.types.anonymous(made);
  const auto most = read_length(*text.bound);
  made.bound = most.value_or(0);
  return most ? analysis_.types.anonymous(made) : TypeId::none;
}

TypeId TypeReader::container_type(Type made, const ast::TypeSpec& element, const ast::ExpressionPtr& bound) {
  made.element = read(element, true);
  analysis_.annotations.check(element.annotations, Target::member);
  if (bound != nullptr) {
    const auto most = read_length(*bound);
    if (!most) return TypeId::none;
    made.bound = *most;
  }
  return made.element == TypeId::none ? TypeId::none : analysis_.types.anonymous(made);
}

TypeId TypeReader::map_type(const ast::MapOf& map) {
  Type made{.kind = TypeKind::map};
  made.key = read(*map.key);
  analysis_.annotations.check(map.key->annotations, Target::member);
  if (made.key == TypeId::none) return TypeId::none;
  return container_type(made, *map.element, map.bound);
}

TypeId TypeReader::fixed_type(const ast::FixedOf& fixed, const Span& at) {
  if (fixed.digits == nullptr) {
    analysis_.diagnostics.error(at, "write `fixed<digits, scale>`; `fixed` alone is for constants");
    return TypeId::none;
  }
  const TypeId number = analysis_.types.basic(TypeKind::uint16);
  const auto digits = analysis_.constants.evaluate(*fixed.digits, number);
  const auto scale = analysis_.constants.evaluate(*fixed.scale, number);
  if (!digits || !scale) return TypeId::none;
  constexpr std::uint64_t most_digits = 31;
  Type made{.kind = TypeKind::fixed};
  made.digits = static_cast<std::uint16_t>(std::get<std::uint64_t>(*digits));
  made.scale = static_cast<std::uint16_t>(std::get<std::uint64_t>(*scale));
  if (made.digits < 1 || made.digits > most_digits) {
    analysis_.diagnostics.error(fixed.digits->span, "a fixed-point number has 1 to 31 digits");
  } else if (made.scale > made.digits) {
    analysis_.diagnostics.error(fixed.scale->span, "the scale is above the number of digits");
  } else {
    return analysis_.types.anonymous(made);
  }
  return TypeId::none;
}

TypeId TypeReader::named_type(const ast::ScopedName& name, bool in_container) {
  if (name.parts.size() == 1 && !name.absolute)
    for (const SizedInteger& sized : sized_integers)
      if (name.parts[0].text == sized.name && !analysis_.names.is_known(name.parts[0].text))
        return analysis_.types.basic(sized.kind);
  if (is_type_code(analysis_.names, name)) return analysis_.types.basic(TypeKind::type_code);
  const Symbol* symbol = analysis_.names.resolve(name);
  if (symbol == nullptr || symbol->kind == SymbolKind::unusable) return TypeId::none;
  if (symbol->type == TypeId::none) {
    report_kind(analysis_.diagnostics, name, *symbol, "a type");
    return TypeId::none;
  }
  const bool holds_state = symbol->kind == SymbolKind::structure || symbol->kind == SymbolKind::union_;
  if (holds_state && !symbol->defined && !in_container) {
    report_incomplete(*symbol, name.span);
    return TypeId::none;
  }
  return symbol->type;
}

void TypeReader::report_incomplete(const Symbol& symbol, const Span& at) {
  if (aggregates_.is_open(symbol)) {
    analysis_.diagnostics.error(at,
                                quoted(symbol.name) + " cannot hold itself, except through `@external` or a sequence");
  } else {
    analysis_.diagnostics.error(at, quoted(symbol.name) + " is not defined yet").note(symbol.span, "declared here");
  }
}

TypeId TypeReader::inline_type(const ast::InlineDefinition& source) {
  const ast::Definition& definition = *source.one.front();
  definitions_.read(definition);
  const Symbol* symbol = analysis_.names.current().find_own(definition.name.text);
  return symbol == nullptr ? TypeId::none : symbol->type;
}

TypeId TypeReader::read_member(const ast::TypeSpec& spec, const Annotations& notes) {
  const bool is_external = is_set(notes, "external");
  if (!is_external && is_set(notes, "optional") && report_optional(spec)) return TypeId::none;
  check_named(spec);
  const TypeId result = read(spec, is_external);
  if (result == TypeId::none) return result;
  aggregates_.add_member(result);
  const TypeKind kind = analysis_.model.resolved(result).kind;
  const bool is_aggregate = kind == TypeKind::structure || kind == TypeKind::union_;
  return is_external && is_aggregate ? analysis_.types.anonymous({.kind = TypeKind::external, .element = result})
                                     : result;
}

// Reports an optional member whose type is not defined yet. DDS-XTypes allows it, because `@optional` lets the member
// be stored separately. Here `@external` does that. Returns whether the member is refused.
bool TypeReader::report_optional(const ast::TypeSpec& spec) {
  Names& names = analysis_.names;
  const auto* name = std::get_if<ast::ScopedName>(&spec.node);
  if (name == nullptr || is_type_code(names, *name) || !names.is_known(name->parts[0].text)) return false;
  const Symbol* symbol = names.resolve(*name);
  if (symbol == nullptr) return true;
  if (symbol->defined) return false;
  if (symbol->kind != SymbolKind::structure && symbol->kind != SymbolKind::union_) return false;
  const std::string written = ast::to_string(*name);
  analysis_.diagnostics
      .error(spec.span, "`@optional` does not let a member hold " + quoted(written) +
                            " before its definition ends; `@external @optional` or `sequence<" + written + ", 1>` can")
      .note(symbol->span, "declared here");
  return true;
}

TypeId TypeReader::read_declarator(TypeId element, const ast::Declarator& declarator) {
  TypeId result = element;
  analysis_.annotations.check(declarator.annotations, Target::member);
  // The last dimension is the innermost.
  for (auto at = declarator.dimensions.rbegin(); at != declarator.dimensions.rend(); ++at) {
    const auto length = read_length(**at);
    if (!length || result == TypeId::none) return TypeId::none;
    result = analysis_.types.anonymous({.kind = TypeKind::array, .element = result, .bound = *length});
  }
  if (result == TypeId::none) return result;
  const Extent extent = analysis_.extents.of(result);
  return check_extent(extent, declarator.name.span, analysis_.diagnostics) ? result : TypeId::none;
}

std::optional<std::uint64_t> TypeReader::read_length(const ast::Expression& expression) {
  const auto value = analysis_.constants.evaluate(expression, analysis_.types.basic(TypeKind::uint32));
  if (!value) return std::nullopt;
  const auto count = std::get<std::uint64_t>(*value);
  if (count > 0) return count;
  analysis_.diagnostics.error(expression.span, "a length is at least 1");
  return std::nullopt;
}

void TypeReader::check_named(const ast::TypeSpec& spec) {
  const auto* text = std::get_if<ast::StringOf>(&spec.node);
  const bool nameless =
      (text != nullptr && text->bound != nullptr) || std::holds_alternative<ast::SequenceOf>(spec.node) ||
      std::holds_alternative<ast::MapOf>(spec.node) || std::holds_alternative<ast::FixedOf>(spec.node);
  if (nameless)
    analysis_.diagnostics.warning(Warning::anonymous, spec.span, "this type has no name (give it one with `typedef`)");
}

}  // namespace corelane::idl
