#include "idl/front/parser/parser.h"

#include <memory>
#include <utility>

#include "idl/front/lexer/lexer.h"
#include "idl/front/lexer/literals.h"

namespace corelane::idl {
namespace {

std::string last_word(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t;") + 1);
  return std::string(text.substr(text.find_last_of(" \t") + 1));
}

}  // namespace

// Definitions that begin with a word of their own; what begins otherwise is an operation or an attribute.
constexpr Parser::Entry Parser::entries[] = {
    {"module", &Parser::module_rule, in_module},
    {"interface", &Parser::plain_interface, in_module},
    {"local", &Parser::local_interface, in_module},
    {"abstract", &Parser::abstract_rule, in_module},
    {"pseudo", &Parser::pseudo_interface, in_module, true},
    {"valuetype", &Parser::plain_valuetype, in_module},
    {"custom", &Parser::custom_valuetype, in_module},
    {"import", &Parser::import, in_module},
    {"typeid", &Parser::type_id, in_module | in_interface | in_value},
    {"typeprefix", &Parser::type_prefix, in_module | in_interface | in_value},
    {"struct", &Parser::structure, in_module | in_interface | in_value},
    {"union", &Parser::union_rule, in_module | in_interface | in_value},
    {"exception", &Parser::exception, in_module | in_interface | in_value},
    {"native", &Parser::native, in_module | in_interface | in_value},
    {"enum", &Parser::enumeration, in_module | in_interface | in_value | in_annotation},
    {"typedef", &Parser::type_definition, in_module | in_interface | in_value | in_annotation},
    {"const", &Parser::constant, in_module | in_interface | in_value | in_annotation},
    {"bitmask", &Parser::bitmask, in_module | in_interface | in_value | in_annotation, true},
    {"bitset", &Parser::bitset, in_module | in_interface | in_value, true},
    {"public", &Parser::state, in_value},
    {"private", &Parser::state, in_value},
    {"factory", &Parser::factory, in_value}};

Parsed parse(const std::vector<Token>& tokens, Diagnostics& diagnostics) { return Parser(tokens, diagnostics).run(); }

Parsed Parser::run() {
  Parsed result;
  ast::Definitions& into = result.specification.definitions;
  // loop: definitions() returns at the end or at a '}', which is taken here
  for (;;) {
    definitions(into, in_module);
    if (cursor_.at_end() || diagnostics_.has_enough()) break;
    diagnostics_.error(cursor_.current().span, "this `}` closes nothing");
    complete_ = false;
    cursor_.advance();
    cursor_.accept(";");
  }
  add_pragmas(into);
  result.complete = complete_;
  return result;
}

// Up to the '}' of the body or the end of the file.
void Parser::definitions(ast::Definitions& into, Body kind) {
  add_pragmas(into);
  while (!cursor_.at_end() && !cursor_.at("}") && !diagnostics_.has_enough()) {
    one_definition(into, kind);
    add_pragmas(into);
  }
}

void Parser::one_definition(ast::Definitions& into, Body kind) {
  recovering([&] {
    ast::Annotations notes = annotations();
    DefinitionPtr made = definition(kind);
    if (made == nullptr) return;
    made->annotations = std::move(notes);
    into.push_back(std::move(made));
  });
}

Parser::DefinitionPtr Parser::made(ast::Identifier name, const Token& keyword) const {
  auto definition = std::make_unique<ast::Definition>();
  definition->name = std::move(name);
  definition->keyword = keyword.span;
  return definition;
}

// A definition whose name comes next.
Parser::DefinitionPtr Parser::named(const Token& keyword, std::string_view what) {
  return made(identifier(what.empty() ? "a name after " + quoted(keyword.text) : std::string(what)), keyword);
}

const Parser::Entry* Parser::entry_here(Body kind) const {
  for (const Entry& entry : entries) {
    if ((entry.bodies & kind) == 0 || cursor_.current().text != entry.keyword) continue;
    if (!entry.is_word) return cursor_.at(TokenKind::keyword) ? &entry : nullptr;
    const bool named =
        cursor_.ahead(1).is(TokenKind::identifier) && (cursor_.ahead(2).is("{") || cursor_.ahead(2).is(":"));
    const bool begins = named || cursor_.ahead(1).is("interface");
    return cursor_.at(TokenKind::identifier) && begins ? &entry : nullptr;
  }
  return nullptr;
}

Parser::DefinitionPtr Parser::definition(Body kind) {
  if (cursor_.at(";")) {
    diagnostics_.warning(Warning::semicolon, cursor_.current().span, "this `;` ends nothing");
    cursor_.advance();
    return nullptr;
  }
  if (cursor_.at("@")) return annotation_declaration();
  if (at_unsupported_definition()) {
    skip_unsupported_definition();
    return nullptr;
  }
  if (const Entry* entry = entry_here(kind)) {
    const Token keyword = cursor_.advance();
    DefinitionPtr result = (this->*entry->rule)(keyword);
    // The OMG's own orb.idl has a typeprefix without its ';'.
    if (!std::holds_alternative<ast::IdDirective>(result->node) || cursor_.at(";")) {
      cursor_.expect(";");
    } else {
      diagnostics_.warning(Warning::semicolon, cursor_.previous().span,
                           "expected `;` after " + describe(cursor_.previous()));
    }
    return result;
  }
  if (kind != in_module) return operation_or_attribute();
  cursor_.fail_expected("a definition");
}

void Parser::add_pragmas(ast::Definitions& into) {
  for (const Token& token : cursor_.take_pragmas())
    if (auto definition = pragma(token)) into.push_back(*std::move(definition));
}

// prefix "text" | ID name "text" | version name major.minor. Others belong to other compilers.
std::optional<Parser::DefinitionPtr> Parser::pragma(const Token& token) {
  Preprocessed body{std::string(token.text.substr(std::string_view("#pragma").size())), {}};
  Diagnostics ignored;
  const SourceMap no_sources;
  const std::vector<Token> words = tokenize(body, no_sources, ignored);
  const std::string_view kind = words.front().text;
  if (kind != "prefix" && kind != "ID" && kind != "version") return std::nullopt;
  const auto wrong = [&](const char* form) {
    diagnostics_.error(token.span, std::string("expected #pragma ") + form);
    complete_ = false;
    return std::nullopt;
  };

  ast::IdDirective result;
  std::size_t at = 1;
  if (kind != "prefix") {
    result.kind = kind == "ID" ? ast::IdDirective::Kind::pragma_id : ast::IdDirective::Kind::pragma_version;
    pragma_words(words, token.span, result, at);
    if (result.target.parts.empty()) return wrong(kind == "ID" ? "ID name \"text\"" : "version name major.minor");
  }
  if (kind == "version") {
    if (!words[at].is(TokenKind::floating)) return wrong("version name major.minor");
    result.argument = words[at].text;
  } else if (kind == "prefix" && words[at].is(TokenKind::identifier)) {
    diagnostics_.warning(Warning::lenient, token.span, "the prefix stands in quotes: #pragma prefix \"text\"");
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
  if (last != at + 1) diagnostics_.warning(Warning::semicolon, token.span, "this #pragma needs no `;`");
  DefinitionPtr definition = made({}, token);
  definition->node = std::move(result);
  return definition;
}

// The name of the definition that a pragma is about.
void Parser::pragma_words(const std::vector<Token>& words, const Span& at, ast::IdDirective& result,
                          std::size_t& next) {
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

}  // namespace corelane::idl
