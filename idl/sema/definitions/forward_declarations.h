// ForwardDeclarations keeps the forward declarations of interfaces, valuetypes, structs and unions, and connects them
// with the definitions.
//
// Threads: one owner.
#pragma once

#include <cstdint>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"

namespace corelane::idl {

class ForwardDeclarations {
 public:
  explicit ForwardDeclarations(Analysis& analysis) : analysis_(analysis) {}

  // Adds a forward declaration. `flavour` is that of Symbol.
  void add(SymbolKind kind, TypeKind type_kind, Target target, std::uint8_t flavour, const ast::Definition& definition);

  // Returns the symbol for a new definition: that of its forward declaration, or a new one.
  Symbol& declare_or_complete(SymbolKind kind, const ast::Identifier& name);

  // Checks that all declarations of an interface or valuetype agree about abstract and local.
  void check_flavour(Symbol& symbol, std::uint8_t flavour, const Span& at);

  // Checks that a struct or union is defined in the file that declares it first.
  void check_file(const Symbol& symbol, DefId id);

  // Connects forward declarations with their definitions. A type that is only declared is an error at the end, except
  // for interfaces and valuetypes. References to these need no definition, and another file may have it.
  void finish();

 private:
  struct Declaration {
    DefId definition;  // the Forward
    const Symbol* symbol;
    Span span;
    bool is_first;
  };

  void finish_undefined(const Declaration& declaration);

  Analysis& analysis_;
  std::vector<Declaration> declarations_;
};

}  // namespace corelane::idl
