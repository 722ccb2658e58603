// Inheritance finds the bases of interfaces, valuetypes, structs and bitsets, and adds what they bring.
//
// Threads: one owner.
#pragma once

#include <vector>

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"

namespace corelane::idl {

class Inheritance {
 public:
  explicit Inheritance(Analysis& analysis) : analysis_(analysis) {}

  // Returns the complete definition of that kind which the name of a base refers to; null (reported) if there is none.
  // `derived` is the scope of what inherits.
  const Symbol* base(const ast::ScopedName& name, SymbolKind kind, const Scope& derived);

  // Adds the base and its ancestors to `ancestors`, each once even if several paths lead to it, and their names to
  // `scope`.
  void inherit(const Symbol& base, std::vector<DefId>& ancestors, Scope& scope, const Span& at);

  // Adds the operations, attributes and members of an ancestor. Reports two different ones with the same name.
  void inherit_names(const Symbol& ancestor, Scope& scope, const Span& at);

 private:
  Analysis& analysis_;
};

}  // namespace corelane::idl
