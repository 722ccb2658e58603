#include "idl/front/parser/pragma.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "idl/front/lexer/lexer.h"
#include "idl/front/lexer/literals.h"
#include "idl/front/parser/name_parser.h"

namespace corelane::idl {
namespace {

std::string last_word(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t;") + 1);
  return std::string(text.substr(text.find_last_of(" \t") + 1));
}

// Reads the name of the definition that a pragma is about.
void read_target(const std::vector<Token>& words, const Span& at, ast::IdDirective& result, std::size_t& next) {
  const auto is_word = [](const Token& word) { return word.is(TokenKind::identifier) || word.is(TokenKind::keyword); };
  for (; words[next].is("::") || is_word(words[next]); ++next) {
    if (words[next].is("::") && next == 1) result.target.absolute = true;
    if (!is_word(words[next])) continue;
    std::string text(words[next].text);
    if (text.starts_with('_')) text.erase(0, 1);
    result.target.parts.push_back({std::move(text), at});
  }
  result.target.span = at;
}

}  // namespace

std::optional<DefinitionPtr> parse_pragma(const Token& token, ParserState& state) {
  Preprocessed body{std::string(token.text.substr(std::string_view("#pragma").size())), {}};
  Diagnostics ignored;
  const SourceMap no_sources;
  const std::vector<Token> words = tokenize(body, no_sources, ignored);
  const std::string_view kind = words.front().text;
  if (kind != "prefix" && kind != "ID" && kind != "version") return std::nullopt;
  const auto wrong = [&](const char* form) {
    state.diagnostics.error(token.span, std::string("expected #pragma ") + form);
    state.complete = false;
    return std::nullopt;
  };

  ast::IdDirective result;
  std::size_t at = 1;
  if (kind != "prefix") {
    result.kind = kind == "ID" ? ast::IdDirective::Kind::pragma_id : ast::IdDirective::Kind::pragma_version;
    read_target(words, token.span, result, at);
    if (result.target.parts.empty()) return wrong(kind == "ID" ? "ID name \"text\"" : "version name major.minor");
  }
  if (kind == "version") {
    if (!words[at].is(TokenKind::floating)) return wrong("version name major.minor");
    result.argument = words[at].text;
  } else if (kind == "prefix" && words[at].is(TokenKind::identifier)) {
    state.diagnostics.warning(Warning::lenient, token.span, "the prefix stands in quotes: #pragma prefix \"text\"");
    result.argument = last_word(token.text);
    at = words.size() - 2;
  } else {
    const char* form = kind == "ID" ? "ID name \"text\"" : "prefix \"text\"";
    if (!words[at].is(TokenKind::string)) return wrong(form);
    const Literal<std::string> text = string_value(words[at].text);
    if (std::holds_alternative<LiteralFault>(text)) return wrong(form);
    result.argument = std::get<std::string>(text);
  }
  const std::size_t last = words[at + 1].is(";") ? at + 2 : at + 1;
  if (!words[last].is(TokenKind::end)) return wrong("with nothing after its argument");
  if (last != at + 1) state.diagnostics.warning(Warning::semicolon, token.span, "this #pragma needs no `;`");
  DefinitionPtr definition = make_definition({}, token);
  definition->node = std::move(result);
  return definition;
}

}  // namespace corelane::idl
