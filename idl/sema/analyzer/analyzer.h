// Analyzer builds the model from the syntax tree. It visits the tree once, in order.
//
// Threads: one owner, used once.
// Invariants: a definition gets its DefId when its name is declared, so ids ascend in order of declaration. Faulty
// definitions stay in the model, but the model is not used once an error was reported.
//
// The room idl/sema/analyzer walks the syntax tree and makes the model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/model/model.h"
#include "idl/sema/analyzer/definition_reader.h"
#include "idl/sema/analyzer/member_reader.h"
#include "idl/sema/analyzer/type_reader.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/definitions/forward_declarations.h"
#include "idl/sema/definitions/inheritance.h"
#include "idl/sema/definitions/local_types.h"
#include "idl/sema/definitions/open_aggregates.h"

namespace corelane::idl {

class Analyzer : public DefinitionReader {
 public:
  Analyzer(const SourceMap& sources, Diagnostics& diagnostics) : analysis_(sources, diagnostics) {}

  Model run(const ast::Specification& specification);

 private:
  void read(const ast::Definition& definition) override;
  void copy_files();
  void walk(const ast::Definitions& definitions, std::vector<DefId>& contents);
  void check_endless();

  // Modules and their contents (analyzer.cpp).
  void visit(const ast::Module& module, const ast::Definition& definition);
  void visit(const ast::Typedef& type, const ast::Definition& definition);
  void visit(const ast::Native& native, const ast::Definition& definition);
  void visit(const ast::Constant& constant, const ast::Definition& definition);
  void visit(const ast::AnnotationDeclaration& declaration, const ast::Definition& definition);
  void visit(const ast::Import& import, const ast::Definition& definition);
  void visit(const ast::IdDirective& directive, const ast::Definition& definition);
  void make_alias(TypeId aliased, const ast::Identifier& name, const Annotations& notes);

  // Types with members (analyzer_members.cpp).
  void visit(const ast::Structure& structure, const ast::Definition& definition);
  void visit(const ast::ForwardStructure& forward, const ast::Definition& definition);
  void visit(const ast::Exception& exception, const ast::Definition& definition);
  void visit(const ast::Union& source, const ast::Definition& definition);
  void visit(const ast::ForwardUnion& forward, const ast::Definition& definition);
  DefId base_structure(const ast::ScopedName& name, Symbol& derived);
  UnionBranch branch(const ast::Branch& source, TypeId discriminator);
  bool may_discriminate(TypeId id, const Span& at);
  void drop_default(const Span& at, Union& body);
  void check_labels(const ast::Union& source, Union& body);

  // Enums, bitmasks and bitsets (analyzer_enums.cpp).
  void visit(const ast::Enumeration& enumeration, const ast::Definition& definition);
  void visit(const ast::Bitmask& bitmask, const ast::Definition& definition);
  void visit(const ast::Bitset& bitset, const ast::Definition& definition);
  std::uint16_t bit_bound(const Annotations& annotations, const ast::Definition& definition, std::uint16_t usual,
                          std::uint16_t most);
  void number_enumerators(Enumeration& body, const std::vector<ast::Enumerator>& sources);
  void number_bits(Bitmask& body, const std::vector<ast::Enumerator>& sources);
  void add_bitfields(const ast::Bitfield& source, Bitset& body);
  TypeId bitfield_type(const ast::Bitfield& source, std::uint16_t bits);
  Symbol& declare_enumerator(const ast::Identifier& name, DefId owner, std::size_t index);

  // Interfaces (analyzer_interface.cpp).
  void visit(const ast::ForwardInterface& forward, const ast::Definition& definition);
  void visit(const ast::Interface& interface, const ast::Definition& definition);
  void visit(const ast::Operation& operation, const ast::Definition& definition);
  void visit(const ast::Attribute& attribute, const ast::Definition& definition);
  void add_bases(const ast::Interface& source, DefId id, Scope& scope);
  std::vector<DefId> contents_of(const ast::Definition& definition, const ast::Definitions& body, const Symbol& symbol,
                                 DefId id);
  void check_base_kind(Interface& derived, Symbol& symbol, const Symbol& base, const Span& at);
  std::vector<Operation>& operations();
  std::vector<Attribute>& attributes();
  std::vector<Parameter> parameters(const std::vector<ast::Parameter>& sources);
  Parameter parameter(const ast::Parameter& source);
  void check_oneway(const ast::Operation& source, const Span& name);
  std::vector<std::string> contexts(const std::vector<ast::ContextName>& names);
  std::vector<DefId> exceptions(const std::vector<ast::ScopedName>& names);

  // Value types (analyzer_value.cpp).
  void visit(const ast::ForwardValue& forward, const ast::Definition& definition);
  void visit(const ast::Valuetype& source, const ast::Definition& definition);
  void visit(const ast::ValueBox& box, const ast::Definition& definition);
  void visit(const ast::State& state, const ast::Definition& definition);
  void visit(const ast::Factory& factory, const ast::Definition& definition);
  void add_bases(const ast::Valuetype& source, DefId id, Scope& scope);
  void check_base_kind(const ast::Valuetype& source, const Valuetype& base, const std::string& name, bool first,
                       const Span& at);
  void add_supports(const ast::Valuetype& source, DefId id, Scope& scope);
  Valuetype& open_value() { return std::get<Valuetype>(analysis_.model[analysis_.builder.scope()].body); }

  Analysis analysis_;
  ForwardDeclarations forwards_{analysis_};
  Inheritance inheritance_{analysis_};
  LocalTypes locals_{analysis_};
  OpenAggregates aggregates_{analysis_};
  TypeReader types_{analysis_, aggregates_, *this};
  MemberReader members_{analysis_, types_};
};

}  // namespace corelane::idl
