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
  forwards_.add(SymbolKind::interface, TypeKind::interface, Target::interface, static_cast<std::uint8_t>(forward.kind),
                definition);
}

void Analyzer::visit(const ast::Interface& source, const ast::Definition& definition) {
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
  std::vector<DefId> contents = contents_of(definition, source.body, symbol, id);
  symbol.defined = true;
  std::get<Interface>(analysis_.model[id].body).contents = std::move(contents);
}

// Reads what is in the braces of an interface or a value type.
std::vector<DefId> Analyzer::contents_of(const ast::Definition& definition, const ast::Definitions& body,
                                         const Symbol& symbol, DefId id) {
  std::vector<DefId> contents;
  const OpenDefinition open(analysis_.builder, id, symbol, definition.keyword.source, contents);
  walk(body, contents);
  return contents;
}

void Analyzer::add_bases(const ast::Interface& source, DefId id, Scope& scope) {
  for (const ast::ScopedName& name : source.bases) {
    const Symbol* found = inheritance_.base(name, SymbolKind::interface, scope);
    if (found == nullptr) continue;
    auto& interface = std::get<Interface>(analysis_.model[id].body);
    if (contains(interface.bases, found->definition)) {
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
void Analyzer::check_base_kind(Interface& derived, Symbol& symbol, const Symbol& base, const Span& at) {
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

std::vector<Operation>& Analyzer::operations() {
  if (auto* interface = std::get_if<Interface>(&analysis_.model[analysis_.builder.scope()].body))
    return interface->operations;
  return open_value().operations;
}

std::vector<Attribute>& Analyzer::attributes() {
  if (auto* interface = std::get_if<Interface>(&analysis_.model[analysis_.builder.scope()].body))
    return interface->attributes;
  return open_value().attributes;
}

void Analyzer::visit(const ast::Operation& source, const ast::Definition& definition) {
  Operation result;
  result.name = definition.name.text;
  result.place = place_of(definition.name.span);
  result.annotations = analysis_.annotations.check_operation(definition.annotations, result.contract);
  const Annotation* oneway = find(result.annotations, "oneway");
  const Value* is_oneway = oneway == nullptr ? nullptr : find(*oneway, "value");
  result.oneway = source.oneway.has_value() || (is_oneway != nullptr && *is_oneway == Value{true});
  types_.check_named(source.result);
  result.result = types_.read(source.result);
  locals_.check_remote(result.result, source.result.span, "result");
  Symbol& symbol = analysis_.names.declare(SymbolKind::operation, definition.name);
  symbol.definition = analysis_.builder.scope();
  symbol.index = static_cast<std::uint32_t>(operations().size());
  result.parameters = parameters(source.parameters);
  result.raises = exceptions(source.raises);
  result.contexts = contexts(source.contexts);
  result.repository_id = analysis_.ids.make(definition.name);
  if (result.oneway) check_oneway(source, definition.name.span);
  operations().push_back(std::move(result));
}

std::vector<Parameter> Analyzer::parameters(const std::vector<ast::Parameter>& sources) {
  const OpenScope open(analysis_.names, Scope::Kind::operation, {});
  std::vector<Parameter> result;
  for (const ast::Parameter& item : sources) result.push_back(parameter(item));
  return result;
}

Parameter Analyzer::parameter(const ast::Parameter& source) {
  Parameter result;
  result.name = source.name.text;
  types_.check_named(source.type);
  result.type = types_.read(source.type);
  locals_.check_remote(result.type, source.type.span, "parameter");
  result.direction = static_cast<Direction>(source.direction);
  result.annotations = analysis_.annotations.check(source.annotations, Target::parameter);
  result.place = place_of(source.name.span);
  analysis_.names.declare(SymbolKind::member, source.name);
  return result;
}

void Analyzer::check_oneway(const ast::Operation& source, const Span& name) {
  const auto* result = std::get_if<ast::BasicType>(&source.result.node);
  if (result == nullptr || *result != ast::BasicType::void_)
    analysis_.diagnostics.error(source.result.span, "a oneway operation returns `void`");
  for (const ast::Parameter& item : source.parameters)
    if (item.direction != ast::Direction::in)
      analysis_.diagnostics.error(item.direction_span, "a oneway operation has only `in` parameters");
  if (!source.raises.empty())
    analysis_.diagnostics.error(source.raises.front().span, "a oneway operation raises no exceptions");
  if (std::holds_alternative<Valuetype>(analysis_.model[analysis_.builder.scope()].body))
    analysis_.diagnostics.error(name, "an operation of a valuetype is local, so it cannot be oneway");
}

std::vector<std::string> Analyzer::contexts(const std::vector<ast::ContextName>& names) {
  std::vector<std::string> result;
  for (const ast::ContextName& name : names) {
    if (!is_context_name(name.text))
      analysis_.diagnostics.error(name.span, quoted(name.text) +
                                                 " is no name of a context property (a letter, then letters, " +
                                                 "digits, `.` and `_`, a `*` perhaps last)");
    result.push_back(name.text);
  }
  return result;
}

std::vector<DefId> Analyzer::exceptions(const std::vector<ast::ScopedName>& names) {
  std::vector<DefId> result;
  for (const ast::ScopedName& name : names) {
    const Symbol* symbol = analysis_.names.resolve(name);
    if (symbol == nullptr || symbol->kind == SymbolKind::unusable) continue;
    if (symbol->type != TypeId::none && analysis_.model.resolved(symbol->type).kind == TypeKind::native) {
      // The language mapping defines what it stands for. In C++, any type may be thrown.
      locals_.check_raised(*symbol, name.span);
    } else if (symbol->kind != SymbolKind::exception) {
      report_kind(analysis_.diagnostics, name, *symbol, "an exception");
    } else if (locals_.check_raised(*symbol, name.span)) {
      continue;
    } else if (contains(result, symbol->definition)) {
      analysis_.diagnostics.warning(Warning::raises, name.span, quoted(symbol->name) + " is listed twice");
    } else {
      result.push_back(symbol->definition);
    }
  }
  return result;
}

void Analyzer::visit(const ast::Attribute& source, const ast::Definition& definition) {
  Attribute result;
  types_.check_named(source.type);
  result.type = types_.read(source.type);
  locals_.check_remote(result.type, source.type.span, "attribute");
  result.readonly = source.readonly;
  result.get_raises = exceptions(source.get_raises);
  result.set_raises = exceptions(source.set_raises);
  result.annotations = analysis_.annotations.check(definition.annotations, Target::attribute);
  const auto add_named = [&](const ast::Identifier& name) {
    Symbol& symbol = analysis_.names.declare(SymbolKind::attribute, name);
    symbol.definition = analysis_.builder.scope();
    symbol.index = static_cast<std::uint32_t>(attributes().size());
    result.name = name.text;
    result.place = place_of(name.span);
    result.repository_id = analysis_.ids.make(name);
    attributes().push_back(result);
  };
  add_named(definition.name);
  for (const ast::Identifier& name : source.more) add_named(name);
}

}  // namespace corelane::idl
