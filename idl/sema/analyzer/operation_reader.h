// OperationReader reads operations and attributes of interfaces and valuetypes.
//
// Threads: one owner.
#pragma once

#include <string>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/definitions/local_types.h"
#include "idl/sema/type_readers/type_reader.h"

namespace corelane::idl {

class OperationReader {
 public:
  OperationReader(Analysis& analysis, LocalTypes& locals, TypeReader& types)
      : analysis_(analysis), locals_(locals), types_(types) {}

  void read(const ast::Operation& source, const ast::Definition& definition);
  void read(const ast::Attribute& source, const ast::Definition& definition);

  // These read parts of operations, which factories have, too.
  std::vector<Parameter> parameters(const std::vector<ast::Parameter>& sources);
  std::vector<DefId> exceptions(const std::vector<ast::ScopedName>& names);

 private:
  Parameter parameter(const ast::Parameter& source);
  void check_oneway(const ast::Operation& source, const Span& name);
  std::vector<std::string> contexts(const std::vector<ast::ContextName>& names);

  Analysis& analysis_;
  LocalTypes& locals_;
  TypeReader& types_;
};

}  // namespace corelane::idl
