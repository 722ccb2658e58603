#include <string>

#include "idl/front/parser/parser.h"

namespace corelane::idl {
namespace {

// Definitions of components and template modules: words that are free elsewhere.
constexpr std::string_view refused_words[] = {"component", "home", "eventtype",  "porttype",
                                              "connector", "port", "mirrorport", "alias"};

}  // namespace

bool Parser::at_unsupported_definition() const {
  const Token& token = cursor_.current();
  const Token& next = cursor_.ahead(1);
  const bool abstract_event = (token.is("abstract") || token.is("custom")) && next.text == "eventtype";
  if (abstract_event) return true;
  if (!token.is(TokenKind::identifier) || !next.is(TokenKind::identifier)) return false;
  if (cursor_.ahead(2).is("(")) return false;  // an operation whose result has that name
  for (const std::string_view word : refused_words)
    if (token.text == word) return true;
  return false;
}

void Parser::skip_unsupported_definition() {
  const Token first = cursor_.advance();
  const Token word = first.is(TokenKind::keyword) ? cursor_.current() : first;  // abstract eventtype
  diagnostics_.error(
      word.span, quoted(word.text) + " is not supported: this compiler has no components, ports or template modules");
  complete_ = false;  // names are missing now
  skip_construct();
  cursor_.expect(";");
}

// To the ';' that ends the construct, over any braces in it.
void Parser::skip_construct() {
  complete_ = false;
  const std::size_t depth = cursor_.depth();
  while (!cursor_.at_end() && !(cursor_.depth() == depth && (cursor_.at(";") || cursor_.at("}")))) cursor_.advance();
}

}  // namespace corelane::idl
