#include "idl/sema/analyzer/interface_reader.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace corelane::idl {
namespace {

constexpr std::string_view kind_names[] = {"unconstrained", "abstract", "local"};

std::string_view name_of(InterfaceKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

}  // namespace

void InterfaceReader::read(const ast::ForwardInterface& forward, const ast::Definition& definition) {
  forwards_.add(SymbolKind::interface, TypeKind::interface, Target::interface, static_cast<std::uint8_t>(forward.kind),
                definition);
}

void InterfaceReader::read(const ast::Interface& source, const ast::Definition& definition) {
  Symbol& symbol = forwards_.declare_or_complete(SymbolKind::interface, definition.name);
  forwards_.check_flavour(symbol, static_cast<std::uint8_t>(source.kind), definition.name.span);
  const DefId id = analysis_.add(symbol, definition, Target::interface);
  analysis_.builder.make_type(symbol, TypeKind::interface, id);
  analysis_.model[id].body = Interface{.bases = {},
                                       .ancestors = {},
                                       .contents = {},
                                       .operations = {},
                                       .attributes = {},
                                       .kind = static_cast<InterfaceKind>(source.kind)};
  Scope& inside = analysis_.names.inside(symbol, Scope::Kind::interface);
  symbol.defined = false;
  add_bases(source, id, inside);
  std::vector<DefId> contents;
  {
    const OpenDefinition open(analysis_.builder, id, symbol, definition.keyword.source, contents);
    definitions_.read_all(source.body);
  }
  symbol.defined = true;
  std::get<Interface>(analysis_.model[id].body).contents = std::move(contents);
}

void InterfaceReader::add_bases(const ast::Interface& source, DefId id, Scope& scope) {
  for (const ast::ScopedName& name : source.bases) {
    const Symbol* found = inheritance_.base(name, SymbolKind::interface, scope);
    if (found == nullptr) continue;
    auto& interface = std::get<Interface>(analysis_.model[id].body);
    if (std::ranges::find(interface.bases, found->definition) != interface.bases.end()) {
      analysis_.diagnostics.error(name.span, quoted(found->name) + " is a base twice");
      continue;
    }
    check_base_kind(interface, *scope.symbol, *found, name.span);
    interface.bases.push_back(found->definition);
    scope.add_base(*found->inside);
    inheritance_.inherit(*found, interface.ancestors, scope, name.span);
  }
}

// An abstract interface may have only abstract bases. An unconstrained interface may have no local base; if it has one,
// it is treated as local and a warning is given.
void InterfaceReader::check_base_kind(Interface& derived, Symbol& symbol, const Symbol& base, const Span& at) {
  const InterfaceKind kind = derived.kind;
  const InterfaceKind of_base = std::get<Interface>(analysis_.model[base.definition].body).kind;
  const bool allowed = kind == InterfaceKind::local || of_base == InterfaceKind::abstract ||
                       (kind == InterfaceKind::unconstrained && of_base == InterfaceKind::unconstrained);
  if (allowed) return;
  std::string message = "an " + std::string(name_of(kind)) + " interface cannot inherit from the " +
                        std::string(name_of(of_base)) + " interface " + quoted(base.name);
  const bool becomes_local = kind == InterfaceKind::unconstrained && of_base == InterfaceKind::local;
  Diagnostic& fault = becomes_local ? analysis_.diagnostics.warning(Warning::lenient, at, std::move(message))
                                    : analysis_.diagnostics.error(at, std::move(message));
  fault.note(base.span, "declared here");
  if (!becomes_local) return;
  derived.kind = InterfaceKind::local;
  symbol.flavour = static_cast<std::uint8_t>(InterfaceKind::local);
}

}  // namespace corelane::idl
