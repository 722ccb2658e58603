#include "idl/sema/type_readers/enumeration_reader.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace corelane::idl {
namespace {

const Value* value_of(const Annotations& annotations, std::string_view name) {
  const Annotation* annotation = find(annotations, name);
  return annotation == nullptr ? nullptr : find(*annotation, "value");
}

// Returns the number that an annotation gives; nothing if the annotation is missing.
std::optional<std::int64_t> number_of(const Annotations& annotations, std::string_view name) {
  const Value* value = value_of(annotations, name);
  if (value == nullptr) return std::nullopt;
  if (const auto* integer = std::get_if<std::int64_t>(value)) return *integer;
  if (const auto* natural = std::get_if<std::uint64_t>(value)) return static_cast<std::int64_t>(*natural);
  return -1;  // outside every range
}

bool is_integer(const Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<std::uint64_t>(value);
}

}  // namespace

Symbol& EnumerationReader::declare_enumerator(const ast::Identifier& name, DefId owner, std::size_t index) {
  Symbol& symbol = analysis_.names.declare(SymbolKind::enumerator, name);
  symbol.definition = owner;
  symbol.index = static_cast<std::uint32_t>(index);
  return symbol;
}

std::uint16_t EnumerationReader::bit_bound(const Annotations& annotations, const ast::Definition& definition,
                                           std::uint16_t usual, std::uint16_t most) {
  const std::optional<std::int64_t> given = number_of(annotations, "bit_bound");
  if (!given) return usual;
  if (*given >= 1 && *given <= most) return static_cast<std::uint16_t>(*given);
  analysis_.diagnostics.error(analysis_.annotations.value_span(definition.annotations, "bit_bound"),
                              "`@bit_bound` is 1 to " + std::to_string(most) + " here");
  return most;
}

void EnumerationReader::read(const ast::Enumeration& enumeration, const ast::Definition& definition) {
  Symbol& symbol = analysis_.names.declare(SymbolKind::enumeration, definition.name);
  const DefId id = analysis_.add(symbol, definition, Target::enumeration);
  analysis_.builder.make_type(symbol, TypeKind::enumeration, id);
  Enumeration body;
  body.bit_bound = bit_bound(analysis_.model[id].annotations, definition, 32, 32);
  for (const ast::Enumerator& source : enumeration.enumerators) {
    Symbol& enumerator = declare_enumerator(source.name, id, body.enumerators.size());
    body.enumerators.push_back({.name = source.name.text,
                                .scoped_name = analysis_.names.current().scoped(source.name.text),
                                .value = 0,
                                .annotations = analysis_.annotations.check(source.annotations, Target::enumerator),
                                .place = place_of(source.name.span),
                                .repository_id = analysis_.ids.make(source.name)});
    if (find(body.enumerators.back().annotations, "default_literal") != nullptr) body.default_index = enumerator.index;
  }
  number_enumerators(body, enumeration.enumerators);
  analysis_.model[id].body = std::move(body);
}

// Numbers the enumerators: with @value, or one more than the previous one. Values need not ascend, but each may be used
// only once.
void EnumerationReader::number_enumerators(Enumeration& body, const std::vector<ast::Enumerator>& sources) {
  const std::int64_t most = (std::int64_t{1} << body.bit_bound) - 1;
  std::map<std::int64_t, Span> seen;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::optional<std::int64_t> given = number_of(body.enumerators[i].annotations, "value");
    const std::int64_t value = given.value_or(next);
    const Span& at = sources[i].name.span;
    if (given && !is_integer(*value_of(body.enumerators[i].annotations, "value"))) {
      analysis_.diagnostics.error(analysis_.annotations.value_span(sources[i].annotations, "value"),
                                  "`@value` takes an integer: the number of " + quoted(sources[i].name.text));
      return;
    }
    if (value < 0 || value > most) {
      analysis_.diagnostics.error(given ? analysis_.annotations.value_span(sources[i].annotations, "value") : at,
                                  "the value of " + quoted(sources[i].name.text) +
                                      " is outside the range of its enum (0 to " + std::to_string(most) + ")");
      return;
    }
    const auto [entry, is_new] = seen.try_emplace(value, at);
    if (!is_new)
      analysis_.diagnostics
          .error(at, quoted(sources[i].name.text) + " has the value of another enumerator, " + std::to_string(value))
          .note(entry->second, "the other is here");
    body.enumerators[i].value = static_cast<std::uint32_t>(value);
    next = value + 1;
  }
}

void EnumerationReader::read(const ast::Bitmask& bitmask, const ast::Definition& definition) {
  Symbol& symbol = analysis_.names.declare(SymbolKind::bitmask, definition.name);
  const DefId id = analysis_.add(symbol, definition, Target::bitmask);
  analysis_.builder.make_type(symbol, TypeKind::bitmask, id);
  Bitmask body;
  body.bit_bound = bit_bound(analysis_.model[id].annotations, definition, 32, 64);
  // The bits are names inside the bitmask, so two bitmasks may have bits with the same name.
  const OpenScope open(analysis_.names, analysis_.names.inside(symbol, Scope::Kind::members));
  for (const ast::Enumerator& source : bitmask.bits) {
    declare_enumerator(source.name, id, body.bits.size());
    body.bits.push_back({.name = source.name.text,
                         .scoped_name = analysis_.names.current().scoped(source.name.text),
                         .position = 0,
                         .annotations = analysis_.annotations.check(source.annotations, Target::bit),
                         .place = place_of(source.name.span)});
  }
  number_bits(body, bitmask.bits);
  analysis_.model[id].body = std::move(body);
}

void EnumerationReader::number_bits(Bitmask& body, const std::vector<ast::Enumerator>& sources) {
  std::map<std::int64_t, Span> seen;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::optional<std::int64_t> given = number_of(body.bits[i].annotations, "position");
    const std::int64_t position = given.value_or(next);
    const Span& at = sources[i].name.span;
    if (position < 0 || position >= body.bit_bound) {
      analysis_.diagnostics.error(given ? analysis_.annotations.value_span(sources[i].annotations, "position") : at,
                                  "the position of " + quoted(sources[i].name.text) + " is outside its bitmask (0 to " +
                                      std::to_string(body.bit_bound - 1) + ")");
      return;
    }
    const auto [entry, is_new] = seen.try_emplace(position, at);
    if (!is_new)
      analysis_.diagnostics
          .error(at, quoted(sources[i].name.text) + " has the position of another bit, " + std::to_string(position))
          .note(entry->second, "the other is here");
    body.bits[i].position = static_cast<std::uint16_t>(position);
    next = position + 1;
  }
}

}  // namespace corelane::idl
