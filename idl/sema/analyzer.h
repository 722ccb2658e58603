// Analyzer: walks the syntax tree once, in order, and builds the model.
//
// Threads: one owner, used once.
// Invariants: a definition gets its DefId when its name is declared, so ids ascend in order of declaration; faulty
// definitions stay in the model, which is thrown away once an error was reported.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/model/model.h"
#include "idl/sema/annotations.h"
#include "idl/sema/constants.h"
#include "idl/sema/names.h"
#include "idl/sema/repository_ids.h"
#include "idl/sema/types.h"

namespace corelane::idl {

class Analyzer {
 public:
  Analyzer(const SourceMap& sources, Diagnostics& diagnostics)
      : sources_(sources),
        diagnostics_(diagnostics),
        types_(model_),
        names_(diagnostics),
        constants_(model_, types_, names_, diagnostics),
        annotations_(names_, constants_, types_, diagnostics) {}

  Model run(const ast::Specification& specification);

 private:
  struct ForwardUse {
    DefId definition;  // the Forward
    const Symbol* symbol;
    Span span;
    bool is_first;
  };
  // What is known of the interface whose body is being read.
  struct OpenInterface {
    Interface interface;
    std::map<std::string, const Symbol*> inherited;  // operations and attributes of ancestors, by lower-case name
  };

  void copy_files();
  void walk(const ast::Definitions& definitions, std::vector<DefId>& contents);
  void finish_forwards();

  // One overload per kind of definition (analyzer.cpp).
  void visit(const ast::Module& module, const ast::Definition& definition);
  void visit(const ast::Structure& structure, const ast::Definition& definition);
  void visit(const ast::Exception& exception, const ast::Definition& definition);
  void visit(const ast::Enumeration& enumeration, const ast::Definition& definition);
  void visit(const ast::Typedef& type, const ast::Definition& definition);
  void visit(const ast::Constant& constant, const ast::Definition& definition);
  void visit(const ast::AnnotationDeclaration& declaration, const ast::Definition& definition);
  void visit(const ast::Pragma& pragma, const ast::Definition& definition);
  void visit(const ast::Unsupported& unsupported, const ast::Definition& definition);
  void visit(const ast::ForwardStructure& forward, const ast::Definition& definition);

  // Interfaces (analyzer_interface.cpp).
  void visit(const ast::ForwardInterface& forward, const ast::Definition& definition);
  void visit(const ast::Interface& interface, const ast::Definition& definition);
  void visit(const ast::Operation& operation, const ast::Definition& definition);
  void visit(const ast::Attribute& attribute, const ast::Definition& definition);
  void add_bases(const ast::Interface& source, Scope& scope);
  void add_base(const ast::ScopedName& name, Scope& scope);
  void add_ancestor(DefId ancestor, const Span& at);
  Symbol& declare_feature(SymbolKind kind, const ast::Identifier& name);
  Parameter parameter(const ast::Parameter& source);
  void check_oneway(const ast::Operation& source);
  std::vector<DefId> exceptions(const std::vector<ast::ScopedName>& names);

  // Parts of definitions (analyzer_parts.cpp).
  DefId add(const ast::Identifier& name, const ast::Annotations& notes);
  void add_forward(SymbolKind kind, TypeKind type_kind, const ast::Definition& definition);
  Symbol& declare_or_complete(SymbolKind kind, const ast::Identifier& name);
  void make_type(Symbol& symbol, TypeKind kind, DefId id);
  std::vector<Member> members(const std::vector<ast::Member>& sources, const std::string& owner);
  TypeId type(const ast::TypeSpec& spec, bool in_sequence = false);
  TypeId named_type(const ast::ScopedName& name, bool in_sequence);
  TypeId complete_type(const ast::TypeSpec& spec);
  const Symbol* incomplete_struct_in(TypeId id) const;
  void report_incomplete(const Symbol& symbol, const Span& at);
  bool may_be_constant(TypeId id, const Span& at);

  const SourceMap& sources_;
  Diagnostics& diagnostics_;
  Model model_;
  TypeTable types_;
  Names names_;
  Constants constants_;
  AnnotationChecker annotations_;
  RepositoryIds ids_;
  std::vector<DefId>* contents_ = nullptr;   // of the scope being read
  DefId scope_ = DefId::none;                // the Module or Interface being read
  OpenInterface* interface_ = nullptr;       // being read
  std::map<TypeId, const Symbol*> by_type_;  // structs, enums and interfaces
  std::vector<ForwardUse> forwards_;
  const Symbol* open_struct_ = nullptr;  // being read
  bool open_struct_recursive_ = false;
};

}  // namespace corelane::idl
