// TokenCursor is the parser's position in the tokens. After a syntax error it moves to the next declaration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "idl/ast/diagnostics.h"
#include "idl/front/token.h"

namespace corelane::idl {

// Ends the parsing of a declaration. The reason is already reported. It never leaves the parser.
struct SyntaxError {};

class TokenCursor {
 public:
  TokenCursor(const std::vector<Token>& tokens, Diagnostics& diagnostics) : tokens_(tokens), diagnostics_(diagnostics) {
    hold_pragmas();
  }

  // The current token. Pragmas are skipped here; take_pragmas() returns them.
  const Token& current() const { return tokens_[at_]; }
  const Token& ahead(std::size_t count) const;
  const Token& previous() const { return tokens_[previous_]; }
  bool at(std::string_view text) const { return current().is(text); }
  bool at(TokenKind kind) const { return current().is(kind); }
  bool at_end() const { return at(TokenKind::end); }

  Token advance();
  bool accept(std::string_view text);
  Token expect(std::string_view text);
  Token expect_identifier(std::string_view what);

  // Consumes one '>', even if two are one token, as at the end of sequence<sequence<long>>.
  void expect_closing_angle();

  // Reports "expected <what>, found <token>" at the current token, and ends the declaration.
  [[noreturn]] void fail_expected(std::string_view what);
  [[noreturn]] void fail(const Span& at, std::string message);

  // Moves after the ';' that ends a declaration, or before the '}' that ends the body around it. `depth` is the value
  // of depth() at the start of the declaration.
  void recover(std::size_t depth);
  std::size_t depth() const { return depth_; }

  // Returns the pragmas that were skipped since the last call.
  std::vector<Token> take_pragmas() { return std::move(pragmas_); }

 private:
  void hold_pragmas();
  bool has_surplus_brace();
  void count_unopened();

  const std::vector<Token>& tokens_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  std::size_t previous_ = 0;
  std::size_t depth_ = 0;    // open braces
  bool half_angle_ = false;  // the first half of a ">>" is consumed
  std::vector<Token> pragmas_;
  // From each token on, the number of '}' whose '{' comes earlier. Computed when needed.
  std::vector<std::uint32_t> unopened_;
};

// Returns the description of a token for messages.
std::string describe(const Token& token);

}  // namespace corelane::idl
