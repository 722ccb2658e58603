// Token: a token of IDL, which refers to the preprocessed text.
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

  // Returns whether it is this keyword or punctuation.
  bool is(std::string_view what) const {
    return (kind == TokenKind::keyword || kind == TokenKind::punctuation) && text == what;
  }
  bool is(TokenKind what) const { return kind == what; }
};

}  // namespace corelane::idl
