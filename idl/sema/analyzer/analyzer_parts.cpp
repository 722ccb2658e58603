#include <algorithm>
#include <array>
#include <utility>

#include "idl/sema/analyzer/analyzer.h"

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

}  // namespace

// Returns the type that `spec` describes; none (reported) if it is no type. Only the element of a sequence or map may
// be incomplete.
TypeId Analyzer::type(const ast::TypeSpec& spec, bool in_container) {
  // recursion: the parser limits the depth
  if (const auto* basic = std::get_if<ast::BasicType>(&spec.node))
    return analysis_.types.basic(static_cast<TypeKind>(*basic));
  if (const auto* name = std::get_if<ast::ScopedName>(&spec.node)) return named_type(*name, in_container);
  if (const auto* text = std::get_if<ast::StringOf>(&spec.node)) {
    Type made{.kind = text->wide ? TypeKind::wide_string : TypeKind::string};
    if (text->bound == nullptr) return analysis_.types.anonymous(made);
    const auto most = bound(*text->bound);
    made.bound = most.value_or(0);
    return most ? analysis_.types.anonymous(made) : TypeId::none;
  }
  if (const auto* sequence = std::get_if<ast::SequenceOf>(&spec.node))
    return container_type({.kind = TypeKind::sequence}, *sequence->element, sequence->bound);
  if (const auto* map = std::get_if<ast::MapOf>(&spec.node)) return map_type(*map);
  if (const auto* fixed = std::get_if<ast::FixedOf>(&spec.node)) return fixed_type(*fixed, spec.span);
  if (const auto* made = std::get_if<ast::InlineDefinition>(&spec.node)) return inline_type(*made);
  return TypeId::none;
}

TypeId Analyzer::container_type(Type made, const ast::TypeSpec& element, const ast::ExpressionPtr& most) {
  made.element = type(element, true);
  analysis_.annotations.check(element.annotations, Target::member);
  if (most != nullptr) {
    const auto count = bound(*most);
    if (!count) return TypeId::none;
    made.bound = *count;
  }
  return made.element == TypeId::none ? TypeId::none : analysis_.types.anonymous(made);
}

TypeId Analyzer::map_type(const ast::MapOf& map) {
  Type made{.kind = TypeKind::map};
  made.key = type(*map.key);
  analysis_.annotations.check(map.key->annotations, Target::member);
  if (made.key == TypeId::none) return TypeId::none;
  return container_type(made, *map.element, map.bound);
}

