#include "idl/sema/definitions/inheritance.h"

#include <algorithm>
#include <string>
#include <variant>

namespace corelane::idl {

const Symbol* Inheritance::base(const ast::ScopedName& name, SymbolKind kind, const Scope& derived) {
  const Symbol* found = analysis_.names.resolve(name);
  if (found == nullptr || found->kind == SymbolKind::unusable) return nullptr;
  if (found->kind == SymbolKind::alias) {
    const Symbol* const target = analysis_.builder.symbol_of(analysis_.model[found->type].resolved);
    if (target != nullptr) found = target;
  }
  if (found->kind != kind) {
    report_kind(analysis_.diagnostics, name, *found, article_name(kind));
    return nullptr;
  }
  if (found->defined && found->inside != nullptr) {
    if (found->inside->depth < Scope::deepest_inheritance) return found;
    analysis_.diagnostics.error(name.span, "inheritance is nested too deeply");
    return nullptr;
  }
  const bool itself = found->inside.get() == &derived;
  analysis_.diagnostics
      .error(name.span, quoted(found->name) + (itself ? " cannot inherit from itself" : " is not defined yet"))
      .note(found->span, "declared here");
  return nullptr;
}

void Inheritance::inherit(const Symbol& base, std::vector<DefId>& ancestors, Scope& scope, const Span& at) {
  const auto above = [&]() -> std::vector<DefId> {
    const Definition& definition = analysis_.model[base.definition];
    if (const auto* interface = std::get_if<Interface>(&definition.body)) return interface->ancestors;
    return std::get<Valuetype>(definition.body).ancestors;
  };
  const auto add_one = [&](DefId ancestor) {
    if (std::ranges::find(ancestors, ancestor) == ancestors.end()) ancestors.push_back(ancestor);
  };
  for (const DefId ancestor : above()) add_one(ancestor);
  add_one(base.definition);
  inherit_names(base, scope, at);
}

void Inheritance::inherit_names(const Symbol& ancestor, Scope& scope, const Span& at) {
  const auto take = [&](const std::string& key, const Symbol* feature) {
    const auto [entry, is_new] = scope.inherited.try_emplace(key, feature);
    if (is_new || entry->second == feature) return;
    analysis_.diagnostics
        .error(at, quoted(feature->name) + " is inherited from both " + quoted(entry->second->owner->path) + " and " +
                       quoted(feature->owner->path))
        .note(entry->second->span, "one is declared here")
        .note(feature->span, "another is declared here");
  };
  for (const auto& [key, feature] : ancestor.inside->inherited) take(key, feature);
  for (const auto& [key, feature] : ancestor.inside->symbols) {
    const bool is_feature = feature->kind == SymbolKind::operation || feature->kind == SymbolKind::attribute ||
                            feature->kind == SymbolKind::member;
    if (is_feature) take(key, feature.get());
  }
}

}  // namespace corelane::idl
