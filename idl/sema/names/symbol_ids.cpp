#include "idl/sema/names/symbol_ids.h"

#include <string_view>
#include <utility>
#include <variant>

namespace corelane::idl {
namespace {

using Kind = ast::IdDirective::Kind;

std::string with_version(const std::string& id, const std::string& version) {
  return id.substr(0, id.rfind(':') + 1) + version;
}

// Makes the ids of a definition and of the features that it contains anew, with that prefix.
void renew_ids(Definition& definition, std::string_view prefix) {
  const auto renew = [&](std::string& id, const std::string& scoped_name) {
    id = RepositoryIds::spell(prefix, scoped_name);
  };
  renew(definition.repository_id, definition.scoped_name);
  const std::string inside = definition.scoped_name + "::";
  const auto renew_features = [&](auto& features) {
    for (auto& feature : features) renew(feature.repository_id, inside + feature.name);
  };
  if (auto* interface = std::get_if<Interface>(&definition.body)) {
    renew_features(interface->operations);
    renew_features(interface->attributes);
  } else if (auto* value = std::get_if<Valuetype>(&definition.body)) {
    renew_features(value->operations);
    renew_features(value->attributes);
    renew_features(value->factories);
  } else if (auto* enumeration = std::get_if<Enumeration>(&definition.body)) {
    for (Enumerator& enumerator : enumeration->enumerators) renew(enumerator.repository_id, enumerator.scoped_name);
  }
}

// Returns where the model keeps the id of a symbol; null for members, and while the symbol is only declared forward.
std::string* id_of(Model& model, const Symbol& symbol) {
  if (symbol.definition == DefId::none) return nullptr;
  Definition& definition = model[symbol.definition];
  const auto feature = [&](auto& list) -> std::string* {
    return symbol.index < list.size() ? &list[symbol.index].repository_id : nullptr;
  };
  auto* interface = std::get_if<Interface>(&definition.body);
  auto* value = std::get_if<Valuetype>(&definition.body);
  auto* enumeration = std::get_if<Enumeration>(&definition.body);
  switch (symbol.kind) {
    case SymbolKind::enumerator:
      return enumeration != nullptr ? feature(enumeration->enumerators) : nullptr;
    case SymbolKind::operation:
      return interface != nullptr ? feature(interface->operations) : feature(value->operations);
    case SymbolKind::attribute:
      return interface != nullptr ? feature(interface->attributes) : feature(value->attributes);
    case SymbolKind::factory:
      return feature(value->factories);
    default:
      return &definition.repository_id;
  }
}

}  // namespace

std::string SymbolIds::make(const ast::Identifier& name) const {
  return prefixes_.make(name.span.source, names_.current().scoped(name.text));
}

void SymbolIds::define(const Symbol& symbol, const ast::Identifier& name) {
  const std::string& id = model_[symbol.definition].repository_id;
  const auto forward = forward_ids_.find(&symbol);
  if (forward != forward_ids_.end() && forward->second != id)
    diagnostics_
        .error(name.span, "the id of " + quoted(name.text) + " would be \"" + id +
                              "\" here; another prefix is in effect than at its first declaration")
        .note(symbol.span, "first declared here, as \"" + forward->second + "\"");
  apply_explicit_id(symbol);
}

void SymbolIds::apply(const ast::IdDirective& directive, const Span& at) {
  if (directive.kind == Kind::pragma_prefix) {
    prefixes_.set_prefix(at.source, directive.argument, names_.current().path);
    return;
  }
  if (directive.kind == Kind::typeprefix) announce_module(directive.target);
  const bool is_pragma = directive.kind != Kind::typeprefix && directive.kind != Kind::type_id;
  if (is_pragma && directive.target.parts.size() == 1 && !names_.is_known(directive.target.parts[0].text)) {
    diagnostics_.warning(Warning::lenient, at,
                         quoted(directive.target.parts[0].text) + " is not declared, so this has no effect");
    return;
  }
  const Symbol* symbol = names_.resolve(directive.target);
  if (symbol == nullptr || symbol->kind == SymbolKind::unusable) return;
  if (directive.kind == Kind::typeprefix)
    set_type_prefix(*symbol, directive, at);
  else
    set_explicit_id(*symbol, directive, at);
}

// Declares a module that a typeprefix names before the module is opened, as the OMG's own orb.idl does.
void SymbolIds::announce_module(const ast::ScopedName& name) {
  const bool is_new = name.parts.size() == 1 && names_.current().kind == Scope::Kind::file &&
                      names_.current().find_own(name.parts.front().text) == nullptr;
  if (!is_new) return;
  Symbol& symbol = names_.declare(SymbolKind::module, name.parts.front());
  names_.inside(symbol, Scope::Kind::module);
  symbol.announced = true;
  announced_.push_back(&symbol);
}

void SymbolIds::finish() {
  for (const Symbol* module : announced_) {
    if (!module->announced) continue;
    Diagnostic& fault = diagnostics_.error(module->span, quoted(module->name) + " is not declared");
    const Symbol* const other = names_.file_scope().find_own(module->name);
    if (other == module) continue;
    fault.note(other->span, quoted(other->name) + " is declared here, as " + std::string(article_name(other->kind)));
  }
}

// Sets the prefix for everything in the scope, including what was declared earlier.
void SymbolIds::set_type_prefix(const Symbol& symbol, const ast::IdDirective& directive, const Span& at) {
  if (symbol.inside == nullptr && is_declared_forward(symbol)) {
    diagnostics_.error(at, quoted(symbol.name) + " is not defined yet, so it has nothing inside that the prefix is for")
        .note(symbol.span, "declared here");
    return;
  }
  if (symbol.inside == nullptr) {
    report_kind(diagnostics_, directive.target, symbol, "a module, interface or the like");
    return;
  }
  const std::string* earlier = prefixes_.type_prefix(symbol);
  if (earlier != nullptr && *earlier == directive.argument) return;
  if (earlier != nullptr) {
    diagnostics_.warning(Warning::lenient, at, quoted(symbol.name) + " already has the prefix \"" + *earlier + "\"");
  }
  prefixes_.set_type_prefix(symbol, directive.argument);
  const std::string& path = symbol.inside->path;
  for (auto& [forward, id] : forward_ids_) {
    const std::string scoped_name = forward->owner->scoped(forward->name);
    if (scoped_name.starts_with(path + "::")) id = RepositoryIds::spell(directive.argument, scoped_name);
  }
  for (Definition& definition : model_.definitions)
    if (definition.scoped_name == path || definition.scoped_name.starts_with(path + "::"))
      renew_ids(definition, directive.argument);
  for (const auto& [known, id] : explicit_ids_) apply_explicit_id(*known);
}

void SymbolIds::set_explicit_id(const Symbol& symbol, const ast::IdDirective& directive, const Span& at) {
  const bool versions = directive.kind == Kind::pragma_version;
  if (!versions && directive.argument.find(':') == std::string::npos) {
    diagnostics_.error(at, "a repository id has the form \"format:text\"");
    return;
  }
  ExplicitId& known = explicit_ids_[&symbol];
  std::string& slot = versions ? known.version : known.id;
  std::string earlier = slot;
  if (versions && earlier.empty() && !known.id.empty()) earlier = known.id.substr(known.id.rfind(':') + 1);
  if (!earlier.empty() && earlier != directive.argument) {
    diagnostics_
        .error(at,
               quoted(symbol.name) + " already has the " + (versions ? "version " : "repository id ") + quoted(earlier))
        .note(known.span, "given here");
    return;
  }
  slot = directive.argument;
  known.span = at;
  apply_explicit_id(symbol);
}

// Applies what directives have said about a symbol, if the model already has the definition.
void SymbolIds::apply_explicit_id(const Symbol& symbol) {
  const auto known = explicit_ids_.find(&symbol);
  std::string* id = known == explicit_ids_.end() ? nullptr : id_of(model_, symbol);
  if (id == nullptr) return;
  if (!known->second.id.empty()) *id = known->second.id;
  if (!known->second.version.empty()) *id = with_version(*id, known->second.version);
}

}  // namespace corelane::idl
