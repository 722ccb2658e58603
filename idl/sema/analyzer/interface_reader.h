// InterfaceReader reads interfaces. Their operations and attributes are read by OperationReader.
//
// Threads: one owner.
#pragma once

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/definitions/forward_declarations.h"
#include "idl/sema/definitions/inheritance.h"
#include "idl/sema/type_readers/definition_reader.h"

namespace corelane::idl {

class InterfaceReader {
 public:
  InterfaceReader(Analysis& analysis, ForwardDeclarations& forwards, Inheritance& inheritance,
                  DefinitionReader& definitions)
      : analysis_(analysis), forwards_(forwards), inheritance_(inheritance), definitions_(definitions) {}

  void read(const ast::ForwardInterface& forward, const ast::Definition& definition);
  void read(const ast::Interface& source, const ast::Definition& definition);

 private:
  void add_bases(const ast::Interface& source, DefId id, Scope& scope);
  void check_base_kind(Interface& derived, Symbol& symbol, const Symbol& base, const Span& at);

  Analysis& analysis_;
  ForwardDeclarations& forwards_;
  Inheritance& inheritance_;
  DefinitionReader& definitions_;
};

}  // namespace corelane::idl
