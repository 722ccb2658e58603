// Parser: the recursive descent behind parse(). One function per grammar rule; a rule that meets what it does not
// expect reports it and throws SyntaxError, which the nearest list of declarations catches.
//
// Threads: one owner, used once.
// Invariants: recursion is bounded by the limits below; each list loop consumes a token per turn.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/front/parse.h"
#include "idl/front/token_cursor.h"

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
  enum class Body : std::uint8_t { module, interface };

  // Lists of declarations (parser.cpp).
  void definitions(ast::Definitions& into, Body kind);
  void add_pragmas(ast::Definitions& into);
  void one_definition(ast::Definitions& into, Body kind);
  DefinitionPtr definition(Body kind);
  DefinitionPtr made(ast::Identifier name, const Token& keyword, ast::Annotations annotations) const;
  void module_body(ast::Definition& definition);
  void structure(ast::Definition& definition);
  void exception(ast::Definition& definition);
  void enumeration(ast::Definition& definition);
  std::vector<ast::Member> members();
  ast::Member member();
  DefinitionPtr type_definition(const Token& keyword);
  DefinitionPtr constant(const Token& keyword);
  DefinitionPtr annotation_declaration();
  std::optional<DefinitionPtr> pragma(const Token& token);

  // Interfaces (parser_interface.cpp).
  void interface_declaration(ast::Definition& definition);
  DefinitionPtr operation_or_attribute();
  DefinitionPtr operation();
  DefinitionPtr attribute();
  ast::Parameter parameter();
  std::vector<ast::ScopedName> exception_names();

  // Types, names and annotations (parser_types.cpp).
  ast::TypeSpec type(std::string_view what = "a type");
  ast::TypeSpec type_inside(std::string_view what);
  ast::TypeSpec keyword_type(std::string_view what);
  ast::TypeSpec integer_type();
  ast::TypeSpec string_type();
  ast::TypeSpec sequence_type();
  ast::TypeSpec inline_construct();
  bool refused_bound();
  void declarators(ast::Identifier& first, std::vector<ast::Identifier>& more, ast::TypeSpec& of);
  ast::Identifier declarator(ast::TypeSpec& of, std::string_view what = "a name");
  ast::Identifier identifier(std::string_view what);
  ast::ScopedName scoped_name(std::string_view what = "a name");
  ast::Annotations annotations();
  ast::Annotation annotation();
  ast::AnnotationParameter annotation_parameter();

  // Constructs that IDL has and this compiler has not (parser_unsupported.cpp).
  bool at_unsupported_definition() const;
  DefinitionPtr unsupported_definition();
  void unsupported(const Span& at, std::string_view what);
  void skip_construct();

  // Expressions (parser_expressions.cpp).
  ast::ExpressionPtr expression();
  ast::ExpressionPtr binary(std::size_t level);
  ast::ExpressionPtr unary();
  ast::ExpressionPtr primary();
  ast::ExpressionPtr literal();
  std::string strings();

  TokenCursor cursor_;
  Diagnostics& diagnostics_;
  bool complete_ = true;
  std::size_t module_depth_ = 0;
  std::size_t type_depth_ = 0;
  std::size_t expression_depth_ = 0;
};

}  // namespace corelane::idl
