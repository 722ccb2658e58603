// Analyzer builds the model from the syntax tree. It visits the tree once, in order, and lets a reader read each
// definition.
//
// Threads: one owner, used once.
// Invariants: DefIds ascend in the order of the text. A forward declaration and its definition have an id each. Faulty
// definitions stay in the model. After an error nobody may use the model.
//
// The folder idl/sema/analyzer walks the syntax tree and makes the model.
#pragma once

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/model/model.h"
#include "idl/sema/analyzer/declaration_reader.h"
#include "idl/sema/analyzer/interface_reader.h"
#include "idl/sema/analyzer/module_reader.h"
#include "idl/sema/analyzer/operation_reader.h"
#include "idl/sema/analyzer/value_member_reader.h"
#include "idl/sema/analyzer/valuetype_reader.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/definitions/forward_declarations.h"
#include "idl/sema/definitions/inheritance.h"
#include "idl/sema/definitions/local_types.h"
#include "idl/sema/definitions/open_aggregates.h"
#include "idl/sema/type_readers/bitset_reader.h"
#include "idl/sema/type_readers/definition_reader.h"
#include "idl/sema/type_readers/enumeration_reader.h"
#include "idl/sema/type_readers/member_reader.h"
#include "idl/sema/type_readers/structure_reader.h"
#include "idl/sema/type_readers/type_reader.h"
#include "idl/sema/type_readers/union_reader.h"

namespace corelane::idl {

class Analyzer : public DefinitionReader {
 public:
  Analyzer(const SourceMap& sources, Diagnostics& diagnostics) : analysis_(sources, diagnostics) {}

  Model run(const ast::Specification& specification);

 private:
  void read(const ast::Definition& definition) override;

  Analysis analysis_;
  ForwardDeclarations forwards_{analysis_};
  Inheritance inheritance_{analysis_};
  LocalTypes locals_{analysis_};
  OpenAggregates aggregates_{analysis_};

  // read() calls the first of these that has a read() for the node of the tree.
  TypeReader types_{analysis_, aggregates_, *this};
  MemberReader members_{analysis_, types_};
  ModuleReader modules_{analysis_, types_, *this};
  DeclarationReader declarations_{analysis_, locals_, types_};
  StructureReader structures_{analysis_, forwards_, inheritance_, locals_, aggregates_, members_};
  UnionReader unions_{analysis_, forwards_, locals_, aggregates_, types_, members_};
  EnumerationReader enumerations_{analysis_};
  BitsetReader bitsets_{analysis_, inheritance_, aggregates_, types_};
  InterfaceReader interfaces_{analysis_, forwards_, inheritance_, *this};
  OperationReader operations_{analysis_, locals_, types_};
  ValuetypeReader valuetypes_{analysis_, forwards_, inheritance_, *this};
  ValueMemberReader value_members_{analysis_, locals_, types_, members_, operations_};
};

}  // namespace corelane::idl
