// DeclarationReader reads definitions without a body: typedefs, native types, value boxes and constants.
//
// Threads: one owner.
#pragma once

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/definitions/local_types.h"
#include "idl/sema/type_readers/type_reader.h"

namespace corelane::idl {

class DeclarationReader {
 public:
  DeclarationReader(Analysis& analysis, LocalTypes& locals, TypeReader& types)
      : analysis_(analysis), locals_(locals), types_(types) {}

  void read(const ast::Typedef& source, const ast::Definition& definition);
  void read(const ast::Native& native, const ast::Definition& definition);
  void read(const ast::ValueBox& box, const ast::Definition& definition);
  void read(const ast::Constant& constant, const ast::Definition& definition);

 private:
  void make_alias(TypeId aliased, const ast::Identifier& name, const Annotations& notes);

  Analysis& analysis_;
  LocalTypes& locals_;
  TypeReader& types_;
};

}  // namespace corelane::idl
