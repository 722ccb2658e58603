// StructureReader reads structs and exceptions.
//
// Threads: one owner.
#pragma once

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/definitions/forward_declarations.h"
#include "idl/sema/definitions/inheritance.h"
#include "idl/sema/definitions/local_types.h"
#include "idl/sema/definitions/open_aggregates.h"
#include "idl/sema/type_readers/member_reader.h"

namespace corelane::idl {

class StructureReader {
 public:
  StructureReader(Analysis& analysis, ForwardDeclarations& forwards, Inheritance& inheritance, LocalTypes& locals,
                  OpenAggregates& aggregates, MemberReader& members)
      : analysis_(analysis),
        forwards_(forwards),
        inheritance_(inheritance),
        locals_(locals),
        aggregates_(aggregates),
        members_(members) {}

  void read(const ast::ForwardStructure& forward, const ast::Definition& definition);
  void read(const ast::Structure& structure, const ast::Definition& definition);
  void read(const ast::Exception& exception, const ast::Definition& definition);

 private:
  DefId base_structure(const ast::ScopedName& name, Symbol& derived);
  Extent extent_of(const Structure& body);

  Analysis& analysis_;
  ForwardDeclarations& forwards_;
  Inheritance& inheritance_;
  LocalTypes& locals_;
  OpenAggregates& aggregates_;
  MemberReader& members_;
};

}  // namespace corelane::idl
