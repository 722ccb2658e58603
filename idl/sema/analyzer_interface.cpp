#include <algorithm>
#include <utility>

#include "idl/sema/analyzer.h"

namespace corelane::idl {

void Analyzer::visit(const ast::ForwardInterface&, const ast::Definition& definition) {
  add_forward(SymbolKind::interface, TypeKind::interface, definition);
}

void Analyzer::visit(const ast::Interface& source, const ast::Definition& definition) {
  Symbol& symbol = declare_or_complete(SymbolKind::interface, definition.name);
  symbol.defined = false;
  const DefId id = add(definition.name, definition.annotations);
  make_type(symbol, TypeKind::interface, id);
  Scope& inside = names_.inside(symbol, Scope::Kind::interface);

  OpenInterface open;
  OpenInterface* const outer_interface = std::exchange(interface_, &open);
  const DefId outer = std::exchange(scope_, id);
  add_bases(source, inside);
  ids_.enter(definition.keyword.source);
  {
    const OpenScope scope(names_, inside);
    walk(source.body, open.interface.contents);
  }
  ids_.leave();
  scope_ = outer;
  interface_ = outer_interface;
  symbol.defined = true;
  model_[id].body = std::move(open.interface);
}

void Analyzer::add_bases(const ast::Interface& source, Scope& scope) {
  for (const ast::ScopedName& name : source.bases) add_base(name, scope);
}

void Analyzer::add_base(const ast::ScopedName& name, Scope& scope) {
  const Symbol* base = names_.resolve(name);
  if (base == nullptr || base->kind == SymbolKind::unusable) return;
  if (base->kind != SymbolKind::interface) {
    diagnostics_
        .error(name.span,
               quoted(ast::to_string(name)) + " is " + std::string(article_name(base->kind)) + ", not an interface")
        .note(base->span, "declared here");
    return;
  }
  if (!base->defined) {
    const bool itself = base->inside.get() == &scope;
    diagnostics_.error(name.span, quoted(base->name) + (itself ? " cannot inherit from itself" : " is not defined yet"))
        .note(base->span, "declared here");
    return;
  }
  Interface& interface = interface_->interface;
  if (std::find(interface.bases.begin(), interface.bases.end(), base->definition) != interface.bases.end()) {
    diagnostics_.error(name.span, quoted(base->name) + " is a base twice");
    return;
  }
  interface.bases.push_back(base->definition);
  scope.bases.push_back(base->inside.get());
  const std::vector<DefId> above = std::get<Interface>(model_[base->definition].body).ancestors;
  for (const DefId ancestor : above) add_ancestor(ancestor, name.span);
  add_ancestor(base->definition, name.span);
}

// Once for each ancestor, whichever ways lead to it.
void Analyzer::add_ancestor(DefId ancestor, const Span& at) {
  std::vector<DefId>& known = interface_->interface.ancestors;
  if (std::find(known.begin(), known.end(), ancestor) != known.end()) return;
  known.push_back(ancestor);
  const Symbol* symbol = by_type_.at(model_[ancestor].type);
  for (const auto& [key, feature] : symbol->inside->symbols) {
    if (feature->kind != SymbolKind::operation && feature->kind != SymbolKind::attribute) continue;
    const auto [entry, is_new] = interface_->inherited.try_emplace(key, feature.get());
    if (is_new) continue;
    diagnostics_
        .error(at, quoted(feature->name) + " is inherited from both " + quoted(entry->second->owner->path) + " and " +
                       quoted(feature->owner->path))
        .note(entry->second->span, "one is declared here")
        .note(feature->span, "another is declared here");
  }
}

// Declares an operation or attribute, whose name must be new to the ancestors too.
Symbol& Analyzer::declare_feature(SymbolKind kind, const ast::Identifier& name) {
  const auto inherited = interface_->inherited.find(lower_case(name.text));
  if (inherited != interface_->inherited.end()) {
    const Symbol& earlier = *inherited->second;
    const std::string what(article_name(earlier.kind));
    diagnostics_
        .error(name.span, quoted(name.text) + " is already " + what + " of the base " + quoted(earlier.owner->path))
        .note(earlier.span, "declared here");
  }
  return names_.declare(kind, name);
}

void Analyzer::visit(const ast::Operation& source, const ast::Definition& definition) {
  Operation result;
  result.name = definition.name.text;
  result.place = place_of(definition.name.span);
  result.oneway = source.oneway.has_value();
  result.annotations = annotations_.check_operation(definition.annotations, result.contract);
  result.result = type(source.result);
  declare_feature(SymbolKind::operation, definition.name);
  {
    const OpenScope open(names_, Scope::Kind::operation, {});
    for (const ast::Parameter& item : source.parameters) result.parameters.push_back(parameter(item));
  }
  result.raises = exceptions(source.raises);
  if (result.oneway) check_oneway(source);
  interface_->interface.operations.push_back(std::move(result));
}

Parameter Analyzer::parameter(const ast::Parameter& source) {
  Parameter result;
  result.name = source.name.text;
  result.type = type(source.type);
  result.direction = static_cast<Direction>(source.direction);
  result.annotations = annotations_.check(source.annotations);
  result.place = place_of(source.name.span);
  names_.declare(SymbolKind::member, source.name);
  return result;
}

void Analyzer::check_oneway(const ast::Operation& source) {
  const auto* result = std::get_if<ast::BasicType>(&source.result.node);
  if (result == nullptr || *result != ast::BasicType::void_)
    diagnostics_.error(source.result.span, "a oneway operation returns `void`");
  for (const ast::Parameter& item : source.parameters)
    if (item.direction != ast::Direction::in)
      diagnostics_.error(item.direction_span, "a oneway operation has only `in` parameters");
  if (!source.raises.empty()) diagnostics_.error(source.raises.front().span, "a oneway operation raises no exceptions");
}

std::vector<DefId> Analyzer::exceptions(const std::vector<ast::ScopedName>& names) {
  std::vector<DefId> result;
  for (const ast::ScopedName& name : names) {
    const Symbol* symbol = names_.resolve(name);
    if (symbol == nullptr || symbol->kind == SymbolKind::unusable) continue;
    if (symbol->kind != SymbolKind::exception) {
      diagnostics_
          .error(name.span,
                 quoted(ast::to_string(name)) + " is " + std::string(article_name(symbol->kind)) + ", not an exception")
          .note(symbol->span, "declared here");
    } else if (std::find(result.begin(), result.end(), symbol->definition) != result.end()) {
      diagnostics_.warning(name.span, quoted(symbol->name) + " is listed twice");
    } else {
      result.push_back(symbol->definition);
    }
  }
  return result;
}

void Analyzer::visit(const ast::Attribute& source, const ast::Definition& definition) {
  Attribute result;
  result.type = type(source.type);
  result.readonly = source.readonly;
  result.get_raises = exceptions(source.get_raises);
  result.set_raises = exceptions(source.set_raises);
  result.annotations = annotations_.check(definition.annotations);
  const auto add_named = [&](const ast::Identifier& name) {
    declare_feature(SymbolKind::attribute, name);
    result.name = name.text;
    result.place = place_of(name.span);
    interface_->interface.attributes.push_back(result);
  };
  add_named(definition.name);
  for (const ast::Identifier& name : source.more) add_named(name);
}

}  // namespace corelane::idl
