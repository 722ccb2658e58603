// SymbolIds gives the definitions of a model their repository ids. An id follows from the prefix in effect, unless a
// directive gives it: #pragma prefix, ID and version, typeprefix and typeid. Section: CORBA 3.4 part 1, 14.7.5.
//
// Threads: one owner.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/model/model.h"
#include "idl/sema/names/names.h"
#include "idl/sema/names/repository_ids.h"

namespace corelane::idl {

class SymbolIds {
 public:
  SymbolIds(Model& model, Names& names, Diagnostics& diagnostics)
      : model_(model), names_(names), diagnostics_(diagnostics) {}

  // Call these when a scope (module, interface, ...) opens and closes. `file` is the file that opens it.
  void enter(SourceId file, const Symbol& symbol) { prefixes_.enter(file, symbol); }
  void leave() { prefixes_.leave(); }

  // Returns the id of something that is now declared in the current scope.
  std::string make(const ast::Identifier& name) const;

  // Records a first forward declaration, which is now in the current scope.
  void declare_forward(const Symbol& symbol, const ast::Identifier& name) { forward_ids_[&symbol] = make(name); }
  bool is_declared_forward(const Symbol& symbol) const { return forward_ids_.contains(&symbol); }

  // Completes the id of a definition that the model got from `name`: checks that it is the id of the forward
  // declaration, and applies what directives have said about the symbol.
  void define(const Symbol& symbol, const ast::Identifier& name);

  // Does what a directive at `at` says in the current scope.
  void apply(const ast::IdDirective& directive, const Span& at);

  // Reports modules that a typeprefix names and that are never opened.
  void finish();

 private:
  // What directives have said about the id of a symbol.
  struct ExplicitId {
    std::string id;       // empty: only the version is known
    std::string version;  // empty: not given
    Span span;
  };

  void announce_module(const ast::ScopedName& name);
  void set_type_prefix(const Symbol& symbol, const ast::IdDirective& directive, const Span& at);
  void set_explicit_id(const Symbol& symbol, const ast::IdDirective& directive, const Span& at);
  void apply_explicit_id(const Symbol& symbol);

  Model& model_;
  Names& names_;
  Diagnostics& diagnostics_;
  RepositoryIds prefixes_;
  std::map<const Symbol*, ExplicitId> explicit_ids_;
  std::map<const Symbol*, std::string> forward_ids_;  // the ids that the first declarations got
  std::vector<const Symbol*> announced_;              // modules that a typeprefix names before they are opened
};

}  // namespace corelane::idl
