#include "idl/sema/type_readers/union_reader.h"

#include <utility>

#include "idl/sema/type_readers/union_labels.h"

namespace corelane::idl {

void UnionReader::read(const ast::ForwardUnion&, const ast::Definition& definition) {
  forwards_.add(SymbolKind::union_, TypeKind::union_, Target::union_, 0, definition);
}

void UnionReader::read(const ast::Union& source, const ast::Definition& definition) {
  Symbol& symbol = forwards_.declare_or_complete(SymbolKind::union_, definition.name);
  const DefId id = analysis_.add(symbol, definition, Target::union_);
  analysis_.builder.make_type(symbol, TypeKind::union_, id);
  forwards_.check_file(symbol, id);
  Union body;
  body.recursive = aggregates_.read_body(symbol, id, definition.keyword.source, body.contents, [&] {
    body.discriminator = types_.read(source.discriminator);
    if (body.discriminator != TypeId::none &&
        !check_discriminator(analysis_, body.discriminator, source.discriminator.span))
      body.discriminator = TypeId::none;
    body.discriminator_annotations =
        analysis_.annotations.check(source.discriminator_annotations, Target::discriminator);
    for (const ast::Branch& item : source.branches) body.branches.push_back(branch(item, body.discriminator));
  });
  Extent extent;
  for (const UnionBranch& item : body.branches) {
    locals_.add_member(symbol.type, item.member.type);
    if (item.member.type != TypeId::none) extent.cover(analysis_.extents.of(item.member.type));
  }
  analysis_.extents.define(symbol.type, extent);
  if (body.discriminator != TypeId::none) check_labels(analysis_, source, body);
  analysis_.model[id].body = std::move(body);
}

UnionBranch UnionReader::branch(const ast::Branch& source, TypeId discriminator) {
  UnionBranch result;
  for (const ast::Label& label : source.labels) {
    if (label.value == nullptr) {
      result.is_default = true;
    } else if (discriminator != TypeId::none) {
      if (auto value = analysis_.constants.evaluate(*label.value, discriminator))
        result.labels.push_back(*std::move(value));
    }
  }
  const MemberNotes notes = members_.read_notes(source.annotations, Target::branch);
  const TypeId type = types_.read_member(source.type, notes.all);
  result.member = members_.read_declarator(source.declarator, type, notes);
  analysis_.names.declare(SymbolKind::member, source.declarator.name);
  return result;
}

}  // namespace corelane::idl
