#include "idl/sema/definitions/forward_declarations.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace corelane::idl {

void ForwardDeclarations::add(SymbolKind kind, TypeKind type_kind, Target target, std::uint8_t flavour,
                              const ast::Definition& definition) {
  Names& names = analysis_.names;
  const ast::Identifier& name = definition.name;
  Annotations notes = analysis_.annotations.check(definition.annotations, target);
  if (names.current().scoped(name.text) == "CORBA::TypeCode") {
    if (names.current().find_own(name.text) == nullptr)
      names.declare(kind, name).type = analysis_.types.basic(TypeKind::type_code);
    return;
  }
  Symbol* symbol = names.current().find_own(name.text);
  const bool known = symbol != nullptr && symbol->kind == kind && symbol->name == name.text;
  if (known) {
    check_flavour(*symbol, flavour, name.span);
  } else {
    symbol = &names.declare(kind, name);
    symbol->flavour = flavour;
    symbol->defined = false;
    analysis_.builder.make_forward_type(*symbol, type_kind);
    analysis_.ids.declare_forward(*symbol, name);
  }
  const DefId defined = symbol->definition;
  const DefId id = analysis_.builder.add(*symbol, name, std::move(notes));
  symbol->definition = defined;
  analysis_.model[id].body = Forward{};
  declarations_.push_back({id, symbol, name.span, !known});
}

Symbol& ForwardDeclarations::declare_or_complete(SymbolKind kind, const ast::Identifier& name) {
  Symbol* earlier = analysis_.names.current().find_own(name.text);
  const bool completes =
      earlier != nullptr && earlier->kind == kind && earlier->name == name.text && earlier->definition == DefId::none;
  return completes ? *earlier : analysis_.names.declare(kind, name);
}

void ForwardDeclarations::check_flavour(Symbol& symbol, std::uint8_t flavour, const Span& at) {
  if (!analysis_.ids.is_declared_forward(symbol) && symbol.definition == DefId::none) {
    symbol.flavour = flavour;
    return;
  }
  if (symbol.flavour == flavour) return;
  analysis_.diagnostics.error(at, quoted(symbol.name) + " was declared differently before (abstract, local or neither)")
      .note(symbol.span, "declared here");
}

// CORBA 3.3 part 1, 7.11.2.3: a struct or union must be defined in the file that declares it. The C++ code of that file
// alone contains sequences of the type, so it needs the definition.
void ForwardDeclarations::check_file(const Symbol& symbol, DefId id) {
  const Model& model = analysis_.model;
  const auto first = std::find_if(declarations_.begin(), declarations_.end(),
                                  [&](const Declaration& use) { return use.symbol == &symbol && use.is_first; });
  if (first == declarations_.end() || model[first->definition].file == model[id].file) return;
  const Place& place = model[id].place;
  analysis_.diagnostics
      .error(analysis_.sources.span(static_cast<SourceId>(place.file), place.line, place.column, place.length),
             quoted(symbol.name) +
                 " is declared in another file, which must define it as well (include this file there, "
                 "or move the definition)")
      .note(first->span, "declared here");
}

void ForwardDeclarations::finish() {
  for (const Declaration& declaration : declarations_) {
    const Symbol& symbol = *declaration.symbol;
    Definition& definition = analysis_.model[declaration.definition];
    definition.type = symbol.type;
    if (!symbol.defined) {
      finish_undefined(declaration);
      continue;
    }
    definition.body = Forward{symbol.definition};
    if (symbol.definition != DefId::none) definition.repository_id = analysis_.model[symbol.definition].repository_id;
  }
}

void ForwardDeclarations::finish_undefined(const Declaration& declaration) {
  const Symbol& symbol = *declaration.symbol;
  Model& model = analysis_.model;
  if (symbol.kind == SymbolKind::interface)
    std::get<Forward>(model[declaration.definition].body).kind = static_cast<InterfaceKind>(symbol.flavour);
  if (!declaration.is_first) return;
  const std::string message = quoted(symbol.name) + " is declared here and never defined";
  if (symbol.kind == SymbolKind::interface || symbol.kind == SymbolKind::value) {
    model[symbol.type].definition = declaration.definition;
    analysis_.diagnostics.warning(Warning::forward, declaration.span, message);
  } else {
    analysis_.diagnostics.error(declaration.span, message);
  }
}

}  // namespace corelane::idl
