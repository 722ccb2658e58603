#include "idl/front/lexer/lexer.h"

#include <algorithm>
#include <array>
#include <string>

#include "idl/ast/keywords.h"

namespace corelane::idl {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }

constexpr std::array<std::string_view, 3> long_punctuation = {"::", "<<", ">>"};
constexpr std::string_view short_punctuation = "{}()[]<>:;,=|^&+-*/%~@";

TokenKind number_kind(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return TokenKind::integer;
  if (text.ends_with('d') || text.ends_with('D')) return TokenKind::fixed;
  return text.find_first_of(".eE") != std::string_view::npos ? TokenKind::floating : TokenKind::integer;
}

class Lexer {
 public:
  Lexer(const Preprocessed& preprocessed, const SourceMap& sources, Diagnostics& diagnostics)
      : input_(preprocessed), sources_(sources), diagnostics_(diagnostics), text_(preprocessed.text) {}

  std::vector<Token> run() {
    // loop: each turn consumes at least one byte
    while (at_ < text_.size() && !diagnostics_.has_enough()) step();
    Span end = tokens_.empty() ? Span{} : tokens_.back().span;
    end.column += end.length;
    end.offset += end.length;
    end.length = 1;
    tokens_.push_back({TokenKind::end, {}, end});
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void step() {
    const char c = text_[at_];
    if (c == ' ' || c == '\n') {
      ++at_;
    } else if (text_.substr(at_).starts_with("#pragma")) {
      take(TokenKind::pragma, std::min(text_.find('\n', at_), text_.size()) - at_);
    } else if (c == '"' || c == '\'') {
      literal(0);
    } else if (c == 'L' && (peek(1) == '"' || peek(1) == '\'')) {
      literal(1);
    } else if (is_letter(c)) {
      word();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else {
      punctuation();
    }
  }

  void take(TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, text_.substr(at_, length), span(length)});
    at_ += length;
  }
  Span span(std::size_t length) const { return input_.span(sources_, at_, length); }

  void word() {
    std::size_t length = 1;
    while (is_word(peek(length))) ++length;
    const std::string_view text = text_.substr(at_, length);
    // A name may differ from a keyword in case only where it is used: the parser sees to its declaration.
    take(keyword_like(text) == text ? TokenKind::keyword : TokenKind::identifier, length);
  }

  void number() {
    const bool hexadecimal = peek(0) == '0' && (peek(1) == 'x' || peek(1) == 'X');
    std::size_t length = 1;
    // loop: to the end of the number
    for (;; ++length) {
      const char c = peek(length);
      const char before = peek(length - 1);
      const bool sign_of_exponent = (c == '+' || c == '-') && (before == 'e' || before == 'E') && !hexadecimal;
      if (!is_word(c) && c != '.' && !sign_of_exponent) break;
    }
    take(number_kind(text_.substr(at_, length)), length);
  }

  void literal(std::size_t prefix) {
    const char quote = peek(prefix);
    std::size_t length = prefix + 1;
    while (at_ + length < text_.size() && peek(length) != quote && peek(length) != '\n')
      length += peek(length) == '\\' && peek(length + 1) != '\n' ? 2 : 1;
    length = std::min(length, text_.size() - at_);
    if (peek(length) != quote) {
      diagnostics_.error(span(1 + prefix),
                         quote == '"' ? "this string is never closed" : "this character is never closed");
      at_ += length;
      return;
    }
    const TokenKind kinds[] = {TokenKind::character, TokenKind::wide_character, TokenKind::string,
                               TokenKind::wide_string};
    take(kinds[(quote == '"' ? 2 : 0) + prefix], length + 1);
  }

  void punctuation() {
    for (const std::string_view two : long_punctuation)
      if (text_.substr(at_, 2) == two) return take(TokenKind::punctuation, 2);
    if (short_punctuation.find(text_[at_]) != std::string_view::npos) return take(TokenKind::punctuation, 1);
    std::size_t length = 1;
    if ((text_[at_] & 0x80) != 0)  // one error for all bytes of a UTF-8 sequence
      while ((peek(length) & 0xC0) == 0x80) ++length;
    diagnostics_.error(span(length), quoted(text_.substr(at_, length)) + " has no meaning in IDL");
    at_ += length;
  }

  const Preprocessed& input_;
  const SourceMap& sources_;
  Diagnostics& diagnostics_;
  const std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokenize(const Preprocessed& preprocessed, const SourceMap& sources, Diagnostics& diagnostics) {
  return Lexer(preprocessed, sources, diagnostics).run();
}

}  // namespace corelane::idl
