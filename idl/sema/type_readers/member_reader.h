// MemberReader reads the members of structs, unions, exceptions and values.
//
// Threads: one owner.
#pragma once

#include <vector>

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/type_readers/type_reader.h"

namespace corelane::idl {

// The annotations of a declaration with members, and what @optional and @default say there.
struct MemberNotes {
  Annotations all;
  bool optional = false;
  const Value* fallback = nullptr;  // lies in `all`; null: none
  Span fallback_at{};
};

class MemberReader {
 public:
  MemberReader(Analysis& analysis, TypeReader& types) : analysis_(analysis), types_(types) {}

  // Declares the members in the current scope and appends them to `into`.
  void read(const std::vector<ast::Member>& sources, std::vector<Member>& into);

  // These read parts of one declaration. Call them in this order, with TypeReader::read_member() between them.
  MemberNotes read_notes(const ast::Annotations& written, Target target);
  Member read_declarator(const ast::Declarator& declarator, TypeId type, const MemberNotes& notes);

 private:
  Analysis& analysis_;
  TypeReader& types_;
};

}  // namespace corelane::idl
