// UnionReader reads unions.
//
// Threads: one owner.
#pragma once

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/definitions/forward_declarations.h"
#include "idl/sema/definitions/local_types.h"
#include "idl/sema/definitions/open_aggregates.h"
#include "idl/sema/type_readers/member_reader.h"
#include "idl/sema/type_readers/type_reader.h"

namespace corelane::idl {

class UnionReader {
 public:
  UnionReader(Analysis& analysis, ForwardDeclarations& forwards, LocalTypes& locals, OpenAggregates& aggregates,
              TypeReader& types, MemberReader& members)
      : analysis_(analysis),
        forwards_(forwards),
        locals_(locals),
        aggregates_(aggregates),
        types_(types),
        members_(members) {}

  void read(const ast::ForwardUnion& forward, const ast::Definition& definition);
  void read(const ast::Union& source, const ast::Definition& definition);

 private:
  UnionBranch branch(const ast::Branch& source, TypeId discriminator);

  Analysis& analysis_;
  ForwardDeclarations& forwards_;
  LocalTypes& locals_;
  OpenAggregates& aggregates_;
  TypeReader& types_;
  MemberReader& members_;
};

}  // namespace corelane::idl
