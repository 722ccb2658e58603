// ModuleReader reads modules, declarations of annotations, imports, and directives about repository ids.
//
// Threads: one owner.
#pragma once

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/type_readers/definition_reader.h"
#include "idl/sema/type_readers/type_reader.h"

namespace corelane::idl {

class ModuleReader {
 public:
  ModuleReader(Analysis& analysis, TypeReader& types, DefinitionReader& definitions)
      : analysis_(analysis), types_(types), definitions_(definitions) {}

  void read(const ast::Module& module, const ast::Definition& definition);
  void read(const ast::AnnotationDeclaration& declaration, const ast::Definition& definition);
  void read(const ast::Import& import, const ast::Definition& definition);
  void read(const ast::IdDirective& directive, const ast::Definition& definition);

 private:
  Analysis& analysis_;
  TypeReader& types_;
  DefinitionReader& definitions_;
};

}  // namespace corelane::idl