TypeId Analyzer::fixed_type(const ast::FixedOf& fixed, const Span& at) {
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

// Evaluates a bound or a length. It is 1 to 2^32 - 1, since it is sent as an unsigned long.
std::optional<std::uint64_t> Analyzer::bound(const ast::Expression& expression) {
  const auto value = analysis_.constants.evaluate(expression, analysis_.types.basic(TypeKind::uint32));
  if (!value) return std::nullopt;
  const auto count = std::get<std::uint64_t>(*value);
  if (count > 0) return count;
  analysis_.diagnostics.error(expression.span, "a length is at least 1");
  return std::nullopt;
}

TypeId Analyzer::array_of(TypeId element, const ast::Declarator& declarator) {
  TypeId result = element;
  analysis_.annotations.check(declarator.annotations, Target::member);
  // The last dimension is the innermost.
  for (auto at = declarator.dimensions.rbegin(); at != declarator.dimensions.rend(); ++at) {
    const auto length = bound(**at);
    if (!length || result == TypeId::none) return TypeId::none;
    result = analysis_.types.anonymous({.kind = TypeKind::array, .element = result, .bound = *length});
  }
  return declared(result, declarator.name.span);
}

// Returns the type of a declarator; none (reported) if it is too large or nested too deeply.
TypeId Analyzer::declared(TypeId type, const Span& at) {
  return type == TypeId::none || check_extent(analysis_.extents.of(type), at) ? type : TypeId::none;
}

bool Analyzer::check_extent(const Extent& extent, const Span& at) {
  const bool too_deep = extent.depth > Extent::deepest;
  if (too_deep) analysis_.diagnostics.error(at, "types are nested too deeply");
  if (extent.bytes > Extent::most_bytes)
    analysis_.diagnostics.error(at, "a value of this type takes more memory than a process can have (128 TiB)");
  return !too_deep && extent.bytes <= Extent::most_bytes;
}

TypeId Analyzer::inline_type(const ast::InlineDefinition& source) {
  const ast::Definition& definition = *source.one.front();
  std::visit([&](const auto& node) { visit(node, definition); }, definition.node);
  const Symbol* symbol = analysis_.names.current().find_own(definition.name.text);
  return symbol == nullptr ? TypeId::none : symbol->type;
}

// Returns whether the name means CORBA::TypeCode, which needs no declaration.
bool Analyzer::is_type_code(const ast::ScopedName& name) {
  if (name.parts.back().text != "TypeCode" || name.parts.size() > 2) return false;
  const std::string& path = analysis_.names.current().path;
  if (name.parts.size() == 1) {
    const bool inside = path == "CORBA" || path.starts_with("CORBA::");
    return !name.absolute && inside && !analysis_.names.is_known("TypeCode");
  }
  if (name.parts[0].text != "CORBA") return false;
  const Symbol* corba = analysis_.names.file_scope().find_own("CORBA");
  if (corba != nullptr && corba->inside != nullptr) return corba->inside->find_own("TypeCode") == nullptr;
  return corba == nullptr;
}

TypeId Analyzer::named_type(const ast::ScopedName& name, bool in_container) {
  if (name.parts.size() == 1 && !name.absolute)
    for (const SizedInteger& sized : sized_integers)
      if (name.parts[0].text == sized.name && !analysis_.names.is_known(name.parts[0].text))
        return analysis_.types.basic(sized.kind);
  if (is_type_code(name)) return analysis_.types.basic(TypeKind::type_code);
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

void Analyzer::report_incomplete(const Symbol& symbol, const Span& at) {
  if (aggregates_.is_open(symbol)) {
    analysis_.diagnostics.error(at,
                                quoted(symbol.name) + " cannot hold itself, except through `@external` or a sequence");
  } else {
    analysis_.diagnostics.error(at, quoted(symbol.name) + " is not defined yet").note(symbol.span, "declared here");
  }
}

// Reports an optional member whose type is not defined yet. DDS-XTypes allows it, because `@optional` lets the member
// be stored separately. Here `@external` does that.
bool Analyzer::report_optional(const ast::TypeSpec& spec) {
  const auto* name = std::get_if<ast::ScopedName>(&spec.node);
  if (name == nullptr || is_type_code(*name) || !analysis_.names.is_known(name->parts[0].text)) return false;
  const Symbol* symbol = analysis_.names.resolve(*name);
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

// Warns about a type without a name. A named type can be used elsewhere, and in C++.
void Analyzer::note_anonymous(const ast::TypeSpec& spec) {
  const auto* text = std::get_if<ast::StringOf>(&spec.node);
  const bool nameless =
      (text != nullptr && text->bound != nullptr) || std::holds_alternative<ast::SequenceOf>(spec.node) ||
      std::holds_alternative<ast::MapOf>(spec.node) || std::holds_alternative<ast::FixedOf>(spec.node);
  if (nameless)
    analysis_.diagnostics.warning(Warning::anonymous, spec.span, "this type has no name (give it one with `typedef`)");
}

// Returns the type of a member. The type must be complete, except in sequences and maps. A struct or union may also be
// incomplete if `@external` stores it outside the object.
TypeId Analyzer::complete_type(const ast::TypeSpec& spec, const Annotations& notes) {
  const bool is_external = is_set(notes, "external");
  if (!is_external && is_set(notes, "optional") && report_optional(spec)) return TypeId::none;
  note_anonymous(spec);
  const TypeId result = type(spec, is_external);
  if (result == TypeId::none) return result;
  aggregates_.add_member(result);
  const TypeKind kind = analysis_.model.resolved(result).kind;
  const bool is_aggregate = kind == TypeKind::structure || kind == TypeKind::union_;
  return is_external && is_aggregate ? analysis_.types.anonymous({.kind = TypeKind::external, .element = result})
                                     : result;
}

bool Analyzer::may_be_constant(TypeId id, const Span& at) {
  switch (analysis_.model.resolved(id).kind) {
    case TypeKind::any:
    case TypeKind::object:
    case TypeKind::value_base:
    case TypeKind::type_code:
    case TypeKind::sequence:
    case TypeKind::array:
    case TypeKind::map:
    case TypeKind::external:
    case TypeKind::structure:
    case TypeKind::union_:
    case TypeKind::bitset:
    case TypeKind::interface:
    case TypeKind::value:
    case TypeKind::value_box:
    case TypeKind::native:
      analysis_.diagnostics.error(at, "a constant cannot be of type " + quoted(analysis_.types.name(id)));
      return false;
    default:
      return true;
  }
}

}  // namespace corelane::idl
