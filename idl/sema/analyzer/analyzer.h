// Analyzer builds the model from the syntax tree. It visits the tree once, in order.
//
// Threads: one owner, used once.
// Invariants: a definition gets its DefId when its name is declared, so ids ascend in order of declaration. Faulty
// definitions stay in the model, but the model is not used once an error was reported.
//
// The room idl/sema/analyzer walks the syntax tree and makes the model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/model/model.h"
#include "idl/sema/annotations/annotations.h"
#include "idl/sema/constants/constants.h"
#include "idl/sema/names/names.h"
#include "idl/sema/names/symbol_ids.h"
#include "idl/sema/types/extents.h"
#include "idl/sema/types/types.h"

namespace corelane::idl {

class Analyzer {
 public:
  Analyzer(const SourceMap& sources, Diagnostics& diagnostics)
      : sources_(sources),
        diagnostics_(diagnostics),
        types_(model_),
        names_(diagnostics),
        constants_(model_, types_, names_, diagnostics),
        annotations_(model_, names_, constants_, diagnostics),
        ids_(model_, names_, diagnostics) {}

  Model run(const ast::Specification& specification);

 private:
  struct ForwardUse {
    DefId definition;  // the Forward
    const Symbol* symbol;
    Span span;
    bool is_first;
  };
  // A struct, union or exception whose body is currently being read.
  struct OpenAggregate {
    const Symbol* symbol;
    bool recursive = false;  // contains itself
  };

  void copy_files();
  void walk(const ast::Definitions& definitions, std::vector<DefId>& contents);
  void finish_forwards();
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
  template <typename Read>
  bool read_body(Symbol& symbol, DefId id, SourceId file, std::vector<DefId>& contents, const Read& read);
  DefId base_structure(const ast::ScopedName& name, Symbol& derived);
  void add_members(const std::vector<ast::Member>& sources, std::vector<Member>& into);
  void add_members(const ast::Member& source, Target target, std::vector<Member>& into);
  // The annotations of a declaration with members, and what @optional and @default say there.
  struct MemberNotes {
    Annotations all;
    bool optional = false;
    const Value* fallback = nullptr;  // lies in `all`; null: none
    Span fallback_at{};
  };
  MemberNotes notes_of_member(const ast::Annotations& written, Target target);
  void apply(const MemberNotes& notes, Member& member);
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
                                 DefId id, Scope& inside);
  const Symbol* base(const ast::ScopedName& name, SymbolKind kind, const Scope& derived);
  void check_base_kind(Interface& derived, Symbol& symbol, const Symbol& base, const Span& at);
  void inherit(const Symbol& base, std::vector<DefId>& ancestors, Scope& scope, const Span& at);
  void inherit_names(const Symbol& ancestor, Scope& scope, const Span& at);
  std::vector<Operation>& operations();
  std::vector<Attribute>& attributes();
  std::vector<Parameter> parameters(const std::vector<ast::Parameter>& sources);
  Parameter parameter(const ast::Parameter& source);
  void check_oneway(const ast::Operation& source, const Span& name);
  std::vector<std::string> contexts(const std::vector<ast::ContextName>& names);
  std::vector<DefId> exceptions(const std::vector<ast::ScopedName>& names);
  bool is_remote() const;
  void check_remote(TypeId type, const Span& at, std::string_view what);
  void report_local(const Span& at, std::string_view what, const Symbol& local);
  void check_state(TypeId type, const Span& at, std::string_view what);
  const Symbol* local_in(TypeId id) const;
  void note_local(TypeId holder, TypeId member);

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
  Valuetype& open_value() { return std::get<Valuetype>(model_[scope_].body); }

  // Parts of definitions (analyzer_parts.cpp).
  DefId add(Symbol& symbol, const ast::Identifier& name, Annotations annotations);
  void add_forward(SymbolKind kind, TypeKind type_kind, Target target, std::uint8_t flavour,
                   const ast::Definition& definition);
  void check_flavour(const Symbol& symbol, std::uint8_t flavour, const Span& at);
  Symbol& declare_or_complete(SymbolKind kind, const ast::Identifier& name);
  void check_file_of_forward(const Symbol& symbol, DefId id);
  void make_type(Symbol& symbol, TypeKind kind, DefId id);
  TypeId type(const ast::TypeSpec& spec, bool in_container = false);
  TypeId container_type(Type made, const ast::TypeSpec& element, const ast::ExpressionPtr& bound);
  TypeId map_type(const ast::MapOf& map);
  TypeId fixed_type(const ast::FixedOf& fixed, const Span& at);
  TypeId named_type(const ast::ScopedName& name, bool in_container);
  TypeId inline_type(const ast::InlineDefinition& source);
  TypeId array_of(TypeId element, const ast::Declarator& declarator);
  TypeId declared(TypeId type, const Span& at);
  bool check_extent(const Extent& extent, const Span& at);
  bool is_type_code(const ast::ScopedName& name);
  std::optional<std::uint64_t> bound(const ast::Expression& expression);
  void note_anonymous(const ast::TypeSpec& spec);
  TypeId complete_type(const ast::TypeSpec& spec, const Annotations& notes);
  const Symbol* incomplete_in(TypeId id) const;
  OpenAggregate* open_aggregate(const Symbol* symbol);
  void report_incomplete(const Symbol& symbol, const Span& at);
  bool report_optional(const ast::TypeSpec& spec);
  bool may_be_constant(TypeId id, const Span& at);

  const SourceMap& sources_;
  Diagnostics& diagnostics_;
  Model model_;
  TypeTable types_;
  Extents extents_{model_};
  Names names_;
  Constants constants_;
  AnnotationChecker annotations_;
  SymbolIds ids_;
  std::vector<DefId>* contents_ = nullptr;  // of the current scope
  DefId scope_ = DefId::none;               // the definition around the current scope
  std::map<TypeId, const Symbol*> by_type_;
  std::map<TypeId, const Symbol*> holds_local_;  // structs and unions with a local interface or a native type in them
  std::map<const Symbol*, const Symbol*> local_exceptions_;  // exceptions with one in them
  std::vector<ForwardUse> forwards_;
  std::vector<OpenAggregate> open_;  // innermost last
};

// Reads the body of a struct, union, exception or the like in its own scope. Returns whether the type contains itself.
template <typename Read>
bool Analyzer::read_body(Symbol& symbol, DefId id, SourceId file, std::vector<DefId>& contents, const Read& read) {
  symbol.defined = false;
  open_.push_back({&symbol});
  const DefId outer = std::exchange(scope_, id);
  std::vector<DefId>* const before = std::exchange(contents_, &contents);
  ids_.enter(file, symbol);
  {
    const OpenScope open(names_, names_.inside(symbol, Scope::Kind::members));
    read();
  }
  ids_.leave();
  contents_ = before;
  scope_ = outer;
  const bool recursive = open_.back().recursive;
  open_.pop_back();
  symbol.defined = true;
  return recursive;
}

}  // namespace corelane::idl
