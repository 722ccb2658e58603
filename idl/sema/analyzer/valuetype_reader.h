// ValuetypeReader reads valuetypes. ValueMemberReader reads their state and factories, OperationReader their operations
// and attributes. Section: OMG IDL 4.2, 7.4.5 and 7.4.7.
//
// Threads: one owner.
#pragma once

#include <string>

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/definitions/forward_declarations.h"
#include "idl/sema/definitions/inheritance.h"
#include "idl/sema/type_readers/definition_reader.h"

namespace corelane::idl {

class ValuetypeReader {
 public:
  ValuetypeReader(Analysis& analysis, ForwardDeclarations& forwards, Inheritance& inheritance,
                  DefinitionReader& definitions)
      : analysis_(analysis), forwards_(forwards), inheritance_(inheritance), definitions_(definitions) {}

  void read(const ast::ForwardValue& forward, const ast::Definition& definition);
  void read(const ast::Valuetype& source, const ast::Definition& definition);

 private:
  void add_bases(const ast::Valuetype& source, DefId id, Scope& scope);
  void check_base_kind(const ast::Valuetype& source, const Valuetype& base, const std::string& name, bool first,
                       const Span& at);
  void add_supports(const ast::Valuetype& source, DefId id, Scope& scope);

  Analysis& analysis_;
  ForwardDeclarations& forwards_;
  Inheritance& inheritance_;
  DefinitionReader& definitions_;
};

}  // namespace corelane::idl
