#include "idl/sema/type_readers/bitset_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace corelane::idl {

void BitsetReader::read(const ast::Bitset& bitset, const ast::Definition& definition) {
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

void BitsetReader::add_bitfields(const ast::Bitfield& source, Bitset& body) {
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
TypeId BitsetReader::bitfield_type(const ast::Bitfield& source, std::uint16_t bits) {
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
