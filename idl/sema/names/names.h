// Names declares and resolves names by the rules of IDL 4.2, clause 7.5, and reports violations.
//
// Threads: one owner.
//
// The folder idl/sema/names has scopes: what each name means, and which repository id it has.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/sema/names/scope.h"

namespace corelane::idl {

class Names {
 public:
  explicit Names(Diagnostics& diagnostics) : diagnostics_(diagnostics), current_(&file_) {}
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  Scope& current() { return *current_; }
  Scope& file_scope() { return file_; }
  // Returns the scope around the file. Any declaration of the user hides its names.
  Scope& standard_scope() { return standard_; }

  // Returns the scope inside a symbol. The scope is made on first use and kept.
  Scope& inside(Symbol& symbol, Scope::Kind kind);

  // Declares a name in the current scope. Reports a name that is taken; no search finds the returned symbol then.
  Symbol& declare(SymbolKind kind, const ast::Identifier& name);
  // Reports a name that an ancestor of the current scope uses for an operation, attribute or member. Declares nothing.
  void check_inherited(const ast::Identifier& name);
  // Reports that `name` cannot be declared because of `earlier`.
  void report_taken(const ast::Identifier& name, const Symbol& earlier);

  // Returns what the name means in the current scope; null (reported) if it has no meaning or more than one. The result
  // may be unusable; then its declaration was reported.
  Symbol* resolve(const ast::ScopedName& name);
  // Like resolve(), but for an annotation, and without reports.
  Symbol* find_annotation(const ast::ScopedName& name);
  // Returns whether the simple name has a meaning here. Reports nothing.
  bool is_known(const std::string& name) const;

 private:
  friend class OpenScope;

  struct Found {
    Symbol* symbol = nullptr;
    Symbol* other = nullptr;         // also inherited, and a different one
    const Symbol* passed = nullptr;  // an operation or attribute of an inner scope, whose name differs in case
  };
  static Found find_in(const Scope& scope, const std::string& name);
  using Seen = std::set<const Scope*>;
  static void find_in_bases(const Scope& scope, const std::string& name, Found& found, Seen& seen);
  Found find_outwards(const std::string& name, const Scope** where) const;

  Symbol* resolve_first(const ast::ScopedName& name);
  Symbol* resolve_inside(Symbol& outer, const ast::ScopedName& name, std::size_t part);
  Symbol* checked(const Found& found, const ast::Identifier& name);
  void report_used(SymbolKind kind, const ast::Identifier& name, const Scope::Use& use);
  void report_own_name(SymbolKind kind, const ast::Identifier& name);
  void report_passed(const Symbol& passed, const ast::Identifier& use);
  static std::string another_name(const Scope& scope, const std::string& name);
  void note_use(const ast::Identifier& name);
  void report_unknown(const ast::ScopedName& name);
  void report_unknown(const Scope& scope, const ast::Identifier& name, bool only_here);

  Diagnostics& diagnostics_;
  Scope standard_;
  Scope file_;
  Scope* current_;
  std::vector<std::unique_ptr<Symbol>> refused_;  // symbols whose names another symbol has
};

// Makes a scope the current one for its lifetime.
class OpenScope {
 public:
  OpenScope(Names& names, Scope& scope) : names_(names), before_(names.current_) { names.current_ = &scope; }
  // Makes a new scope for parameters, which lasts as long as this object.
  OpenScope(Names& names, Scope::Kind kind, const std::string& own_name);
  ~OpenScope() { names_.current_ = before_; }
  OpenScope(const OpenScope&) = delete;
  OpenScope& operator=(const OpenScope&) = delete;

 private:
  Names& names_;
  Scope* before_;
  Scope own_;
};

// Reports that the name means another kind of thing than what is wanted here, such as "a type".
void report_kind(Diagnostics& diagnostics, const ast::ScopedName& name, const Symbol& symbol, std::string_view wanted);

}  // namespace corelane::idl
