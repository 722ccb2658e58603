#include "idl/sema/analyzer/declaration_reader.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

namespace corelane::idl {

void DeclarationReader::read(const ast::Typedef& source, const ast::Definition& definition) {
  const TypeId named = types_.read(source.type);
  const Annotations notes =
      named == TypeId::none ? Annotations() : analysis_.annotations.check(definition.annotations, Target::alias);
  for (const ast::Declarator& declarator : source.declarators)
    make_alias(types_.read_declarator(named, declarator), declarator.name, notes);
}

void DeclarationReader::make_alias(TypeId aliased, const ast::Identifier& name, const Annotations& notes) {
  Symbol& symbol = analysis_.names.declare(aliased == TypeId::none ? SymbolKind::unusable : SymbolKind::alias, name);
  if (aliased == TypeId::none) return;
  analysis_.builder.add(symbol, name, notes);
  symbol.type = analysis_.types.alias(symbol.definition, aliased);
  analysis_.model[symbol.definition].type = symbol.type;
  analysis_.model[symbol.definition].body = Alias{aliased};
}

void DeclarationReader::read(const ast::Native&, const ast::Definition& definition) {
  Symbol& symbol = analysis_.names.declare(SymbolKind::native, definition.name);
  const DefId id = analysis_.add(symbol, definition, Target::native);
  analysis_.builder.make_type(symbol, TypeKind::native, id);
  analysis_.model[id].body = Native{};
}

void DeclarationReader::read(const ast::Constant& constant, const ast::Definition& definition) {
  const auto* fixed = std::get_if<ast::FixedOf>(&constant.type.node);
  types_.check_named(constant.type);
  const bool any_fixed = fixed != nullptr && fixed->digits == nullptr;
  Constant body{.type = any_fixed ? analysis_.types.basic(TypeKind::fixed) : types_.read(constant.type), .value = {}};
  std::optional<Value> value;
  if (body.type != TypeId::none && analysis_.constants.check_type(body.type, constant.type.span)) {
    const std::size_t errors = analysis_.diagnostics.errors();
    value = analysis_.constants.evaluate(*constant.value, body.type);
    if (analysis_.diagnostics.errors() == errors) body.refers_to = analysis_.constants.named_constant(*constant.value);
  }
  Symbol& symbol = analysis_.names.declare(value ? SymbolKind::constant : SymbolKind::unusable, definition.name);
  if (!value) return;
  if (any_fixed) {
    const auto& decimal = std::get<Decimal>(*value);
    const auto digits = std::max(static_cast<std::uint16_t>(decimal.digits.size()), decimal.scale);
    body.type = analysis_.types.anonymous({.kind = TypeKind::fixed, .digits = digits, .scale = decimal.scale});
  }
  body.value = *std::move(value);
  const DefId id = analysis_.add(symbol, definition, Target::constant);
  analysis_.model[id].body = std::move(body);
}

void DeclarationReader::read(const ast::ValueBox& box, const ast::Definition& definition) {
  const ValueBox body{.boxed = types_.read(box.type)};  // first: a type that is defined inside it comes before the box
  Symbol& symbol = analysis_.names.declare(SymbolKind::value_box, definition.name);
  const DefId id = analysis_.add(symbol, definition, Target::value);
  if (body.boxed != TypeId::none) {
    const TypeKind kind = analysis_.model.resolved(body.boxed).kind;
    if (kind == TypeKind::value || kind == TypeKind::value_box || kind == TypeKind::value_base)
      analysis_.diagnostics.error(box.type.span, "a value box cannot hold a valuetype");
    locals_.check_state(body.boxed, box.type.span, "value");
  }
  analysis_.builder.make_type(symbol, TypeKind::value_box, id);
  analysis_.model[id].body = body;
}

}  // namespace corelane::idl
