// Parser is the recursive-descent parser behind parse(), with one function per grammar rule. A rule that finds
// something unexpected reports it and throws SyntaxError. The innermost list of declarations catches it.
//
// Threads: one owner, used once.
// Invariants: the limits below bound the recursion; each turn of a list's loop consumes at least one token.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/front/lexer/token_cursor.h"
#include "idl/front/parser/parse.h"

namespace corelane::idl {

class Parser {
 public:
  static constexpr std::size_t deepest_module = 64;
  static constexpr std::size_t deepest_type = 64;
  static constexpr std::size_t deepest_expression = 100;     // parentheses and prefix operators
  static constexpr std::uint32_t longest_expression = 1000;  // operators in a row

  Parser(const std::vector<Token>& tokens, Diagnostics& diagnostics)
      : cursor_(tokens, diagnostics), diagnostics_(diagnostics) {}

  Parsed run();

 private:
  using DefinitionPtr = std::unique_ptr<ast::Definition>;
  // Reads a declaration after its keyword, up to its ';'.
  using Rule = DefinitionPtr (Parser::*)(const Token& keyword);
  // The bodies that a definition can be in, as bits.
  enum Body : std::uint8_t { in_module = 1, in_interface = 2, in_value = 4, in_annotation = 8 };
  struct Entry {
    std::string_view keyword;
    Rule rule;
    unsigned bodies;
    bool is_word = false;  // no keyword: recognized only before "name {", "name :" and "interface"
  };
  static const Entry entries[];

  // Lists of declarations (parser.cpp).
  void definitions(ast::Definitions& into, Body kind);
  void add_pragmas(ast::Definitions& into);
  void one_definition(ast::Definitions& into, Body kind);
  DefinitionPtr definition(Body kind);
  const Entry* entry_here(Body kind) const;
  template <typename Item>
  void recovering(const Item& item);
  DefinitionPtr made(ast::Identifier name, const Token& keyword) const;
  DefinitionPtr named(const Token& keyword, std::string_view what = {});
  std::optional<DefinitionPtr> pragma(const Token& token);
  void pragma_words(const std::vector<Token>& words, const Span& at, ast::IdDirective& result, std::size_t& next);

  // Definitions (parser_definitions.cpp).
  DefinitionPtr module_rule(const Token& keyword);
  bool has_body_after_scoped_name() const;
  DefinitionPtr structure(const Token& keyword);
  DefinitionPtr union_rule(const Token& keyword);
  ast::Branch branch();
  std::vector<ast::Label> labels();
  DefinitionPtr exception(const Token& keyword);
  DefinitionPtr enumeration(const Token& keyword);
  DefinitionPtr bitmask(const Token& keyword);
  std::vector<ast::Enumerator> enumerators(std::string_view what);
  DefinitionPtr bitset(const Token& keyword);
  ast::Bitfield bitfield();
  std::vector<ast::Member> members();
  ast::Member member();
  DefinitionPtr type_definition(const Token& keyword);
  DefinitionPtr native(const Token& keyword);
  DefinitionPtr constant(const Token& keyword);
  DefinitionPtr type_id(const Token& keyword);
  DefinitionPtr type_prefix(const Token& keyword);
  DefinitionPtr import(const Token& keyword);
  DefinitionPtr annotation_declaration();
  void annotation_parameter_declaration(ast::AnnotationDeclaration& into);

  // Interfaces and value types (parser_interface.cpp).
  DefinitionPtr plain_interface(const Token& keyword);
  DefinitionPtr local_interface(const Token& keyword);
  DefinitionPtr pseudo_interface(const Token& keyword);
  DefinitionPtr abstract_rule(const Token& keyword);
  DefinitionPtr interface_rule(const Token& keyword, ast::InterfaceKind kind);
  DefinitionPtr plain_valuetype(const Token& keyword);
  DefinitionPtr custom_valuetype(const Token& keyword);
  DefinitionPtr valuetype(const Token& keyword, ast::ValueKind kind);
  std::vector<ast::ScopedName> names(std::string_view what);
  DefinitionPtr state(const Token& keyword);
  DefinitionPtr factory(const Token& keyword);
  DefinitionPtr operation_or_attribute();
  DefinitionPtr operation();
  DefinitionPtr attribute();
  std::vector<ast::Parameter> parameters();
  ast::Parameter parameter();
  std::vector<ast::ScopedName> exception_names();
  std::vector<ast::ContextName> context_names();

  // Types, names and annotations (parser_types.cpp).
  // Whether a struct, union or enum can be defined where a type's name is expected.
  enum class Inline : std::uint8_t { refused, allowed };
  ast::TypeSpec type(std::string_view what, Inline constructs = Inline::refused);
  ast::TypeSpec type_inside(std::string_view what, Inline constructs);
  ast::TypeSpec keyword_type(std::string_view what, Inline constructs);
  ast::TypeSpec integer_type();
  ast::TypeSpec string_type();
  ast::TypeSpecPtr element_type(std::string_view what);
  ast::TypeSpec sequence_type();
  ast::TypeSpec map_type();
  ast::TypeSpec fixed_type();
  ast::TypeSpec inline_construct();
  ast::TypeSpec misplaced_construct();
  ast::ExpressionPtr bound();
  std::vector<ast::Declarator> declarators();
  ast::Declarator declarator();
  ast::Identifier simple_declarator(std::string_view what);
  ast::Identifier identifier(std::string_view what);
  ast::Identifier unescaped(const Token& token);
  ast::ScopedName scoped_name(std::string_view what = "a name");
  ast::Annotations annotations();
  ast::Annotation annotation();
  ast::AnnotationParameter annotation_parameter();

  // Constructs of IDL that this compiler does not support (parser_unsupported.cpp).
  bool at_unsupported_definition() const;
  void skip_unsupported_definition();
  void skip_construct();

  // Expressions (parser_expressions.cpp).
  ast::ExpressionPtr expression();
  ast::ExpressionPtr binary(std::size_t level);
  ast::ExpressionPtr unary();
  ast::ExpressionPtr primary();
  std::optional<bool> lower_case_boolean();
  ast::ExpressionPtr literal();
  std::string strings();
  ast::ExpressionPtr wide_strings();

  TokenCursor cursor_;
  Diagnostics& diagnostics_;
  bool complete_ = true;
  bool in_angles_ = false;  // ">>" closes two brackets and is no shift
  std::size_t module_depth_ = 0;
  std::size_t type_depth_ = 0;
  std::size_t expression_depth_ = 0;
};

// Reads one item of a list. A syntax error in it is caught, and parsing continues after the item.
template <typename Item>
void Parser::recovering(const Item& item) {
  const std::size_t depth = cursor_.depth();
  const std::size_t modules = module_depth_;
  const std::size_t types = type_depth_;
  try {
    item();
  } catch (const SyntaxError&) {
    complete_ = false;
    module_depth_ = modules;
    type_depth_ = types;
    expression_depth_ = 0;
    in_angles_ = false;
    cursor_.recover(depth);
  }
}

}  // namespace corelane::idl
