#include "idl/sema/type_readers/member_reader.h"

namespace corelane::idl {

void MemberReader::read(const std::vector<ast::Member>& sources, std::vector<Member>& into) {
  for (const ast::Member& source : sources) {
    const MemberNotes notes = read_notes(source.annotations, Target::member);
    const TypeId type = types_.read_member(source.type, notes.all);
    for (const ast::Declarator& declarator : source.declarators) {
      analysis_.names.declare(SymbolKind::member, declarator.name);
      into.push_back(read_declarator(declarator, type, notes));
    }
  }
}

MemberNotes MemberReader::read_notes(const ast::Annotations& written, Target target) {
  MemberNotes notes{.all = analysis_.annotations.check(written, target)};
  notes.optional = is_set(notes.all, "optional");
  const Annotation* fallback = find(notes.all, "default");
  if (fallback != nullptr) notes.fallback = find(*fallback, "value");
  if (notes.fallback != nullptr) notes.fallback_at = AnnotationChecker::value_span(written, "default");
  return notes;
}

Member MemberReader::read_declarator(const ast::Declarator& declarator, TypeId type, const MemberNotes& notes) {
  Member member{.name = declarator.name.text,
                .type = types_.read_declarator(type, declarator),
                .annotations = notes.all,
                .place = place_of(declarator.name.span)};
  member.optional = notes.optional;
  if (notes.fallback == nullptr || member.type == TypeId::none) return member;
  if (analysis_.constants.check_type(member.type, notes.fallback_at))
    member.default_value = analysis_.constants.convert(*notes.fallback, member.type, notes.fallback_at);
  return member;
}

}  // namespace corelane::idl
