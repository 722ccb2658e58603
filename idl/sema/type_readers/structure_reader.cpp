#include "idl/sema/type_readers/structure_reader.h"

#include <utility>

namespace corelane::idl {

void StructureReader::read(const ast::Structure& structure, const ast::Definition& definition) {
  Symbol& symbol = forwards_.declare_or_complete(SymbolKind::structure, definition.name);
  const DefId id = analysis_.add(symbol, definition, Target::structure);
  analysis_.builder.make_type(symbol, TypeKind::structure, id);
  forwards_.check_file(symbol, id);
  symbol.defined = false;
  Structure body;
  if (structure.base) body.base = base_structure(*structure.base, symbol);
  body.recursive = aggregates_.read_body(symbol, id, definition.keyword.source, body.contents,
                                         [&] { members_.read(structure.members, body.members); });
  for (const Member& member : body.members) locals_.add_member(symbol.type, member.type);
  if (body.base != DefId::none) locals_.add_member(symbol.type, analysis_.model[body.base].type);
  const Extent extent = extent_of(body);
  analysis_.extents.define(symbol.type,
                           check_extent(extent, definition.name.span, analysis_.diagnostics) ? extent : Extent{});
  analysis_.model[id].body = std::move(body);
}

Extent StructureReader::extent_of(const Structure& body) {
  Extent extent;
  for (const Member& member : body.members)
    if (member.type != TypeId::none) extent.add(analysis_.extents.of(member.type));
  if (body.base == DefId::none) return extent;
  Extent inherited = analysis_.extents.of(analysis_.model[body.base].type);
  --inherited.depth;  // the base is no member
  extent.add(inherited);
  return extent;
}

void StructureReader::read(const ast::ForwardStructure&, const ast::Definition& definition) {
  forwards_.add(SymbolKind::structure, TypeKind::structure, Target::structure, 0, definition);
}

DefId StructureReader::base_structure(const ast::ScopedName& name, Symbol& derived) {
  const Symbol* found =
      inheritance_.base(name, SymbolKind::structure, analysis_.names.inside(derived, Scope::Kind::members));
  if (found == nullptr) return DefId::none;
  Scope& scope = *derived.inside;
  scope.add_base(*found->inside);
  inheritance_.inherit_names(*found, scope, name.span);
  return found->definition;
}

void StructureReader::read(const ast::Exception& exception, const ast::Definition& definition) {
  Symbol& symbol = analysis_.names.declare(SymbolKind::exception, definition.name);
  const DefId id = analysis_.add(symbol, definition, Target::exception);
  Exception body;
  aggregates_.read_body(symbol, id, definition.keyword.source, body.contents,
                        [&] { members_.read(exception.members, body.members); });
  for (const Member& member : body.members) locals_.add_member(symbol, member.type);
  analysis_.model[id].body = std::move(body);
}

}  // namespace corelane::idl
