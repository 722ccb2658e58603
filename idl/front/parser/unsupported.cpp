#include "idl/front/parser/unsupported.h"

#include <cstddef>
#include <string_view>

namespace corelane::idl {
namespace {

// Definitions of components and template modules: words that are free elsewhere.
constexpr std::string_view refused_words[] = {"component", "home", "eventtype",  "porttype",
                                              "connector", "port", "mirrorport", "alias"};

}  // namespace

bool at_unsupported_definition(const TokenCursor& cursor) {
  const Token& token = cursor.current();
  const Token& next = cursor.ahead(1);
  const bool abstract_event = (token.is("abstract") || token.is("custom")) && next.text == "eventtype";
  if (abstract_event) return true;
  if (!token.is(TokenKind::identifier) || !next.is(TokenKind::identifier)) return false;
  if (cursor.ahead(2).is("(")) return false;  // an operation whose result has that name
  for (const std::string_view word : refused_words)
    if (token.text == word) return true;
  return false;
}

void skip_unsupported_definition(ParserState& state) {
  TokenCursor& cursor = state.cursor;
  const Token first = cursor.advance();
  const Token word = first.is(TokenKind::keyword) ? cursor.current() : first;  // abstract eventtype
  state.diagnostics.error(
      word.span, quoted(word.text) + " is not supported: this compiler has no components, ports or template modules");
  state.complete = false;  // names are missing now
  skip_construct(state);
  cursor.expect(";");
}

void skip_construct(ParserState& state) {
  TokenCursor& cursor = state.cursor;
  state.complete = false;
  const std::size_t depth = cursor.depth();
  while (!cursor.at_end() && !(cursor.depth() == depth && (cursor.at(";") || cursor.at("}")))) cursor.advance();
}

}  // namespace corelane::idl
