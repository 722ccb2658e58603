#include "idl/sema/analyzer/analyzer.h"

#include <algorithm>
#include <utility>

#include "idl/sema/types/endless.h"

namespace corelane::idl {

Model Analyzer::run(const ast::Specification& specification) {
  copy_files();
  std::vector<DefId> contents;
  walk(specification.definitions, contents);
  analysis_.ids.finish();
  forwards_.finish();
  check_endless();
  analysis_.model.contents = std::move(contents);
  return std::move(analysis_.model);
}

void Analyzer::copy_files() {
  for (std::size_t i = 0; i < analysis_.sources.size(); ++i) {
    const Source& source = analysis_.sources[static_cast<SourceId>(i)];
    File file{.path = source.path, .include_path = source.include_path, .includes = {}};
    for (const SourceId included : source.includes) file.includes.push_back(static_cast<FileId>(included));
    file.include_lines = source.include_lines;
    file.is_main = i == 0;
    file.generates_code = !source.embedded && !source.is_part;
    analysis_.model.files.push_back(std::move(file));
  }
}

void Analyzer::read(const ast::Definition& definition) {
  std::visit([&](const auto& node) { visit(node, definition); }, definition.node);
}

// Visits each definition. New definitions of the model go to `contents`.
void Analyzer::walk(const ast::Definitions& definitions, std::vector<DefId>& contents) {
  const OpenContents open(analysis_.builder, contents);
  for (const auto& definition : definitions) read(*definition);
}

void Analyzer::visit(const ast::Module& module, const ast::Definition& definition) {
  Symbol* symbol = analysis_.names.current().find_own(definition.name.text);
  const bool reopens = symbol != nullptr && symbol->kind == SymbolKind::module && symbol->name == definition.name.text;
  if (!reopens) symbol = &analysis_.names.declare(SymbolKind::module, definition.name);
  Scope& inside = analysis_.names.inside(*symbol, Scope::Kind::module);
  inside.used.clear();  // each opening starts without uses

  Module body;
  DefId id = analysis_.builder.scope();
  const SourceId file = definition.keyword.source;
  // A module of the compiler's own files that only declares annotations has nothing for a back end.
  const bool emits = file == SourceId::none || !analysis_.sources[file].embedded ||
                     std::ranges::any_of(module.body, [](const auto& one) {
                       return !std::holds_alternative<ast::AnnotationDeclaration>(one->node);
                     });
  if (emits) {
    body.reopened = symbol->definition != DefId::none;
    id = analysis_.add(*symbol, definition, Target::module);
  }
  {
    const OpenDefinition open(analysis_.builder, id, *symbol, file, body.contents);
    walk(module.body, body.contents);
  }
  if (emits) analysis_.model[id].body = std::move(body);
}

void Analyzer::visit(const ast::Typedef& source, const ast::Definition& definition) {
  const TypeId named = types_.read(source.type);
  const Annotations notes =
      named == TypeId::none ? Annotations() : analysis_.annotations.check(definition.annotations, Target::alias);
  for (const ast::Declarator& declarator : source.declarators)
    make_alias(types_.read_declarator(named, declarator), declarator.name, notes);
}

void Analyzer::make_alias(TypeId aliased, const ast::Identifier& name, const Annotations& notes) {
  Symbol& symbol = analysis_.names.declare(aliased == TypeId::none ? SymbolKind::unusable : SymbolKind::alias, name);
  if (aliased == TypeId::none) return;
  analysis_.builder.add(symbol, name, notes);
  symbol.type = analysis_.types.alias(symbol.definition, aliased);
  analysis_.model[symbol.definition].type = symbol.type;
  analysis_.model[symbol.definition].body = Alias{aliased};
}

void Analyzer::visit(const ast::Native&, const ast::Definition& definition) {
  Symbol& symbol = analysis_.names.declare(SymbolKind::native, definition.name);
  const DefId id = analysis_.add(symbol, definition, Target::native);
  analysis_.builder.make_type(symbol, TypeKind::native, id);
  analysis_.model[id].body = Native{};
}

void Analyzer::visit(const ast::Constant& constant, const ast::Definition& definition) {
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

// Types inside the declaration belong to the annotation, so they are in no list of contents.
void Analyzer::visit(const ast::AnnotationDeclaration& declaration, const ast::Definition& definition) {
  const auto declare = [&] {
    Symbol& symbol = analysis_.names.declare(SymbolKind::annotation, definition.name);
    std::vector<DefId> unlisted;
    Scope& inside = analysis_.names.inside(symbol, Scope::Kind::module);
    inside.own_name.clear();  // @value has a parameter `value`
    const OpenScope open(analysis_.names, inside);
    walk(declaration.body, unlisted);
    std::vector<TypeId> types;
    for (const auto& parameter : declaration.parameters) types.push_back(types_.read(parameter.type));
    symbol.annotation = analysis_.annotations.rules(declaration, types, definition.annotations);
  };
  if (!declaration.standard) return declare();
  const OpenScope open(analysis_.names, analysis_.names.standard_scope());
  declare();
}

void Analyzer::visit(const ast::Import& import, const ast::Definition&) {
  const Symbol* symbol = analysis_.names.resolve(import.name);  // only #include reads files
  if (symbol == nullptr || symbol->kind == SymbolKind::unusable || symbol->inside != nullptr) return;
  report_kind(analysis_.diagnostics, import.name, *symbol, "a module, interface or valuetype");
}

void Analyzer::visit(const ast::IdDirective& directive, const ast::Definition& definition) {
  analysis_.ids.apply(directive, definition.keyword);
}

// Reports types that have no finite value, since no value of them could ever be sent.
void Analyzer::check_endless() {
  if (analysis_.diagnostics.errors() != 0) return;
  for (const Endless& cycle : endless_members(analysis_.model)) {
    const Place& place = cycle.member->place;
    const std::string& held = analysis_.model[cycle.held].name;
    analysis_.diagnostics.error(
        analysis_.sources.span(static_cast<SourceId>(place.file), place.line, place.column, place.length),
        "every " + quoted(held) + " would hold another " + quoted(held) +
            ", without end; make this member `@external @optional` or a `sequence<" + held + ", 1>`");
  }
}

}  // namespace corelane::idl
