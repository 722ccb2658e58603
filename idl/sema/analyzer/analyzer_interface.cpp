#include <algorithm>
#include <utility>

#include "idl/sema/analyzer/analyzer.h"

namespace corelane::idl {
namespace {

constexpr std::string_view kind_names[] = {"unconstrained", "abstract", "local"};

std::string_view name_of(InterfaceKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

bool contains(const std::vector<DefId>& list, DefId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

// Checks the name of a context property: a letter, then letters, digits, dots and underscores, and optionally a star at
// the end.
bool is_context_name(std::string_view text) {
  if (text.ends_with('*')) text.remove_suffix(1);
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_'; };
  return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), follows);
}

}  // namespace

void Analyzer::visit(const ast::ForwardInterface& forward, const ast::Definition& definition) {
  add_forward(SymbolKind::interface, TypeKind::interface, Target::interface, static_cast<std::uint8_t>(forward.kind),
              definition);
}

void Analyzer::visit(const ast::Interface& source, const ast::Definition& definition) {
  Symbol& symbol = declare_or_complete(SymbolKind::interface, definition.name);
  check_flavour(symbol, static_cast<std::uint8_t>(source.kind), definition.name.span);
  const DefId id = add(symbol, definition.name, annotations_.check(definition.annotations, Target::interface));
  make_type(symbol, TypeKind::interface, id);
  model_[id].body = Interface{.bases = {},
                              .ancestors = {},
                              .contents = {},
                              .operations = {},
                              .attributes = {},
                              .kind = static_cast<InterfaceKind>(source.kind)};
  Scope& inside = names_.inside(symbol, Scope::Kind::interface);
  symbol.defined = false;
  add_bases(source, id, inside);
  std::vector<DefId> contents = contents_of(definition, source.body, symbol, id, inside);
  symbol.defined = true;
  std::get<Interface>(model_[id].body).contents = std::move(contents);
}

// Reads what is in the braces of an interface or a value type.
std::vector<DefId> Analyzer::contents_of(const ast::Definition& definition, const ast::Definitions& body,
                                         const Symbol& symbol, DefId id, Scope& inside) {
  std::vector<DefId> contents;
  const DefId outer = std::exchange(scope_, id);
  ids_.enter(definition.keyword.source, symbol);
  {
    const OpenScope scope(names_, inside);
    walk(body, contents);
  }
  ids_.leave();
  scope_ = outer;
  return contents;
}

// Returns the complete definition of that kind which the name of a base refers to; null (reported) if there is none.
const Symbol* Analyzer::base(const ast::ScopedName& name, SymbolKind kind, const Scope& derived) {
  const Symbol* found = names_.resolve(name);
  if (found == nullptr || found->kind == SymbolKind::unusable) return nullptr;
  if (found->kind == SymbolKind::alias) {
    const auto target = by_type_.find(model_[found->type].resolved);
    if (target != by_type_.end()) found = target->second;
  }
  if (found->kind != kind) {
    report_kind(diagnostics_, name, *found, article_name(kind));
    return nullptr;
  }
  if (found->defined && found->inside != nullptr) {
    if (found->inside->depth < Scope::deepest_inheritance) return found;
    diagnostics_.error(name.span, "inheritance is nested too deeply");
    return nullptr;
  }
  const bool itself = found->inside.get() == &derived;
  diagnostics_.error(name.span, quoted(found->name) + (itself ? " cannot inherit from itself" : " is not defined yet"))
      .note(found->span, "declared here");
  return nullptr;
}

void Analyzer::add_bases(const ast::Interface& source, DefId id, Scope& scope) {
  for (const ast::ScopedName& name : source.bases) {
    const Symbol* found = base(name, SymbolKind::interface, scope);
    if (found == nullptr) continue;
    auto& interface = std::get<Interface>(model_[id].body);
    if (contains(interface.bases, found->definition)) {
      diagnostics_.error(name.span, quoted(found->name) + " is a base twice");
      continue;
    }
    check_base_kind(interface, *scope.symbol, *found, name.span);
    interface.bases.push_back(found->definition);
    scope.add_base(*found->inside);
    inherit(*found, interface.ancestors, scope, name.span);
  }
}

// An abstract interface may have only abstract bases. An unconstrained interface may have no local base; if it has one,
// it is treated as local and a warning is given.
void Analyzer::check_base_kind(Interface& derived, Symbol& symbol, const Symbol& base, const Span& at) {
  const InterfaceKind kind = derived.kind;
  const InterfaceKind of_base = std::get<Interface>(model_[base.definition].body).kind;
  const bool allowed = kind == InterfaceKind::local || of_base == InterfaceKind::abstract ||
                       (kind == InterfaceKind::unconstrained && of_base == InterfaceKind::unconstrained);
  if (allowed) return;
  std::string message = "an " + std::string(name_of(kind)) + " interface cannot inherit from the " +
                        std::string(name_of(of_base)) + " interface " + quoted(base.name);
  const bool becomes_local = kind == InterfaceKind::unconstrained && of_base == InterfaceKind::local;
  Diagnostic& fault = becomes_local ? diagnostics_.warning(Warning::lenient, at, std::move(message))
                                    : diagnostics_.error(at, std::move(message));
  fault.note(base.span, "declared here");
  if (!becomes_local) return;
  derived.kind = InterfaceKind::local;
  symbol.flavour = static_cast<std::uint8_t>(InterfaceKind::local);
}

// Adds the base and its ancestors, each once even if several paths lead to it, and their names.
void Analyzer::inherit(const Symbol& base, std::vector<DefId>& ancestors, Scope& scope, const Span& at) {
  const auto above = [&]() -> std::vector<DefId> {
    const Definition& definition = model_[base.definition];
    if (const auto* interface = std::get_if<Interface>(&definition.body)) return interface->ancestors;
    return std::get<Valuetype>(definition.body).ancestors;
  };
  const auto add_one = [&](DefId ancestor) {
    if (contains(ancestors, ancestor)) return;
    ancestors.push_back(ancestor);
  };
  for (const DefId ancestor : above()) add_one(ancestor);
  add_one(base.definition);
  inherit_names(base, scope, at);
}

// Adds the operations, attributes and members of an ancestor. Reports two different ones with the same name.
void Analyzer::inherit_names(const Symbol& ancestor, Scope& scope, const Span& at) {
  const auto take = [&](const std::string& key, const Symbol* feature) {
    const auto [entry, is_new] = scope.inherited.try_emplace(key, feature);
    if (is_new || entry->second == feature) return;
    diagnostics_
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

std::vector<Operation>& Analyzer::operations() {
  if (auto* interface = std::get_if<Interface>(&model_[scope_].body)) return interface->operations;
  return open_value().operations;
}

std::vector<Attribute>& Analyzer::attributes() {
  if (auto* interface = std::get_if<Interface>(&model_[scope_].body)) return interface->attributes;
  return open_value().attributes;
}

void Analyzer::visit(const ast::Operation& source, const ast::Definition& definition) {
  Operation result;
  result.name = definition.name.text;
  result.place = place_of(definition.name.span);
  result.annotations = annotations_.check_operation(definition.annotations, result.contract);
  const Annotation* oneway = find(result.annotations, "oneway");
  const Value* is_oneway = oneway == nullptr ? nullptr : find(*oneway, "value");
  result.oneway = source.oneway.has_value() || (is_oneway != nullptr && *is_oneway == Value{true});
  note_anonymous(source.result);
  result.result = type(source.result);
  check_remote(result.result, source.result.span, "result");
  Symbol& symbol = names_.declare(SymbolKind::operation, definition.name);
  symbol.definition = scope_;
  symbol.index = static_cast<std::uint32_t>(operations().size());
  result.parameters = parameters(source.parameters);
  result.raises = exceptions(source.raises);
  result.contexts = contexts(source.contexts);
  result.repository_id = ids_.make(definition.name);
  if (result.oneway) check_oneway(source, definition.name.span);
  operations().push_back(std::move(result));
}

std::vector<Parameter> Analyzer::parameters(const std::vector<ast::Parameter>& sources) {
  const OpenScope open(names_, Scope::Kind::operation, {});
  std::vector<Parameter> result;
  for (const ast::Parameter& item : sources) result.push_back(parameter(item));
  return result;
}

Parameter Analyzer::parameter(const ast::Parameter& source) {
  Parameter result;
  result.name = source.name.text;
  note_anonymous(source.type);
  result.type = type(source.type);
  check_remote(result.type, source.type.span, "parameter");
  result.direction = static_cast<Direction>(source.direction);
  result.annotations = annotations_.check(source.annotations, Target::parameter);
  result.place = place_of(source.name.span);
  names_.declare(SymbolKind::member, source.name);
  return result;
}

void Analyzer::check_oneway(const ast::Operation& source, const Span& name) {
  const auto* result = std::get_if<ast::BasicType>(&source.result.node);
  if (result == nullptr || *result != ast::BasicType::void_)
    diagnostics_.error(source.result.span, "a oneway operation returns `void`");
  for (const ast::Parameter& item : source.parameters)
    if (item.direction != ast::Direction::in)
      diagnostics_.error(item.direction_span, "a oneway operation has only `in` parameters");
  if (!source.raises.empty()) diagnostics_.error(source.raises.front().span, "a oneway operation raises no exceptions");
  if (std::holds_alternative<Valuetype>(model_[scope_].body))
    diagnostics_.error(name, "an operation of a valuetype is local, so it cannot be oneway");
}

std::vector<std::string> Analyzer::contexts(const std::vector<ast::ContextName>& names) {
  std::vector<std::string> result;
  for (const ast::ContextName& name : names) {
    if (!is_context_name(name.text))
      diagnostics_.error(name.span, quoted(name.text) + " is no name of a context property (a letter, then letters, " +
                                        "digits, `.` and `_`, a `*` perhaps last)");
    result.push_back(name.text);
  }
  return result;
}

std::vector<DefId> Analyzer::exceptions(const std::vector<ast::ScopedName>& names) {
  std::vector<DefId> result;
  for (const ast::ScopedName& name : names) {
    const Symbol* symbol = names_.resolve(name);
    if (symbol == nullptr || symbol->kind == SymbolKind::unusable) continue;
    if (symbol->type != TypeId::none && model_.resolved(symbol->type).kind == TypeKind::native) {
      // The language mapping defines what it stands for. In C++, any type may be thrown.
      if (is_remote()) report_local(name.span, "exception", *symbol);
    } else if (symbol->kind != SymbolKind::exception) {
      report_kind(diagnostics_, name, *symbol, "an exception");
    } else if (const auto held = local_exceptions_.find(symbol); is_remote() && held != local_exceptions_.end()) {
      report_local(name.span, "exception", *held->second);
    } else if (contains(result, symbol->definition)) {
      diagnostics_.warning(Warning::raises, name.span, quoted(symbol->name) + " is listed twice");
    } else {
      result.push_back(symbol->definition);
    }
  }
  return result;
}

void Analyzer::visit(const ast::Attribute& source, const ast::Definition& definition) {
  Attribute result;
  note_anonymous(source.type);
  result.type = type(source.type);
  check_remote(result.type, source.type.span, "attribute");
  result.readonly = source.readonly;
  result.get_raises = exceptions(source.get_raises);
  result.set_raises = exceptions(source.set_raises);
  result.annotations = annotations_.check(definition.annotations, Target::attribute);
  const auto add_named = [&](const ast::Identifier& name) {
    Symbol& symbol = names_.declare(SymbolKind::attribute, name);
    symbol.definition = scope_;
    symbol.index = static_cast<std::uint32_t>(attributes().size());
    result.name = name.text;
    result.place = place_of(name.span);
    result.repository_id = ids_.make(name);
    attributes().push_back(result);
  };
  add_named(definition.name);
  for (const ast::Identifier& name : source.more) add_named(name);
}

// Local types cannot leave the process. Operations and attributes of remote interfaces must not use them. CORBA 3.4
// part 1, 7.8.6.3.

bool Analyzer::is_remote() const {
  const auto* interface = scope_ == DefId::none ? nullptr : std::get_if<Interface>(&model_[scope_].body);
  return interface != nullptr && interface->kind != InterfaceKind::local;
}

void Analyzer::check_remote(TypeId id, const Span& at, std::string_view what) {
  if (id == TypeId::none || !is_remote()) return;
  const Symbol* local = local_in(id);
  if (local != nullptr && local->kind != SymbolKind::native) report_local(at, what, *local);
}

void Analyzer::report_local(const Span& at, std::string_view what, const Symbol& local) {
  std::string message = "this " + std::string(what) + " cannot leave the process: " + quoted(local.name);
  message += local.kind == SymbolKind::native ? " is a native type" : " is a local interface";
  diagnostics_.error(at, std::move(message)).note(local.span, "declared here");
}

// CORBA 3.3 part 1, 7.8.6.4: the state of a value must not contain a local type.
void Analyzer::check_state(TypeId id, const Span& at, std::string_view what) {
  const Symbol* local = id == TypeId::none ? nullptr : local_in(id);
  if (local != nullptr) report_local(at, what, *local);
}

// Returns the local interface or native type that the type is or contains; null if there is none.
const Symbol* Analyzer::local_in(TypeId id) const {
  // bound: each step goes to a type that was made earlier
  for (TypeId at = id; at != TypeId::none; at = model_[at].element) {
    at = model_[at].resolved;
    const auto symbol = by_type_.find(at);
    const bool is_local = model_[at].kind == TypeKind::interface && symbol != by_type_.end() &&
                          symbol->second->flavour == static_cast<std::uint8_t>(ast::InterfaceKind::local);
    if (is_local || (model_[at].kind == TypeKind::native && symbol != by_type_.end())) return symbol->second;
    if (const auto held = holds_local_.find(at); held != holds_local_.end()) return held->second;
  }
  return nullptr;
}

// Records what a struct or union contains, so that it is not searched again.
void Analyzer::note_local(TypeId holder, TypeId member) {
  const Symbol* const local = member == TypeId::none ? nullptr : local_in(member);
  if (local != nullptr) holds_local_[holder] = local;
}

}  // namespace corelane::idl
