#include "idl/sema/analyzer/valuetype_reader.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace corelane::idl {

void ValuetypeReader::read(const ast::ForwardValue& forward, const ast::Definition& definition) {
  forwards_.add(SymbolKind::value, TypeKind::value, Target::value, forward.abstract ? 1 : 0, definition);
}

void ValuetypeReader::read(const ast::Valuetype& source, const ast::Definition& definition) {
  Symbol& symbol = forwards_.declare_or_complete(SymbolKind::value, definition.name);
  forwards_.check_flavour(symbol, source.kind == ast::ValueKind::abstract ? 1 : 0, definition.name.span);
  const DefId id = analysis_.add(symbol, definition, Target::value);
  analysis_.builder.make_type(symbol, TypeKind::value, id);
  Valuetype empty;
  empty.kind = static_cast<ValueKind>(source.kind);
  empty.truncatable = source.truncatable.has_value();
  analysis_.model[id].body = std::move(empty);
  Scope& inside = analysis_.names.inside(symbol, Scope::Kind::interface);
  symbol.defined = false;
  add_bases(source, id, inside);
  add_supports(source, id, inside);
  std::vector<DefId> contents;
  {
    const OpenDefinition open(analysis_.builder, id, symbol, definition.keyword.source, contents);
    definitions_.read_all(source.body);
  }
  symbol.defined = true;
  std::get<Valuetype>(analysis_.model[id].body).contents = std::move(contents);
}

void ValuetypeReader::add_bases(const ast::Valuetype& source, DefId id, Scope& scope) {
  if (source.truncatable && source.kind != ast::ValueKind::concrete)
    analysis_.diagnostics.error(*source.truncatable,
                                "only a valuetype that is neither custom nor abstract is truncatable");
  for (const ast::ScopedName& name : source.bases) {
    const Symbol* found = inheritance_.base(name, SymbolKind::value, scope);
    if (found == nullptr) continue;
    auto& body = std::get<Valuetype>(analysis_.model[id].body);
    if (std::find(body.bases.begin(), body.bases.end(), found->definition) != body.bases.end()) {
      analysis_.diagnostics.error(name.span, quoted(found->name) + " is a base twice");
      continue;
    }
    check_base_kind(source, std::get<Valuetype>(analysis_.model[found->definition].body), found->name,
                    body.bases.empty(), name.span);
    body.bases.push_back(found->definition);
    scope.add_base(*found->inside);
    inheritance_.inherit(*found, body.ancestors, scope, name.span);
  }
}

void ValuetypeReader::check_base_kind(const ast::Valuetype& source, const Valuetype& base, const std::string& name,
                                      bool first, const Span& at) {
  if (base.kind == ValueKind::abstract) {
    if (first && source.truncatable)
      analysis_.diagnostics.error(*source.truncatable,
                                  "nothing can be truncated to the abstract valuetype " + quoted(name));
    return;
  }
  if (source.kind == ast::ValueKind::abstract) {
    analysis_.diagnostics.error(
        at, "an abstract valuetype inherits only from abstract ones; " + quoted(name) + " has state");
  } else if (!first) {
    analysis_.diagnostics.error(at, quoted(name) + " has state, so it is the first base or none");
  } else if (base.kind == ValueKind::custom && source.kind != ast::ValueKind::custom) {
    analysis_.diagnostics.error(at, quoted(name) + " is custom, so what inherits from it is custom too");
  }
}

void ValuetypeReader::add_supports(const ast::Valuetype& source, DefId id, Scope& scope) {
  std::vector<DefId> ancestors;
  for (const ast::ScopedName& name : source.supports) {
    const Symbol* found = inheritance_.base(name, SymbolKind::interface, scope);
    if (found == nullptr) continue;
    auto& body = std::get<Valuetype>(analysis_.model[id].body);
    const auto is_abstract = [&](DefId interface) {
      return std::get<Interface>(analysis_.model[interface].body).kind == InterfaceKind::abstract;
    };
    const bool has_one = !std::all_of(body.supports.begin(), body.supports.end(), is_abstract);
    if (std::find(body.supports.begin(), body.supports.end(), found->definition) != body.supports.end()) {
      analysis_.diagnostics.error(name.span, quoted(found->name) + " is supported twice");
      continue;
    }
    if (has_one && !is_abstract(found->definition))
      analysis_.diagnostics.error(name.span, "a valuetype supports at most one interface that is not abstract");
    body.supports.push_back(found->definition);
    scope.add_base(*found->inside);
    inheritance_.inherit(*found, ancestors, scope, name.span);
  }
}

}  // namespace corelane::idl
