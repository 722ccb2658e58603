// Reads value types. Section: OMG IDL 4.2, 7.4.5 and 7.4.7.
#include <algorithm>
#include <utility>

#include "idl/sema/analyzer/analyzer.h"

namespace corelane::idl {

void Analyzer::visit(const ast::ForwardValue& forward, const ast::Definition& definition) {
  forwards_.add(SymbolKind::value, TypeKind::value, Target::value, forward.abstract ? 1 : 0, definition);
}

void Analyzer::visit(const ast::Valuetype& source, const ast::Definition& definition) {
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
  std::vector<DefId> contents = contents_of(definition, source.body, symbol, id);
  symbol.defined = true;
  std::get<Valuetype>(analysis_.model[id].body).contents = std::move(contents);
}

void Analyzer::add_bases(const ast::Valuetype& source, DefId id, Scope& scope) {
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

void Analyzer::check_base_kind(const ast::Valuetype& source, const Valuetype& base, const std::string& name, bool first,
                               const Span& at) {
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

void Analyzer::add_supports(const ast::Valuetype& source, DefId id, Scope& scope) {
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

void Analyzer::visit(const ast::ValueBox& box, const ast::Definition& definition) {
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

void Analyzer::visit(const ast::State& state, const ast::Definition& definition) {
  if (open_value().kind == ValueKind::abstract)
    analysis_.diagnostics.error(definition.keyword, "an abstract valuetype has no state");
  const ast::Member& source = state.member;
  const MemberNotes notes = members_.read_notes(definition.annotations, Target::member);
  const TypeId type = types_.read_member(source.type, notes.all);
  locals_.check_state(type, source.type.span, "state");
  for (const ast::Declarator& declarator : source.declarators) {
    analysis_.names.declare(SymbolKind::member, declarator.name);
    Member member = members_.read_declarator(declarator, type, notes);
    open_value().state.push_back({std::move(member), state.is_public});
  }
}

void Analyzer::visit(const ast::Factory& factory, const ast::Definition& definition) {
  if (open_value().kind == ValueKind::abstract)
    analysis_.diagnostics.error(definition.keyword, "an abstract valuetype has no factories");
  Symbol& symbol = analysis_.names.declare(SymbolKind::factory, definition.name);
  symbol.definition = analysis_.builder.scope();
  symbol.index = static_cast<std::uint32_t>(open_value().factories.size());
  Factory result;
  result.name = definition.name.text;
  result.place = place_of(definition.name.span);
  result.annotations = analysis_.annotations.check(definition.annotations, Target::factory);
  for (const ast::Parameter& item : factory.parameters)
    if (item.direction != ast::Direction::in)
      analysis_.diagnostics.error(item.direction_span, "a factory has only `in` parameters");
  result.parameters = parameters(factory.parameters);
  result.raises = exceptions(factory.raises);
  result.repository_id = analysis_.ids.make(definition.name);
  open_value().factories.push_back(std::move(result));
}

}  // namespace corelane::idl
