#include "idl/sema/analyzer/value_member_reader.h"

#include <cstdint>
#include <utility>

namespace corelane::idl {

void ValueMemberReader::read(const ast::State& state, const ast::Definition& definition) {
  if (open_value().kind == ValueKind::abstract)
    analysis_.diagnostics.error(definition.keyword, "an abstract valuetype has no state");
  const ast::Member& source = state.member;
  const MemberNotes notes = members_.read_notes(definition.annotations, Target::member);
  const TypeId type = types_.read_member(source.type, notes.all);
  locals_.check_state(type, source.type.span, "state");
  for (const ast::Declarator& declarator : source.declarators) {
    analysis_.names.declare(SymbolKind::member, declarator.name);
    Member member = members_.read_declarator(declarator, type, notes);
    open_value().state.push_back({std::move(member), state.is_public});
  }
}

void ValueMemberReader::read(const ast::Factory& factory, const ast::Definition& definition) {
  if (open_value().kind == ValueKind::abstract)
    analysis_.diagnostics.error(definition.keyword, "an abstract valuetype has no factories");
  Symbol& symbol = analysis_.names.declare(SymbolKind::factory, definition.name);
  symbol.definition = analysis_.builder.scope();
  symbol.index = static_cast<std::uint32_t>(open_value().factories.size());
  Factory result;
  result.name = definition.name.text;
  result.place = place_of(definition.name.span);
  result.annotations = analysis_.annotations.check(definition.annotations, Target::factory);
  for (const ast::Parameter& item : factory.parameters)
    if (item.direction != ast::Direction::in)
      analysis_.diagnostics.error(item.direction_span, "a factory has only `in` parameters");
  result.parameters = operations_.parameters(factory.parameters);
  result.raises = operations_.exceptions(factory.raises);
  result.repository_id = analysis_.ids.make(definition.name);
  open_value().factories.push_back(std::move(result));
}

}  // namespace corelane::idl
