#include "idl/front/lexer/token_cursor.h"

#include <algorithm>
#include <utility>

namespace corelane::idl {

std::string describe(const Token& token) {
  if (token.is(TokenKind::end)) return "the end of the file";
  if (token.is(TokenKind::keyword)) return "keyword " + quoted(token.text);
  constexpr std::size_t longest = 40;
  if (token.text.size() > longest) return quoted(std::string(token.text.substr(0, longest)) + "...");
  return quoted(token.text);
}

void TokenCursor::hold_pragmas() {
  while (tokens_[at_].is(TokenKind::pragma)) pragmas_.push_back(tokens_[at_++]);
}

const Token& TokenCursor::ahead(std::size_t count) const {
  std::size_t i = at_;
  // bound: `count` tokens that are not pragmas, or the end
  for (; count > 0 && !tokens_[i].is(TokenKind::end); --count) {
    do ++i;
    while (tokens_[i].is(TokenKind::pragma));
  }
  return tokens_[i];
}

Token TokenCursor::advance() {
  const Token taken = current();
  if (taken.is(TokenKind::end)) return taken;
  if (taken.is("{")) ++depth_;
  if (taken.is("}") && depth_ > 0) --depth_;
  previous_ = at_++;
  half_angle_ = false;
  hold_pragmas();
  return taken;
}

bool TokenCursor::accept(std::string_view text) {
  if (!at(text)) return false;
  advance();
  return true;
}

Token TokenCursor::expect(std::string_view text) {
  if (at(text)) return advance();
  const bool line_is_over = at_ > 0 && (current().span.line != previous().span.line || at_end());
  if (text == ";" && line_is_over) {
    Span behind = previous().span;
    behind.column += behind.length;
    behind.offset += behind.length;
    behind.length = 1;
    fail(behind, "expected `;` after " + describe(previous()));
  }
  fail_expected(quoted(text));
}

Token TokenCursor::expect_identifier(std::string_view what) {
  if (at(TokenKind::identifier)) return advance();
  if (at(TokenKind::keyword)) {
    fail(current().span, "expected " + std::string(what) + ", found " + describe(current()) + " (write `_" +
                             std::string(current().text) + "` to use it as a name)");
  }
  fail_expected(what);
}

void TokenCursor::expect_closing_angle() {
  if (at(">>") && !half_angle_) {
    half_angle_ = true;
    return;
  }
  if (at(">>") && half_angle_) {
    advance();
    return;
  }
  expect(">");
}

void TokenCursor::fail_expected(std::string_view what) {
  fail(current().span, "expected " + std::string(what) + ", found " + describe(current()));
}

void TokenCursor::fail(const Span& at, std::string message) {
  diagnostics_.error(at, std::move(message));
  throw SyntaxError();
}

void TokenCursor::recover(std::size_t depth) {
  // bound: the tokens, since each turn takes one or returns
  while (!at_end()) {
    if (depth_ <= depth && at("}")) {
      if (!has_surplus_brace()) return;
      advance();
      depth_ = depth;
      continue;
    }
    const bool ended = at(";") ? depth_ <= depth : at("}") && depth_ == depth + 1;
    const bool was_brace = at("}");
    advance();
    if (!ended) continue;
    if (was_brace) accept(";");
    return;
  }
}

// Returns whether more braces close than are open; then the current one closes nothing. The counts are computed once,
// since a file may have a fault in each line.
bool TokenCursor::has_surplus_brace() {
  if (unopened_.empty()) count_unopened();
  return unopened_[at_] > depth_;
}

void TokenCursor::count_unopened() {
  unopened_.resize(tokens_.size() + 1);
  for (std::size_t i = tokens_.size(); i-- > 0;) {
    std::uint32_t count = unopened_[i + 1];
    if (tokens_[i].is("}")) ++count;
    if (tokens_[i].is("{") && count > 0) --count;
    unopened_[i] = count;
  }
}

}  // namespace corelane::idl
