#include "idl/sema/analyzer/operation_reader.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

namespace corelane::idl {
namespace {

// Checks the name of a context property: a letter, then letters, digits, dots and underscores, and optionally a star at
// the end.
bool is_context_name(std::string_view text) {
  if (text.ends_with('*')) text.remove_suffix(1);
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_'; };
  return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), follows);
}

std::vector<Operation>& operations_of(Definition& definition) {
  if (auto* interface = std::get_if<Interface>(&definition.body)) return interface->operations;
  return std::get<Valuetype>(definition.body).operations;
}

std::vector<Attribute>& attributes_of(Definition& definition) {
  if (auto* interface = std::get_if<Interface>(&definition.body)) return interface->attributes;
  return std::get<Valuetype>(definition.body).attributes;
}

}  // namespace

void OperationReader::read(const ast::Operation& source, const ast::Definition& definition) {
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
  symbol.index = static_cast<std::uint32_t>(operations_of(analysis_.scope()).size());
  result.parameters = parameters(source.parameters);
  result.raises = exceptions(source.raises);
  result.contexts = contexts(source.contexts);
  result.repository_id = analysis_.ids.make(definition.name);
  if (result.oneway) check_oneway(source, definition.name.span);
  operations_of(analysis_.scope()).push_back(std::move(result));
}

std::vector<Parameter> OperationReader::parameters(const std::vector<ast::Parameter>& sources) {
  const OpenScope open(analysis_.names, Scope::Kind::operation, {});
  std::vector<Parameter> result;
  for (const ast::Parameter& item : sources) result.push_back(parameter(item));
  return result;
}

Parameter OperationReader::parameter(const ast::Parameter& source) {
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

void OperationReader::check_oneway(const ast::Operation& source, const Span& name) {
  const auto* result = std::get_if<ast::BasicType>(&source.result.node);
  if (result == nullptr || *result != ast::BasicType::void_)
    analysis_.diagnostics.error(source.result.span, "a oneway operation returns `void`");
  for (const ast::Parameter& item : source.parameters)
    if (item.direction != ast::Direction::in)
      analysis_.diagnostics.error(item.direction_span, "a oneway operation has only `in` parameters");
  if (!source.raises.empty())
    analysis_.diagnostics.error(source.raises.front().span, "a oneway operation raises no exceptions");
  if (std::holds_alternative<Valuetype>(analysis_.scope().body))
    analysis_.diagnostics.error(name, "an operation of a valuetype is local, so it cannot be oneway");
}

std::vector<std::string> OperationReader::contexts(const std::vector<ast::ContextName>& names) {
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

std::vector<DefId> OperationReader::exceptions(const std::vector<ast::ScopedName>& names) {
  std::vector<DefId> result;
  for (const ast::ScopedName& name : names) {
    const Symbol* symbol = analysis_.names.resolve(name);
    if (symbol == nullptr || symbol->kind == SymbolKind::unusable) continue;
    if (symbol->type != TypeId::none && analysis_.model.resolved(symbol->type).kind == TypeKind::native) {
      // The language mapping defines what it stands for. In C++, any type may be thrown.
      locals_.check_raised(*symbol, name.span);
    } else if (symbol->kind != SymbolKind::exception) {
      report_kind(analysis_.diagnostics, name, *symbol, "an exception");
    } else if (!locals_.check_raised(*symbol, name.span)) {
      if (std::ranges::find(result, symbol->definition) == result.end())
        result.push_back(symbol->definition);
      else
        analysis_.diagnostics.warning(Warning::raises, name.span, quoted(symbol->name) + " is listed twice");
    }
  }
  return result;
}

void OperationReader::read(const ast::Attribute& source, const ast::Definition& definition) {
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
    symbol.index = static_cast<std::uint32_t>(attributes_of(analysis_.scope()).size());
    result.name = name.text;
    result.place = place_of(name.span);
    result.repository_id = analysis_.ids.make(name);
    attributes_of(analysis_.scope()).push_back(result);
  };
  add_named(definition.name);
  for (const ast::Identifier& name : source.more) add_named(name);
}

}  // namespace corelane::idl
