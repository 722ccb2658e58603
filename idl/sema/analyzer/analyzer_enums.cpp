// Reads enums, bitmasks and bitsets. Section: OMG IDL 4.2, 7.4.1.4.4.4.3, 7.4.13.4.3, 7.4.13.4.4, 8.3.4.
#include <algorithm>
#include <map>
#include <utility>

#include "idl/sema/analyzer/analyzer.h"

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

Symbol& Analyzer::declare_enumerator(const ast::Identifier& name, DefId owner, std::size_t index) {
  Symbol& symbol = analysis_.names.declare(SymbolKind::enumerator, name);
  symbol.definition = owner;
  symbol.index = static_cast<std::uint32_t>(index);
  return symbol;
}

std::uint16_t Analyzer::bit_bound(const Annotations& annotations, const ast::Definition& definition,
                                  std::uint16_t usual, std::uint16_t most) {
  const std::optional<std::int64_t> given = number_of(annotations, "bit_bound");
  if (!given) return usual;
  if (*given >= 1 && *given <= most) return static_cast<std::uint16_t>(*given);
  analysis_.diagnostics.error(analysis_.annotations.value_span(definition.annotations, "bit_bound"),
                              "`@bit_bound` is 1 to " + std::to_string(most) + " here");
  return most;
}

void Analyzer::visit(const ast::Enumeration& enumeration, const ast::Definition& definition) {
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
void Analyzer::number_enumerators(Enumeration& body, const std::vector<ast::Enumerator>& sources) {
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

void Analyzer::visit(const ast::Bitmask& bitmask, const ast::Definition& definition) {
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

void Analyzer::number_bits(Bitmask& body, const std::vector<ast::Enumerator>& sources) {
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

void Analyzer::visit(const ast::Bitset& bitset, const ast::Definition& definition) {
  Symbol& symbol = analysis_.names.declare(SymbolKind::bitset, definition.name);
  const DefId id = analysis_.add(symbol, definition, Target::bitset);
  analysis_.builder.make_type(symbol, TypeKind::bitset, id);
  symbol.defined = false;
  Bitset body;
  if (bitset.base) {
    if (const Symbol* found =
            inheritance_.base(*bitset.base, SymbolKind::bitset, analysis_.names.inside(symbol, Scope::Kind::members))) {
      body.base = found->definition;
      body.bits = std::get<Bitset>(analysis_.model[body.base].body).bits;
      symbol.inside->add_base(*found->inside);
      inheritance_.inherit_names(*found, *symbol.inside, bitset.base->span);
    }
  }
  std::vector<DefId> nothing;
  aggregates_.read_body(symbol, id, definition.keyword.source, nothing, [&] {
    for (const ast::Bitfield& field : bitset.fields) add_bitfields(field, body);
  });
  analysis_.model[id].body = std::move(body);
}

void Analyzer::add_bitfields(const ast::Bitfield& source, Bitset& body) {
  constexpr std::uint64_t most = 64;
  const std::optional<std::uint64_t> given = types_.read_length(*source.bits);
  if (!given) return;
  if (*given > most) {
    analysis_.diagnostics.error(source.bits->span, "a bit field has 1 to 64 bits");
    return;
  }
  const auto bits = static_cast<std::uint16_t>(*given);
  const TypeId of = bitfield_type(source, bits);
  const auto add_one = [&](const std::string& name, const Span& at) {
    if (body.bits + bits > static_cast<int>(most)) {
      analysis_.diagnostics.error(at, "a bitset has at most 64 bits in all");
      return;
    }
    body.fields.push_back({.name = name,
                           .type = of,
                           .bits = bits,
                           .position = body.bits,
                           .annotations = analysis_.annotations.check(source.annotations, Target::bitfield),
                           .place = place_of(at)});
    body.bits = static_cast<std::uint16_t>(body.bits + bits);
  };
  if (source.names.empty()) add_one({}, source.span);
  for (const ast::Identifier& name : source.names) {
    analysis_.names.declare(SymbolKind::member, name);
    add_one(name.text, name.span);
  }
}

// Returns the declared type if it is an integer type with room for the bits. Without a type, returns the smallest
// unsigned type that has room.
TypeId Analyzer::bitfield_type(const ast::Bitfield& source, std::uint16_t bits) {
  struct Holder {
    TypeKind kind;
    std::uint16_t bits;
  };
  constexpr Holder unsigned_ones[] = {{TypeKind::boolean, 1},
                                      {TypeKind::octet, 8},
                                      {TypeKind::uint16, 16},
                                      {TypeKind::uint32, 32},
                                      {TypeKind::uint64, 64}};
  constexpr Holder others[] = {
      {TypeKind::int8, 8}, {TypeKind::uint8, 8}, {TypeKind::int16, 16}, {TypeKind::int32, 32}, {TypeKind::int64, 64}};
  if (!source.type) {
    for (const Holder& holder : unsigned_ones)
      if (bits <= holder.bits) return analysis_.types.basic(holder.kind);
  }
  const TypeId given = types_.read(*source.type);
  if (given == TypeId::none) return given;
  const auto holds = [&](const Holder& holder) {
    return holder.kind == analysis_.model.resolved(given).kind && bits <= holder.bits;
  };
  const bool fits = std::any_of(std::begin(unsigned_ones), std::end(unsigned_ones), holds) ||
                    std::any_of(std::begin(others), std::end(others), holds);
  if (!fits)
    analysis_.diagnostics.error(source.type->span, quoted(analysis_.types.name(given)) +
                                                       " cannot hold a bit field of " + std::to_string(bits) +
                                                       (bits == 1 ? " bit" : " bits"));
  return given;
}

}  // namespace corelane::idl
