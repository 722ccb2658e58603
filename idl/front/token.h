// Tokens of IDL, as views into the preprocessed text.
#pragma once

#include <cstdint>
#include <string_view>

#include "idl/ast/source.h"

namespace corelane::idl {

enum class TokenKind : std::uint8_t {
  identifier,
  keyword,
  integer,
  floating,
  fixed,
  character,
  wide_character,
  string,
  wide_string,
  punctuation,
  pragma,  // the whole line
  end
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  Span span;

  // Whether it is this keyword or punctuation.
  bool is(std::string_view what) const {
    return (kind == TokenKind::keyword || kind == TokenKind::punctuation) && text == what;
  }
  bool is(TokenKind what) const { return kind == what; }
};

// The keyword that `word` is, or that it would be if its letters had another case; empty for a free word.
// IDL 4.2, 7.2.4: names must differ from every keyword in more than case. Words that only newer building blocks reserve
// (component, map, port, int8 ...) are free, since older IDL uses them as names; the parser knows them by place.
std::string_view keyword_like(std::string_view word);

}  // namespace corelane::idl
