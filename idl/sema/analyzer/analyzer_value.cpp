// Reads value types. Section: OMG IDL 4.2, 7.4.5 and 7.4.7.
#include <algorithm>
#include <utility>

#include "idl/sema/analyzer/analyzer.h"

namespace corelane::idl {

void Analyzer::visit(const ast::ForwardValue& forward, const ast::Definition& definition) {
  add_forward(SymbolKind::value, TypeKind::value, Target::value, forward.abstract ? 1 : 0, definition);
}

void Analyzer::visit(const ast::Valuetype& source, const ast::Definition& definition) {
  Symbol& symbol = declare_or_complete(SymbolKind::value, definition.name);
  check_flavour(symbol, source.kind == ast::ValueKind::abstract ? 1 : 0, definition.name.span);
  const DefId id = add(symbol, definition.name, annotations_.check(definition.annotations, Target::value));
  make_type(symbol, TypeKind::value, id);
  Valuetype empty;
  empty.kind = static_cast<ValueKind>(source.kind);
  empty.truncatable = source.truncatable.has_value();
  model_[id].body = std::move(empty);
  Scope& inside = names_.inside(symbol, Scope::Kind::interface);
  symbol.defined = false;
  add_bases(source, id, inside);
  add_supports(source, id, inside);
  std::vector<DefId> contents = contents_of(definition, source.body, symbol, id, inside);
  symbol.defined = true;
  std::get<Valuetype>(model_[id].body).contents = std::move(contents);
}

void Analyzer::add_bases(const ast::Valuetype& source, DefId id, Scope& scope) {
  if (source.truncatable && source.kind != ast::ValueKind::concrete)
    diagnostics_.error(*source.truncatable, "only a valuetype that is neither custom nor abstract is truncatable");
  for (const ast::ScopedName& name : source.bases) {
    const Symbol* found = base(name, SymbolKind::value, scope);
    if (found == nullptr) continue;
    auto& body = std::get<Valuetype>(model_[id].body);
    if (std::find(body.bases.begin(), body.bases.end(), found->definition) != body.bases.end()) {
      diagnostics_.error(name.span, quoted(found->name) + " is a base twice");
      continue;
    }
    check_base_kind(source, std::get<Valuetype>(model_[found->definition].body), found->name, body.bases.empty(),
                    name.span);
    body.bases.push_back(found->definition);
    scope.add_base(*found->inside);
    inherit(*found, body.ancestors, scope, name.span);
  }
}

void Analyzer::check_base_kind(const ast::Valuetype& source, const Valuetype& base, const std::string& name, bool first,
                               const Span& at) {
  if (base.kind == ValueKind::abstract) {
    if (first && source.truncatable)
      diagnostics_.error(*source.truncatable, "nothing can be truncated to the abstract valuetype " + quoted(name));
    return;
  }
  if (source.kind == ast::ValueKind::abstract) {
    diagnostics_.error(at, "an abstract valuetype inherits only from abstract ones; " + quoted(name) + " has state");
  } else if (!first) {
    diagnostics_.error(at, quoted(name) + " has state, so it is the first base or none");
  } else if (base.kind == ValueKind::custom && source.kind != ast::ValueKind::custom) {
    diagnostics_.error(at, quoted(name) + " is custom, so what inherits from it is custom too");
  }
}

void Analyzer::add_supports(const ast::Valuetype& source, DefId id, Scope& scope) {
  std::vector<DefId> ancestors;
  for (const ast::ScopedName& name : source.supports) {
    const Symbol* found = base(name, SymbolKind::interface, scope);
    if (found == nullptr) continue;
    auto& body = std::get<Valuetype>(model_[id].body);
    const auto is_abstract = [&](DefId interface) {
      return std::get<Interface>(model_[interface].body).kind == InterfaceKind::abstract;
    };
    const bool has_one = !std::all_of(body.supports.begin(), body.supports.end(), is_abstract);
    if (std::find(body.supports.begin(), body.supports.end(), found->definition) != body.supports.end()) {
      diagnostics_.error(name.span, quoted(found->name) + " is supported twice");
      continue;
    }
    if (has_one && !is_abstract(found->definition))
      diagnostics_.error(name.span, "a valuetype supports at most one interface that is not abstract");
    body.supports.push_back(found->definition);
    scope.add_base(*found->inside);
    inherit(*found, ancestors, scope, name.span);
  }
}

void Analyzer::visit(const ast::ValueBox& box, const ast::Definition& definition) {
  const ValueBox body{.boxed = type(box.type)};  // first: a type that is defined inside it comes before the box
  Symbol& symbol = names_.declare(SymbolKind::value_box, definition.name);
  const DefId id = add(symbol, definition.name, annotations_.check(definition.annotations, Target::value));
  if (body.boxed != TypeId::none) {
    const TypeKind kind = model_.resolved(body.boxed).kind;
    if (kind == TypeKind::value || kind == TypeKind::value_box || kind == TypeKind::value_base)
      diagnostics_.error(box.type.span, "a value box cannot hold a valuetype");
    check_state(body.boxed, box.type.span, "value");
  }
  make_type(symbol, TypeKind::value_box, id);
  model_[id].body = body;
}

void Analyzer::visit(const ast::State& state, const ast::Definition& definition) {
  if (open_value().kind == ValueKind::abstract)
    diagnostics_.error(definition.keyword, "an abstract valuetype has no state");
  const ast::Member& source = state.member;
  const MemberNotes notes = notes_of_member(definition.annotations, Target::member);
  const TypeId of = complete_type(source.type, notes.all);
  check_state(of, source.type.span, "state");
  for (const ast::Declarator& declarator : source.declarators) {
    names_.declare(SymbolKind::member, declarator.name);
    Member member{.name = declarator.name.text,
                  .type = array_of(of, declarator),
                  .annotations = notes.all,
                  .place = place_of(declarator.name.span)};
    apply(notes, member);
    open_value().state.push_back({std::move(member), state.is_public});
  }
}

void Analyzer::visit(const ast::Factory& factory, const ast::Definition& definition) {
  if (open_value().kind == ValueKind::abstract)
    diagnostics_.error(definition.keyword, "an abstract valuetype has no factories");
  Symbol& symbol = names_.declare(SymbolKind::factory, definition.name);
  symbol.definition = scope_;
  symbol.index = static_cast<std::uint32_t>(open_value().factories.size());
  Factory result;
  result.name = definition.name.text;
  result.place = place_of(definition.name.span);
  result.annotations = annotations_.check(definition.annotations, Target::factory);
  for (const ast::Parameter& item : factory.parameters)
    if (item.direction != ast::Direction::in)
      diagnostics_.error(item.direction_span, "a factory has only `in` parameters");
  result.parameters = parameters(factory.parameters);
  result.raises = exceptions(factory.raises);
  result.repository_id = ids_.make(definition.name);
  open_value().factories.push_back(std::move(result));
}

}  // namespace corelane::idl
