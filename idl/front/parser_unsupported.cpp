#include <string>

#include "idl/front/parser.h"

namespace corelane::idl {
namespace {

// Definitions that begin with a keyword.
constexpr std::string_view refused_keywords[] = {"union",  "native", "valuetype", "abstract",   "local",
                                                 "custom", "typeid", "import",    "typeprefix", "factory"};
// Definitions that begin with a word that is free elsewhere.
constexpr std::string_view refused_words[] = {"bitset",    "bitmask", "component",  "home",     "eventtype", "porttype",
                                              "connector", "port",    "mirrorport", "typename", "template",  "alias"};

}  // namespace

bool Parser::at_unsupported_definition() const {
  const Token& token = cursor_.current();
  for (const std::string_view keyword : refused_keywords)
    if (token.is(keyword)) return true;
  if (!token.is(TokenKind::identifier) || !cursor_.ahead(1).is(TokenKind::identifier)) return false;
  if (cursor_.ahead(2).is("(")) return false;  // an operation whose result has that name
  for (const std::string_view word : refused_words)
    if (token.text == word) return true;
  return false;
}

// Reports the construct, steps over it and declares its name.
Parser::DefinitionPtr Parser::unsupported_definition() {
  const Token keyword = cursor_.advance();
  std::string what(keyword.text);
  while (cursor_.at("interface") || cursor_.at("valuetype")) what += ' ' + std::string(cursor_.advance().text);
  unsupported(join(keyword.span, cursor_.previous().span), quoted(what));
  const bool names_something_else = keyword.is("typeid") || keyword.is("typeprefix") || keyword.is("import");
  DefinitionPtr result;
  if (!names_something_else && cursor_.at(TokenKind::identifier)) {
    result = made(identifier("a name"), keyword, {});
    result->node = ast::Unsupported{};
  }
  skip_construct();
  return result;
}

void Parser::unsupported(const Span& at, std::string_view what) {
  diagnostics_.error(at, std::string(what) + " is not supported yet");
}

// To behind the ';' that ends the construct, over any braces in it.
void Parser::skip_construct() {
  const std::size_t depth = cursor_.depth();
  while (!cursor_.at_end() && !(cursor_.depth() == depth && (cursor_.at(";") || cursor_.at("}")))) cursor_.advance();
  cursor_.expect(";");
}

}  // namespace corelane::idl
