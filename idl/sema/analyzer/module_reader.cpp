#include "idl/sema/analyzer/module_reader.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace corelane::idl {

void ModuleReader::read(const ast::Module& module, const ast::Definition& definition) {
  Symbol* symbol = analysis_.names.current().find_own(definition.name.text);
  const bool reopens = symbol != nullptr && symbol->kind == SymbolKind::module && symbol->name == definition.name.text;
  if (!reopens) symbol = &analysis_.names.declare(SymbolKind::module, definition.name);
  if (std::exchange(symbol->announced, false)) symbol->span = definition.name.span;
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
    definitions_.read_all(module.body);
  }
  if (emits) analysis_.model[id].body = std::move(body);
}

// Types inside the declaration belong to the annotation, so they are in no list of contents.
void ModuleReader::read(const ast::AnnotationDeclaration& declaration, const ast::Definition& definition) {
  const auto declare = [&] {
    Symbol& symbol = analysis_.names.declare(SymbolKind::annotation, definition.name);
    std::vector<DefId> unlisted;
    Scope& inside = analysis_.names.inside(symbol, Scope::Kind::module);
    inside.own_name.clear();  // @value has a parameter `value`
    const OpenScope open(analysis_.names, inside);
    {
      const OpenContents list(analysis_.builder, unlisted);
      definitions_.read_all(declaration.body);
    }
    std::vector<TypeId> types;
    for (const auto& parameter : declaration.parameters) types.push_back(types_.read(parameter.type));
    symbol.annotation = analysis_.annotations.rules(declaration, types, definition.annotations);
  };
  if (!declaration.standard) return declare();
  const OpenScope open(analysis_.names, analysis_.names.standard_scope());
  declare();
}

void ModuleReader::read(const ast::Import& import, const ast::Definition&) {
  const Symbol* symbol = analysis_.names.resolve(import.name);  // only #include reads files
  if (symbol == nullptr || symbol->kind == SymbolKind::unusable || symbol->inside != nullptr) return;
  report_kind(analysis_.diagnostics, import.name, *symbol, "a module, interface or valuetype");
}

void ModuleReader::read(const ast::IdDirective& directive, const ast::Definition& definition) {
  analysis_.ids.apply(directive, definition.keyword);
}

}  // namespace corelane::idl
